"""An atlas that grows: what can be read after every stage, and that at the end nothing is left of the stages."""

import functools
import re
from dataclasses import replace

import numpy as np
import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.records import Evidence, HeadMap
from headatlas.atlas.writing import write_evidence
from headatlas.errors import HeadAtlasError
from headatlas.methods.ablate import Ablate
from headatlas.methods.attribute import Attribute
from headatlas.patterns import find_patterns
from headatlas.run.cells import Cell, CellKind
from headatlas.stats import Summary
from headatlas.views.figures import figure_files, write_figures
from headatlas.views.page import write_page
from headatlas.views.report.report import write_report
from headatlas.workflows import map as mapping
from headatlas.workflows.growth import default_method
from headatlas.workflows.map import map_heads
from headatlas.workflows.publish import FILES, publish
from headatlas.workflows.verify import verify
from tests import tiny
from tests.workflows.planted import SUITE, planted

METHODS = ["ablate", "attribute"]  # not in the order in which they run
TABLES = ("scores.parquet", "competence.parquet", "diagnostics.parquet", "noise.parquet")
LATER = "Findings come at the end, from all maps together."
UNFINISHED = "Drawn while the map was being made, before"
grow = functools.partial(map_heads, planted(), SUITE, METHODS, reporter=tiny.Listener())


class Killed(BaseException):
    """Instead of a signal, which cannot be timed. No Exception: those are failures of a cell."""


