"""The examples run, and say what the atlas holds."""

import json
import runpy
import shutil
from pathlib import Path

import pytest

import headatlas as ha
from headatlas.atlas.atlas import Atlas
from headatlas.methods import METHODS
from headatlas.wording import head_name, significant
from tests import tiny

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOK = json.loads((EXAMPLES / "tour.ipynb").read_text())
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_exploring_an_atlas(tiny_atlas, tmp_path, capsys):
    folder = shutil.copytree(tiny_atlas.path, tmp_path / "atlas")
    (folder / "report.html").unlink()
    explore = runpy.run_path(str(EXAMPLES / "explore_an_atlas.py"))["explore"]
    page = explore(folder)
    said = capsys.readouterr().out
    assert page == folder / "report.html" and page.stat().st_size > 50_000
    assert "3 layers of 4 heads, 2 tasks" in said and "differ from zero in two tasks or more" in said
    first = tiny_atlas.table("Colours").iloc[0]
    assert f"Colours: {head_name(first['layer'], first['head'])} {significant(first['value'])} (" in said


def test_the_notebook_is_stored_without_outputs():
    assert [cell for cell in CODE if cell["outputs"] or cell["execution_count"]] == []


@pytest.fixture(scope="module")
def toured():
    """The variables of the notebook after its cells have run, on a small model instead of the bundled one."""
    variables = {}
    for cell in CODE:
        if "parameters" in cell["metadata"].get("tags", []):
            source = "import headatlas as ha"
            variables |= {"model": tiny.model(), "suite": tiny.suite(96), "tasks": ["Colours", "Numbers"]}
        else:
            source = "".join(cell["source"]).replace("ks=[16]", "ks=[4]")  # of twelve heads
        exec(compile(source, "tour.ipynb", "exec"), variables)
    yield variables
    METHODS.remove("loudness")
    variables["folder"].cleanup()


def test_the_notebook_maps_and_tests(toured):
    atlas = Atlas(toured["folder"].name)
    assert atlas.methods == ["attribute", "loudness"] and atlas.choose_method() == "attribute"
    assert set(atlas.evidence["test"]) == {"mask"}
    assert set(toured["differences"]["compared_with"]) == {"random"}
    assert set(atlas.tasks) == {"Colours", "Numbers"}


def test_what_the_notebook_removes_by_hand_is_what_the_model_loses(toured):
    import torch

    model, (layer, head) = toured["model"], toured["ranking"][0]
    lost = []
    for example in toured["examples"]:
        prompt, answer = (model.tokenizer(text)["input_ids"] for text in (example.prompt, example.answer))
        scores = []
        for factor in (1.0, 0.0):
            weight = model.out_weight(layer)
            before = weight[head].clone()
            weight[head] *= factor
            logprobs = model.logits(torch.tensor([prompt + answer])).log_softmax(-1)[0, len(prompt) - 1 : -1]
            scores.append(sum(logprobs[i, token].item() for i, token in enumerate(answer)))
            weight[head] = before
        lost.append(scores[0] - scores[1])
    assert toured["lost"][head_name(layer, head)] == pytest.approx(sum(lost) / len(lost), abs=1e-3)


def test_the_method_of_the_notebook_measures_what_heads_write(toured):
    model, example = toured["model"], toured["examples"][0]
    loudness, (layer, head) = toured["Loudness"](), (1, 2)
    norms = loudness.norms(model, example).reshape(model.shape)
    model.out_weight(layer)[head] *= 2
    doubled = loudness.norms(model, example).reshape(model.shape)
    model.out_weight(layer)[head] /= 2
    assert doubled[layer, head] == pytest.approx(2 * norms[layer, head])
    others = [i for i in range(model.n_heads) if i != head]
    assert (doubled[layer, others] == norms[layer, others]).all()
    assert (doubled[:layer] == norms[:layer]).all()


def example(name, function):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))[function]


@pytest.fixture(scope="module")
def planted_atlas(tmp_path_factory):
    """Of a model with grouped keys and values whose heads are known, mapped by ablation."""
    from headatlas.planted import PLANTED
    from headatlas.suites.suite import to_jsonl

    folder, planted = tmp_path_factory.mktemp("planted"), PLANTED["shared"]
    model = planted.build(0)
    model.module.save_pretrained(folder / "model")
    model.tokenizer.save_pretrained(folder / "model")
    (folder / "tasks.jsonl").write_text(to_jsonl(planted.suite(0).examples))
    return ha.map(
        folder / "model", folder / "tasks.jsonl", ["ablate"], out=folder / "atlas", report=False,
        tasks=["Turn", "Spot"], limit=72, reporter=tiny.Listener(),
    )  # fmt: skip


def test_pruning_what_matters_least_costs_little(planted_atlas, tmp_path, capsys):
    done = example("prune", "prune")(planted_atlas.path, tmp_path / "smaller", limit=8)
    said = capsys.readouterr().out
    assert "19 % fewer parameters, 25 % less cache" in said
    assert said.count("accuracy 1.00 before, 1.00 after, 0.00 (") == 2
    assert set(done.factors) & {(0, 3), (1, 5), (2, 1)} == set(), "no head that does anything"


def test_steering_prints_both_texts(planted_atlas, tmp_path, capsys):
    """A model that is weakened until it errs; its directions then lead somewhere."""
    weak = ha.edit(tmp_path / "weak", atlas=planted_atlas, scale={"L1H4,L1H5": 0.4}, cost=False)
    asked = planted_atlas.run.asked
    atlas = ha.map(
        weak.path, asked.suite, ["ablate"], tasks=["Turn"], out=tmp_path / "atlas", report=False,
        reporter=tiny.Listener(),
    )  # fmt: skip
    prompt = ha.load_suite(asked.suite).of("Turn")[0].prompt
    plain, steered = example("steer", "steer")(atlas.path, "Turn", -50.0, prompt, tokens=3)
    said = capsys.readouterr()
    assert f"plain:   {plain!r}" in said.out and f"steered: {steered!r}" in said.out and plain != steered
    assert "The effect of steering Turn was not measured" in said.err


def test_comparing_checkpoints_finds_the_head_that_was_masked(planted_atlas, tmp_path, capsys):
    comparison = example("compare_checkpoints", "compare_checkpoints")(planted_atlas.path, "Spot", tmp_path, limit=72)
    (spot,) = [task for task in comparison.tasks if task.task == "Spot"]
    assert [(row.layer, row.head) for row in spot.differing.itertuples()] == [(2, 1)]
    said = capsys.readouterr().out
    assert "L2H1" in said and str(tmp_path / "comparison" / "compare.png") in said
    assert (tmp_path / "comparison" / "compare.png").stat().st_size > 10_000


def test_evaluating_masked_heads(planted_atlas, capsys):
    pytest.importorskip("lm_eval")
    rows = {row.task: row for row in example("evaluate", "evaluate")(planted_atlas.path, "Turn", k=1, random=5)}
    assert rows["turn"].intact == 1.0 and rows["turn"].masked < 0.6 and rows["spot"].masked == 1.0
    assert "turn: acc 1.00 intact" in capsys.readouterr().out
