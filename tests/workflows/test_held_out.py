"""What a map is tested with: held-out examples, whole chains, and the model and suite of the atlas."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite, to_jsonl
from headatlas.workflows import held_out
from headatlas.workflows.map import map_heads
from headatlas.workflows.presets import PRESETS
from headatlas.workflows.verify import verify
from tests import tiny
from tests.workflows.planted import CONTEXT, SUITE, check, planted

pytestmark = pytest.mark.usefixtures("nothing_published")


def settings(**changes):
    return replace(PRESETS["quick"].tests, **{"examples": None, **changes})


def test_what_is_evaluated_shares_no_group_with_what_made_the_map(atlas):
    opened = Atlas(atlas)
    splits, _ = held_out.held_out_examples(opened, "probe", SUITE, settings())
    groups = {split: {example.group for example in part.examples} for split, part in splits.items()}
    assert not groups["evaluate"] & (groups["fit"] | groups["choose"])
    assert not groups["fit"] & groups["choose"]
    parts = SUITE.split(opened.run.settings.split_seed)
    for split in SPLITS:
        mapped = [example for example in splits[split].examples if example.task != "Neutral"]
        assert mapped == list(parts[split].examples)
    assert "Neutral" in splits["evaluate"].tasks


def test_fit_and_choose_keep_the_limits_of_the_map_and_evaluate_its_own(tmp_path):
    suite = tiny.copying(72)
    opened = map_heads(planted(), suite, ["attribute"], limit=20, out=tmp_path / "a", reporter=tiny.Listener())
    limits = opened.run.settings.limits
    assert limits == {"fit": 8, "choose": 6, "evaluate": 6}
    whole, _ = held_out.held_out_examples(opened, "attribute", suite, settings())
    few, _ = held_out.held_out_examples(opened, "attribute", suite, settings(examples=3))
    split = suite.split(0)
    for task in ("Colours", "Numbers"):
        for part in ("fit", "choose"):
            assert whole[part].of(task) == few[part].of(task) == split[part].limit(limits[part], 0).of(task)
        assert whole["evaluate"].of(task) == split["evaluate"].of(task)
        trial = held_out.prepare_trial(
            opened, planted(), "attribute", "needed", few, [], suite, settings(examples=3), tiny.Listener()
        )
        assert len(trial.context.examples(task, "evaluate")) == 3
        assert set(trial.context.examples(task, "evaluate")) < set(whole["evaluate"].of(task))


def test_all_held_out_items_are_tested_where_known_items_alone_were_mapped(tmp_path):
    """Selected for being right, the intact model would be right by construction, and any change damage."""
    model, suite = tiny.model(context=CONTEXT), tiny.suite(96)
    opened = map_heads(
        model, suite, ["attribute"], known_only=True, at_chance=True, preset="paper", out=tmp_path / "a",
        reporter=tiny.Listener(),
    )  # fmt: skip
    tested = check(opened, model, suite, tests=["mask"], preset="quick", limit=30, reporter=tiny.Listener())
    intact = tested.evidence.query("metric == 'accuracy' and control == 'top' and compared_with.isna()")
    assert set(intact["task"]) == {"Colours", "Numbers"}
    assert ((intact["intact"] > 0) & (intact["intact"] < 1)).all()
    splits, _ = held_out.held_out_examples(opened, "attribute", suite, settings())
    trial = held_out.prepare_trial(opened, model, "attribute", "needed", splits, [], suite, settings(), tiny.Listener())
    assert trial.context.examples("Colours", "evaluate") == splits["evaluate"].of("Colours")
    assert 0 < len(trial.context.examples("Colours", "fit")) < len(splits["fit"].of("Colours"))


def test_answers_alone_give_the_same_log_probabilities_and_exact_match(atlas):
    plain = check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener()).evidence
    bare = check(atlas, planted(), SUITE, tests=["mask"], distractors=False, reporter=tiny.Listener()).evidence
    one, other = (table.query("metric == 'logprob'")["value"].to_numpy() for table in (plain, bare))
    np.testing.assert_allclose(one, other, atol=1e-5)
    shares = [table.query("metric == 'accuracy' and control == 'top'")["value"].mean() for table in (plain, bare)]
    assert shares[1] < shares[0], "to write the word is harder than to prefer it"


# Chains


def chained(count: int = 30) -> Suite:
    """A suite of chains: the word of the prompt, a word that is known, and what follows from both."""
    examples = []
    for i in range(count):
        word, number = tiny.COLOURS[i % 4], tiny.NUMBERS[(i // 4) % 4]
        parts = [
            ("Retrieval", f"box {i} of {word} is", f" {word}", tuple(f" {w}" for w in tiny.COLOURS if w != word)),
            (
                "Knowledge Recall",
                f" and {number} is",
                f" {number}",
                tuple(f" {w}" for w in tiny.NUMBERS if w != number),
            ),
            ("Inference", " and the sum is", f" {word}", tuple(f" {w}" for w in tiny.COLOURS if w != word)),
        ]
        text = ""
        for step, (task, question, answer, wrong) in enumerate(parts):
            examples.append(
                Example(
                    id=f"c{i:02d}-{step}", task=task, prompt=text + question, answer=answer, distractors=wrong,
                    group=f"c{i:02d}", chain=f"c{i:02d}", step=step,
                )
            )  # fmt: skip
            text += question + answer
    return Suite("chained", tuple(examples))


def test_held_out_chains_of_the_suite_itself_are_walked(tmp_path):
    suite = chained()
    map_heads(planted(), suite, ["attribute"], at_chance=True, out=tmp_path / "a", reporter=tiny.Listener())
    _, chains = held_out.held_out_examples(Atlas(tmp_path / "a"), "attribute", suite, settings(chains=4))
    assert len({example.chain for example in chains}) == 4
    unseen = {example.group for example in suite.split(0)["evaluate"].examples}
    assert {example.group for example in chains} <= unseen
    tested = check(tmp_path / "a", planted(), suite, tests=["hierarchy"], reporter=tiny.Listener())
    found = tested.evidence
    assert set(found["task"]) == {"Retrieval", "Knowledge Recall"}
    assert set(found["eval_task"]) == {"Inference"}


def test_chains_are_whole_where_only_some_of_their_tasks_were_mapped(tmp_path):
    suite = chained()
    tasks = ["Retrieval", "Inference"]
    map_heads(planted(), suite, ["attribute"], tasks=tasks, out=tmp_path / "a", reporter=tiny.Listener())
    tested = check(tmp_path / "a", planted(), suite, tests=["mask", "hierarchy"], reporter=tiny.Listener())
    assert "mask" in set(tested.evidence["test"])


# The model and the suite must be those of the atlas


@pytest.fixture
def from_files(tmp_path):
    """An atlas of a model folder and a task file."""
    folder, tasks = tmp_path / "model", tmp_path / "tasks.jsonl"
    planted().module.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    tasks.write_text(to_jsonl(SUITE.examples))

    def make(**load_options):
        return map_heads(
            folder, tasks, ["attribute"], load_options=load_options, out=tmp_path / "a", reporter=tiny.Listener()
        )

    return make


def test_a_model_and_a_suite_in_files_are_found_again(from_files, atlas):
    found = check(from_files().path, tests=["mask"], reporter=tiny.Listener()).evidence
    in_memory = check(atlas, planted(), SUITE, tests=["mask"], method="attribute", reporter=tiny.Listener()).evidence
    np.testing.assert_allclose(found["value"], in_memory["value"], atol=1e-6)


def test_a_model_or_a_suite_in_memory_must_be_given_again(atlas):
    with pytest.raises(HeadAtlasError, match=r"The suite 'copying' was made in Python; give it again with `suite`"):
        verify(atlas, planted(), reporter=tiny.Listener())
    with pytest.raises(HeadAtlasError, match=r"The model 'tiny-llama' was given in memory; give it again with `model`"):
        verify(atlas, suite=SUITE, reporter=tiny.Listener())


def test_another_model_or_suite_is_refused_by_its_fingerprint(atlas):
    changed = tiny.planted(CONTEXT)
    with torch.no_grad():
        changed.out_projections[1].weight[3, 5] += 1e-3
    with pytest.raises(HeadAtlasError, match=r"tiny-llama is not the model of this atlas \(fingerprint \w+, not \w+\)"):
        check(atlas, changed, SUITE, reporter=tiny.Listener())
    with pytest.raises(
        HeadAtlasError, match=r"The suite 'copying' is not the one of this atlas \(fingerprint \w+, not"
    ):
        check(atlas, planted(), tiny.copying(35), reporter=tiny.Listener())
    assert not (atlas / "evidence.parquet").exists()


def test_weights_that_were_edited_in_their_folder_are_noticed(from_files, tmp_path):
    path = from_files().path
    changed = tiny.planted(CONTEXT)
    with torch.no_grad():
        changed.out_weight(1)[2] = 0
    changed.module.save_pretrained(tmp_path / "model")
    with pytest.raises(HeadAtlasError, match="its weights or its configuration differ. Map it first"):
        check(path, reporter=tiny.Listener())


def loaded_with(monkeypatch) -> list[dict]:
    """What the model is loaded with, from here on."""
    calls, plain = [], held_out.load

    def load(source, **options):
        calls.append({key: value for key, value in options.items() if key != "reporter"})
        return plain(source, **options)

    monkeypatch.setattr(held_out, "load", load)
    return calls


def test_leave_to_run_foreign_code_is_not_taken_from_the_atlas(from_files, monkeypatch):
    path = from_files(trust_remote_code=True, dtype="float32", device="cpu").path
    recorded = json.loads((path / "run.json").read_text())["asked"]["load"]
    assert "trust_remote_code" in recorded
    calls = loaded_with(monkeypatch)
    check(path, tests=["mask"], reporter=tiny.Listener())
    check(path, tests=["mask"], load_options={"trust_remote_code": True, "device": None}, reporter=tiny.Listener())
    assert calls[0] == {"dtype": "float32", "device": "cpu"}
    assert calls[1] == {"dtype": "float32", "device": "cpu", "trust_remote_code": True}


def test_a_dtype_of_torch_is_found_again(from_files):
    tested = check(from_files(dtype=torch.float32).path, tests=["mask"], reporter=tiny.Listener())
    assert len(tested.evidence)
