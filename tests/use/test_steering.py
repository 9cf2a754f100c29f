"""Steering around a generation: the same push as in the test `steer`, at the positions that predict."""

import shutil

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

import headatlas as ha
from headatlas.atlas.records import Evidence
from headatlas.atlas.writing import write_evidence
from headatlas.errors import HeadAtlasError
from headatlas.evidence.steer import direction, steering_sources
from headatlas.use.examples import held_out
from headatlas.use.export import export
from tests import tiny

PROMPT = "the key is in the"


@pytest.fixture(scope="module")
def atlas(wavering, tmp_path_factory):
    """With evidence of `steer` whose numbers are made up, so that sentences can be compared."""
    folder = shutil.copytree(wavering.path, tmp_path_factory.mktemp("steering") / "atlas")
    common = {"factor": 5.0, "k": 3, "groups": 9, "metric": "accuracy"}
    rows = [
        Evidence("steer", "Colours", "Colours", "steer", value=0.75, intact=0.5, low=0.4, high=0.9, **common),
        Evidence("steer", "Colours", "Neutral", "steer", value=0.1, intact=0.2, **common),
        Evidence("steer", "Colours", "Colours", "steer", value=0.2, low=-0.1, high=0.5,
                 compared_with="random directions", **common),
    ]  # fmt: skip
    columns = {"model": "model", "method": "attribute", "settings": "x"}
    write_evidence(folder, [{**columns, **vars(row)} for row in rows])
    return ha.Atlas(folder)


@pytest.fixture(scope="module")
def model(wavering):
    return ha.load(wavering.run.asked.model)


def written(module, tokens=6):
    ids = torch.tensor([tiny.tokenizer()(PROMPT)["input_ids"]])
    return module.generate(ids, max_new_tokens=tokens, do_sample=False, pad_token_id=0)[0, ids.shape[1] :].tolist()


def by_hand(model, push, tokens=6):
    """Greedy decoding, every text anew, the push added from the last token of the prompt on."""
    prompt = tiny.tokenizer()(PROMPT)["input_ids"]
    text = list(prompt)
    for _ in range(tokens):
        pushed = torch.zeros(1, len(text), 1, 1)
        pushed[:, len(prompt) - 1 :] = 1
        values = {layer: pushed * torch.from_numpy(push[layer]) for layer in range(model.n_layers)}
        with torch.inference_mode(), model.add(values):
            text.append(int(model.logits(torch.tensor([text]))[0, -1].argmax()))
    return text[len(prompt) :]


def test_generation_is_pushed_inside_and_only_there(atlas, model):
    before = written(model.module)
    steering = atlas.steering("colours", 40.0, model=model, k=3, reporter=tiny.Listener())
    with steering as steered:
        inside = written(steered.module)
    assert inside == by_hand(model, np.float32(40) * steering.push) != before
    assert written(model.module) == before
    assert set(steering.heads) == set(atlas.ranking("Colours")[:3])


def test_the_push_is_that_of_the_test(atlas, model, tmp_path):
    steering = atlas.steering("Colours", 1.0, model=model, k=3, reporter=tiny.Listener())
    source = steering_sources(held_out(model, tmp_path, None, tiny.Listener(), atlas))["Colours"]
    np.testing.assert_array_equal(steering.push, source.push(frozenset(atlas.ranking("Colours")[:3])))
    layer, head = atlas.ranking("Colours")[0]
    np.testing.assert_array_equal(steering.push[layer, head], direction(source.z, source.right)[layer, head])


def test_what_was_measured_is_said(atlas, model):
    said = tiny.Listener()
    with atlas.steering("Colours", model=model, k=3, reporter=said):
        pass
    assert said.said[-2:] == [
        "Colours, strength 5: accuracy 0.50 intact, 0.75 steered (0.40 to 0.90), 9 groups of held-out items.",
        "Against random directions: +0.20 (−0.10 to +0.50).",
    ]
    other = atlas.steering("Colours", 2.0, model=model, reporter=said)
    assert other.remarks == ("The effect of steering Colours was measured at strength 5, not at 2.",)
    unmeasured = atlas.steering("Numbers", 2.0, model=model, reporter=said)
    assert unmeasured.remarks[0].startswith("The effect of steering Numbers was not measured: headatlas verify ")


def test_exported_vectors_steer_plain_transformers(atlas, model, tmp_path, monkeypatch):
    export(atlas, "safetensors", tmp_path / "vectors", k=3, model=model, reporter=tiny.Listener())
    variables = {}
    exec((tmp_path / "vectors" / "steer.py").read_text(), variables)
    plain = AutoModelForCausalLM.from_pretrained(atlas.run.asked.model)
    before = written(plain)
    with variables["steer"](plain, "Colours", 40.0, tmp_path / "vectors" / "steering.safetensors"):
        inside = written(plain)
    assert written(plain) == before != inside
    stored = atlas.steering("Colours", 40.0, model=model, vectors=tmp_path / "vectors", reporter=tiny.Listener())
    with stored:
        assert written(model.module) == inside
    assert len(stored.heads) == 3


def test_bad_requests(atlas, mapped, model, tmp_path):
    quiet = {"reporter": tiny.Listener()}
    for make, message in (
        (lambda: atlas.steering("Colors", 1.0), "Unknown task in this atlas 'Colors'"),
        (
            lambda: atlas.steering("Numbers"),
            "push with `strength`, or measure it first: headatlas verify",
        ),
        (lambda: atlas.steering("Numbers", float("nan")), "must be a finite number"),
        (lambda: atlas.steering("Numbers", 1.0, model=tiny.model(), **quiet), "is not the model of this atlas"),
        (
            lambda: atlas.steering("Numbers", 1.0, model=model, vectors=tmp_path, **quiet),
            "Cannot read steering vectors",
        ),
        (lambda: mapped.steering("Numbers", 1.0, **quiet), "There is no direction for Numbers: of the items"),
    ):
        with pytest.raises(HeadAtlasError) as error:
            make()
        assert message in str(error.value)


def test_vectors_of_another_shape_are_refused(atlas, model, tmp_path):
    from safetensors.numpy import save_file

    save_file({"Numbers": np.ones((3, 4, 2), dtype=np.float32)}, tmp_path / "steering.safetensors")
    with pytest.raises(HeadAtlasError, match=r"have the shape \(3, 4, 2\); model takes \(3, 4, 8\)"):
        atlas.steering("Numbers", 1.0, model=model, vectors=tmp_path, reporter=tiny.Listener())
