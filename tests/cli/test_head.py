"""headatlas head as a user meets it."""

import json
import shutil

import pytest

import headatlas as ha
from headatlas.progress import Reporter

NO_HEAD = "There is no head L9H9: the model has 3 layers of 4 heads, L0H0 to L2H3."


@pytest.fixture(scope="module")
def atlas(tmp_path_factory, tiny_folder, tiny_tasks):
    """Of one method, with a model and a suite that can be loaded again."""
    out = tmp_path_factory.mktemp("head") / "atlas"
    ha.map(
        str(tiny_folder),
        str(tiny_tasks),
        ["attribute"],
        out=out,
        at_chance=True,
        report=False,
        reporter=Reporter(quiet=True),
    )
    return out


def test_heads_are_measured_once_and_then_only_shown(atlas, tiny_folder, tmp_path, command, monkeypatch):
    copy = shutil.copytree(atlas, tmp_path / "atlas")
    options = ("--task", "colours", "--limit", 4)
    first = command("head", copy, "L1H2", *options)
    assert first.returncode == 0, first.stderr
    assert "L1H2 in Colours" in first.stdout and "1 head in " in first.stderr
    assert (copy / "report.html").exists()
    monkeypatch.setattr("headatlas.workflows.look.look", None)
    again = command("head", copy, "l1h2", *options, "--json")
    (portrait,) = json.loads(again.stdout)
    assert (portrait["layer"], portrait["head"], portrait["tasks"][0]["task"]) == (1, 2, "Colours")
    assert portrait == json.loads((copy / "heads" / "L1H2.json").read_text()) and again.stderr == ""
    shown = command("head", copy, "L1H2", "--quiet", *options)
    assert shown.stdout == first.stdout


def test_of_several_tasks_the_one_asked_for_is_shown(atlas, tmp_path, command, monkeypatch):
    monkeypatch.setattr("headatlas.workflows.look.publish", lambda *_, **__: None)
    copy = shutil.copytree(atlas, tmp_path / "atlas")
    for task in ("colours", "numbers"):
        shown = command("head", copy, "L0H1", "--task", task, "--limit", 4, "--json")
        (portrait,) = json.loads(shown.stdout)
        assert [entry["task"].lower() for entry in portrait["tasks"]] == [task]
    assert len(ha.Atlas(copy).head("L0H1").tasks) == 2


def test_what_cannot_be_is_said_in_one_line(atlas, command):
    for arguments, code, message in (
        (("L9H9",), 2, f"Error: {NO_HEAD}\n"),
        (("--task", "shapes"), 2, "Error: Unknown task in this atlas 'shapes'. Known: Colours, Numbers.\n"),
        (("--top", 0), 2, "Error: --top 0 was asked for; it must be at least 1.\n"),
    ):
        done = command("head", atlas, *arguments)
        assert (done.returncode, done.stderr) == (code, message)
    done = command("head", atlas)
    assert done.returncode == 1 and done.stderr.endswith("To look at heads all the same, give --task.\n")
    assert not (atlas / "heads").exists()
