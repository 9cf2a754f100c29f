"""The examples run, and say what the atlas holds."""

import json
import runpy
import shutil
from pathlib import Path

import pytest

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