@pytest.fixture
def kill(monkeypatch):
    """Map until a method computes its first cell, and die there."""

    def die():
        raise Killed

    last = Cell(CellKind("last"), {}, die, tokens=1)

    def run(method, out, **more):
        with monkeypatch.context() as patch:
            patch.setattr(method, "measure", lambda _, context: context.runner.run("", [last]))
            with pytest.raises(Killed):
                grow(out=out, **more)
        return Atlas(out)

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Made in one go."""
    return grow(out=tmp_path_factory.mktemp("growth") / "atlas")


def contents(folder):
    """Every file that is shown or read, without the times of the run."""
    files = [folder / name for name in TABLES] + sorted((folder / "figures").iterdir()) + [folder / "report.md"]
    return {path.name: re.sub(rb"- Finished .*", b"", path.read_bytes()) for path in files}


def without_times(atlas):
    return atlas.run.model_dump(exclude={"started", "finished", "seconds", "cells", "asked"})


def test_stages_are_published_in_turn_and_tables_keep_the_order_that_was_asked_for(tmp_path, monkeypatch):
    stages, before = [], []

    def note(atlas, reporter, since=None):
        before.append(since and since.run.pending)
        stages.append((atlas.run.pending, atlas.methods, atlas.run.default_method, atlas.run.finished is not None))

    monkeypatch.setattr(mapping, "publish", note)
    grow(out=tmp_path / "a")
    assert stages == [
        (["attribute", "ablate"], [], None, False),
        (["ablate"], ["attribute"], "attribute", False),
        ([], ["ablate", "attribute"], "ablate", True),
    ]
    assert before == [None, ["attribute", "ablate"], None]  # the last one is complete


def test_a_stage_is_not_published_where_an_earlier_run_has_left_what_follows(tmp_path, monkeypatch, kill):
    stages = []
    monkeypatch.setattr(mapping, "publish", lambda atlas, *_, **more: stages.append((atlas.run.pending, more)))
    kill(Ablate, tmp_path / "a")
    assert [pending for pending, _ in stages] == [["attribute", "ablate"], ["ablate"]]
    stages.clear()
    grow(out=tmp_path / "a")
    assert stages == [(["ablate"], {"since": None}), ([], {})]
    stages.clear()
    grow(out=tmp_path / "a")
    assert stages == [([], {})]


def test_every_stage_is_said_with_its_strongest_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(mapping, "publish", lambda *_, **__: None)
    listener = tiny.Listener()
    grow(out=tmp_path / "a", reporter=listener)
    said = [line for line in listener.said if re.match(r"(Competence|Attribution|Certified ablation), \d+ s\. ", line)]
    assert len(said) == 3
    assert "The model can do 2 of 2 tasks" in said[0] and said[0].endswith("Still to come: attribute, ablate.")
    assert re.search(r"(Colours: L2H0|Numbers: L1H3) comes first, needed \d", said[1])
    assert said[1].endswith("Still to come: ablate.")
    assert re.search(r"(Colours: L2H0|Numbers: L1H3) holds \d+ % of the positive effects", said[2])
    assert "Still to come" not in said[2]


def test_without_maps_an_atlas_has_competence_and_says_what_is_to_come(tmp_path, kill):
    atlas = kill(Attribute, tmp_path / "a")
    assert atlas.run.pending == ["attribute", "ablate"] and atlas.run.finished is None
    assert list(atlas.competence["task"]) == ["Colours", "Numbers"] and atlas.scores.empty
    assert {path.name for path in (atlas.path / "figures").iterdir()} == {"competence.png", "competence.svg"}
    assert f"{UNFINISHED} attribute and ablate." in (atlas.path / "figures" / "competence.svg").read_text()
    report = (atlas.path / "report.md").read_text()
    assert f"**Still to come: attribute, ablate. {LATER}**" in report and "## What the model can do" in report
    assert "## What each head is for" not in report
    assert f"Still to come: attribute, ablate. {LATER}" in (atlas.path / "report.html").read_text()
    for ask in (atlas.choose_method, atlas.choose_task, atlas.table, atlas.grid):
        with pytest.raises(HeadAtlasError, match=r"has no maps yet. Still to come: attribute, ablate. .* continue it"):
            ask()
    with pytest.raises(HeadAtlasError, match="Still to come: attribute, ablate."):
        atlas.plot()


def test_with_some_maps_an_atlas_can_be_read_and_rendered(tmp_path, kill, command):
    atlas = kill(Ablate, tmp_path / "a")
    assert (atlas.methods, atlas.run.pending, atlas.choose_method()) == (["attribute"], ["ablate"], "attribute")
    assert atlas.ranking("Colours")[0] == tiny.HELPERS["Colours"]
    assert f"{UNFINISHED} ablate." in (atlas.path / "figures" / "importance.svg").read_text()
    assert f"**Still to come: ablate. {LATER}**" in (atlas.path / "report.md").read_text()
    assert f"Still to come: ablate. {LATER}" in (atlas.path / "report.html").read_text()
    assert set(atlas.noise["method"]) == {"attribute"}
    top = command("top", atlas.path, "--task", "colours", "-k", 1)
    assert "L2H0" in top.stdout and top.stdout.endswith("Still to come: ablate.\n")
    assert command("report", atlas.path).stdout.endswith(f"Still to come: ablate. {LATER}\n")
    with pytest.raises(HeadAtlasError, match=r"is not finished. Still to come: ablate. Evidence .* continue it with"):
        verify(atlas, planted(), SUITE)


def test_findings_wait_for_the_last_map(tmp_path, kill, command, whole):
    """One look at all maps: those of an earlier stage are not shown, whoever brings them."""
    atlas = kill(Ablate, tmp_path / "a")
    found = find_patterns(atlas, draws=100)
    assert found and atlas.findings == []
    for findings in (None, found):
        report = write_report(atlas, findings=findings).read_text()
        assert "## What each head is for" in report and "statements were tested" not in report
        assert not any(finding.statement in report for finding in found)
    page = write_page([atlas], findings=[found]).read_text()
    assert '"findings":[]' in page and found[0].statement not in page
    asked = command("report", atlas.path, "--json")
    assert asked.stdout == "[]\n" and LATER in asked.stderr
    assert whole.findings and "statements were tested" in (whole.path / "report.md").read_text()
    assert LATER not in (whole.path / "report.md").read_text() + (whole.path / "report.html").read_text()
    assert not any(UNFINISHED in path.read_text() for path in (whole.path / "figures").glob("*.svg"))


def test_a_stage_draws_only_the_figures_that_it_changes(tmp_path, whole):
    """The default method bears the bare name of a figure: where it changes, the figure does."""

    def stage(*methods):
        atlas = Atlas(whole.path)
        atlas.path = tmp_path
        atlas.scores = whole.scores[whole.scores["method"].isin(methods)]
        atlas.run.methods = [info for info in whole.run.methods if info.name in methods]
        atlas.run.default_method = methods[-1] if methods else None
        atlas.competence, atlas.diagnostics, atlas.evidence = whole.competence, whole.diagnostics, whole.evidence
        return atlas

    def drawn(atlas, since):
        return {path.stem for path in write_figures(atlas, since)}

    none, one, both = stage(), stage("attribute"), stage("attribute", "ablate")
    assert drawn(none, None) == {"competence"}
    assert drawn(one, none) == {"importance", "profiles"}
    assert drawn(both, one) == {"importance", "profiles", "atlas"}
    assert drawn(stage("ablate", "attribute"), one) == {"atlas"}  # attribute stays the default
    assert drawn(both, None) == {path.stem for path in figure_files(both)} == {
        "competence", "importance", "profiles", "atlas",
    }  # fmt: skip


def test_doubts_and_noise_grow_with_the_maps(tmp_path, kill, monkeypatch, whole):
    measure = Attribute.measure
    monkeypatch.setattr(
        Attribute, "measure", lambda self, context: replace(measure(self, context), doubts={"Colours": "a doubt"})
    )
    half = kill(Ablate, tmp_path / "a", report=False)
    assert half.run.doubts == {"attribute": {"Colours": "a doubt"}}
    finished = grow(out=tmp_path / "a", report=False)
    assert finished.run.doubts == half.run.doubts and finished.why_not_read("Colours", "attribute") == "a doubt"
    assert list(finished.noise["method"].unique()) == ["ablate", "attribute"]
    assert finished.noise.equals(whole.noise)


def test_killed_between_stages_and_continued_it_has_the_same_bytes(tmp_path, kill, whole):
    for method in (Attribute, Ablate, Ablate):
        kill(method, tmp_path / "a")
    atlas = grow(out=tmp_path / "a")
    assert contents(atlas.path) == contents(whole.path)
    assert without_times(atlas) == without_times(whole)
    assert atlas.run.pending == [] and atlas.run.finished


def test_publishing_a_finished_atlas_afresh_gives_the_same_files(tmp_path, whole):
    """Nothing is left of what was published before."""
    shown = contents(whole.path)
    page = (whole.path / "report.html").read_bytes()
    for name in FILES:
        target = whole.path / name
        target.rename(tmp_path / name)
    publish(Atlas(whole.path), tiny.Listener())
    assert contents(whole.path) == shown
    assert (whole.path / "report.html").read_bytes() == page


def test_figures_of_a_stage_that_the_finished_atlas_lacks_are_removed(tmp_path, monkeypatch):
    def draw_more(atlas, reporter, since=None):
        (atlas.path / "figures").mkdir(exist_ok=True)
        (atlas.path / "figures" / f"stage-{len(atlas.run.pending)}.png").touch()

    monkeypatch.setattr(mapping, "publish", draw_more)
    assert list((grow(out=tmp_path / "a").path / "figures").iterdir()) == []


def test_tables_that_are_ahead_of_the_record_do_not_show(tmp_path, kill, whole):
    """Killed after the tables of a stage were written and before run.json was."""
    atlas = kill(Ablate, tmp_path / "a")
    for name in TABLES:
        (atlas.path / name).write_bytes((whole.path / name).read_bytes())
    ahead = Atlas(atlas.path)
    assert ahead.methods == ["attribute"] and set(ahead.diagnostics["method"]) <= {"attribute"}
    assert set(ahead.noise["method"]) == {"attribute"}


def test_evidence_stays_with_its_maps_also_where_making_them_again_is_interrupted(tmp_path, kill, monkeypatch):
    monkeypatch.setattr(mapping, "publish", lambda *_, **__: None)
    out = tmp_path / "a"
    grow(out=out)
    row = Evidence("mask", "Colours", "Colours", "top", "logprob", -3.0, -1.0, k=1)
    write_evidence(out, [{"model": "tiny", "method": "ablate", "settings": "", **vars(row)}])
    assert len(grow(out=out).evidence) == 1
    half = kill(Ablate, out)
    assert (out / "evidence.parquet").exists() and half.evidence.empty  # about maps that may come out otherwise
    again = grow(out=out)
    assert len(again.evidence) == 1 and not (out / "work").exists()
    kill(Ablate, out)
    assert map_heads(planted(), SUITE, ["attribute"], out=out, reporter=tiny.Listener()).evidence.empty
    assert not (out / "evidence.parquet").exists()


def test_without_a_report_only_tables_grow(tmp_path, kill, whole):
    atlas = kill(Ablate, tmp_path / "a", report=False)
    assert atlas.methods == ["attribute"]
    assert {path.name for path in atlas.path.iterdir()} - {"cells", ".lock", "work"} == {"run.json", *TABLES}
    finished = grow(out=tmp_path / "a", report=False)
    assert all((finished.path / name).read_bytes() == (whole.path / name).read_bytes() for name in TABLES)


def test_of_maps_that_are_not_complete_the_one_with_the_highest_priority_is_the_default(tiny_atlas):
    """A method that mapped every head comes before one that mapped some, whatever their priorities."""
    every, some = tiny_atlas.run.method("attribute"), tiny_atlas.run.method("ablate")
    record = tiny_atlas.run.model_copy(update={"methods": [every, some]})
    heads = tuple((layer, head) for layer in range(3) for head in range(4))

    def head_map(info, count):
        return HeadMap(info.name, info.primary, "t", 0, heads[:count], Summary.bare(np.zeros(count)))

    assert default_method(record, [head_map(every, 12), head_map(some, 12)]) == "ablate"
    assert default_method(record, [head_map(every, 12), head_map(some, 5)]) == "attribute"
    assert default_method(record, [head_map(every, 5), head_map(some, 5)]) == "ablate"
    assert default_method(record, []) is None


def test_another_map_in_the_folder_of_a_finished_one_is_said_and_the_same_one_is_not(tmp_path):
    out, listener = tmp_path / "a", tiny.Listener()
    grow(out=out, command="headatlas map --first", report=False)
    grow(out=out, report=False, reporter=listener)
    assert not any("another finished map" in line for line in listener.said)
    map_heads(planted(), SUITE, ["attribute"], out=out, report=False, reporter=listener)
    (said,) = [line for line in listener.said if "another finished map" in line]
    assert said.startswith(f"{out} holds another finished map, of 2 tasks by ablate and attribute; its maps, tests and")
    assert f"stays in {out / 'cells'}" in said


def test_settings_that_the_file_writes_in_another_form_are_the_same(tmp_path):
    """`gate.tasks` is a tuple here and a list in run.json."""
    listener = tiny.Listener()
    for _ in range(2):
        map_heads(
            planted(), SUITE, ["gate"], settings={"gate": {"steps": 1, "check": 1, "tasks": (SUITE.tasks[0],)}},
            out=tmp_path, report=False, reporter=listener,
        )  # fmt: skip
    assert not any("another finished map" in line for line in listener.said)


def test_how_a_map_that_is_replaced_comes_back_is_said(tmp_path):
    out, listener = tmp_path / "a", tiny.Listener()
    grow(out=out, command="headatlas map --first", report=False)
    before = (out / "scores.parquet").read_bytes()
    map_heads(planted(), SUITE, ["attribute"], out=out, report=False, reporter=listener)
    assert any("the same command gives it back soon: headatlas map --first." in line for line in listener.said)
    grow(out=out, report=False)
    assert (out / "scores.parquet").read_bytes() == before
