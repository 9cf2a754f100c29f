"""From an atlas to its evidence: what stays, what is replaced, what is refused."""

import functools
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.tables import EVIDENCE
from headatlas.errors import HeadAtlasError
from headatlas.evidence import trial as trial_module
from headatlas.suites.suite import Suite
from headatlas.workflows.map import map_heads
from headatlas.workflows.presets import PRESETS, choose_settings
from headatlas.workflows.verify import verify
from tests import tiny
from tests.evidence.common import plain
from tests.workflows.dying import Killed, dying
from tests.workflows.planted import SUITE, check, planted

TESTS = ["mask", "keep"]
pytestmark = pytest.mark.usefixtures("nothing_published")


def test_the_table_keeps_its_contract(atlas):
    assert len(Atlas(atlas).evidence) == 0
    tested = check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    assert pq.read_schema(atlas / "evidence.parquet").equals(EVIDENCE)
    columns = (
        "model method test settings task eval_task control factor compared_with k draw metric value intact low high "
        "p_value q_value groups remark"
    )
    assert EVIDENCE.names == columns.split()
    assert set(tested.evidence["model"]) == {"tiny-llama"}


@pytest.mark.parametrize("method", ["attribute", "ablate", "probe"])
def test_the_map_of_every_method_can_be_tested(atlas, method):
    """Maps that find the helpers do damage."""
    tested = check(atlas, planted(), SUITE, tests=TESTS, method=method, reporter=tiny.Listener())
    found = tested.evidence
    assert set(found["method"]) == {method}
    assert set(found["test"]) == set(TESTS)
    assert found["k"].max() <= 12
    for task, helper in tiny.HELPERS.items():
        strongest = tested.grid(task, method)
        top = found.query("task == @task and test == 'mask' and control == 'top' and metric == 'logprob' and k == 1")
        (row,) = top[top["compared_with"].isna()].itertuples()
        damaged = row.high < row.intact - 1
        assert damaged == (np.unravel_index(np.nanargmax(strongest), strongest.shape) == helper)
        if method == "attribute":
            assert damaged


def test_without_a_method_the_default_map_is_tested_and_with_it_all_tests_run(atlas):
    said = tiny.Listener()
    tested = check(atlas, planted(), SUITE, reporter=said)
    assert set(tested.evidence["method"]) == {tested.choose_method()} == {"ablate"}
    assert set(tested.evidence["test"]) == {"mask", "keep", "specificity", "steer"}
    assert any(
        "No test of the hierarchy: there is no map of a task that the suite calls low-level" in text
        for text in said.said
    )
    assert any("is not steered" in text for text in said.said), "the planted model gets everything right"
    assert set(tested.evidence.query("test == 'specificity'")["eval_task"]) == {"Colours", "Numbers", "Neutral"}


def test_a_cell_that_fails_is_named_with_its_task_and_examples(atlas, monkeypatch):
    def fail(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr(trial_module, "score_sets", fail)
    with pytest.raises(
        HeadAtlasError, match=r"cells of .* failed; .* removal of \w+ \([\w-]+.*\): RuntimeError: no luck"
    ):
        check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    assert not (atlas / "evidence.parquet").exists()


def test_a_killed_run_is_continued_and_gives_the_same_bytes(atlas, tmp_path, monkeypatch):
    whole = shutil.copytree(atlas, tmp_path / "whole")
    run = functools.partial(check, model=planted(), suite=SUITE, tests=["mask", "keep", "specificity"])
    run(whole, reporter=tiny.Listener())
    breaking, calls = dying(trial_module.score_sets, at=3)
    monkeypatch.setattr(trial_module, "score_sets", breaking)
    with pytest.raises(Killed):
        run(atlas, reporter=tiny.Listener())
    assert not (atlas / "evidence.parquet").exists()
    finished = {path.name: path.stat().st_mtime_ns for path in (atlas / "cells").iterdir()}
    run(atlas, reporter=tiny.Listener())
    assert (atlas / "evidence.parquet").read_bytes() == (whole / "evidence.parquet").read_bytes()
    assert all((atlas / "cells" / name).stat().st_mtime_ns == time for name, time in finished.items()), "none anew"
    assert len(calls) > 3
    count = len(calls)
    run(atlas, reporter=tiny.Listener())
    assert len(calls) == count, "a third run computes nothing"
    assert (atlas / "evidence.parquet").read_bytes() == (whole / "evidence.parquet").read_bytes()


def test_evidence_of_other_methods_and_tests_stays_and_the_same_is_replaced(atlas):
    run = functools.partial(check, atlas, planted(), SUITE, ks=[2], reporter=tiny.Listener())
    first = run(tests=["mask"], method="attribute").evidence
    second = run(tests=["keep"], method="attribute").evidence
    third = run(tests=["mask"], method="probe").evidence
    fourth = run(tests=["mask"], method="attribute", draws=3).evidence

    def part(table, method, test):
        chosen = table[(table["method"] == method) & (table["test"] == test)].reset_index(drop=True)
        return chosen.astype({"k": float, "draw": float})

    for later in (second, third):
        assert part(later, "attribute", "mask").equals(part(first, "attribute", "mask"))
    assert part(fourth, "attribute", "keep").equals(part(second, "attribute", "keep"))
    assert part(fourth, "probe", "mask").equals(part(third, "probe", "mask"))
    assert part(fourth, "attribute", "mask")["draw"].max() == 2
    assert part(first, "attribute", "mask")["draw"].max() == 5
    assert (
        not fourth.drop(columns=["value", "intact", "low", "high", "p_value", "q_value", "settings"]).duplicated().any()
    )


def test_the_settings_of_every_test_are_recorded_and_never_mixed(atlas):
    run = functools.partial(check, atlas, planted(), SUITE, reporter=tiny.Listener())
    run(tests=["mask", "keep"], method="attribute")
    tested = run(tests=["mask"], method="attribute", draws=3)
    recorded = {(entry.method, entry.test): entry for entry in tested.run.verifications}
    assert set(recorded) == {("attribute", "mask"), ("attribute", "keep")}
    assert recorded["attribute", "mask"].settings["draws"] == 3
    assert recorded["attribute", "keep"].settings["draws"] == 6
    keys = tested.evidence.groupby(["method", "test"])["settings"].unique()
    for (method, test), values in keys.items():
        assert list(values) == [recorded[method, test].key]
    assert recorded["attribute", "mask"].key != recorded["attribute", "keep"].key
    assert {info.name for info in tested.run.tests} == {"mask", "keep"}


def test_the_heads_that_are_tested_are_the_first_in_rank(atlas):
    """One rule for `top` and `verify`: the head removed first is the one that `table` puts first."""
    tested = check(atlas, planted(), SUITE, tests=["mask"], method="attribute", reporter=tiny.Listener())
    for task, helper in tiny.HELPERS.items():
        assert tested.ranking(task, "attribute")[0] == helper
        (row,) = tested.evidence.query(
            "task == @task and control == 'top' and metric == 'logprob' and k == 1 and compared_with.isna()"
        ).itertuples()
        assert row.value < row.intact - 1


def test_heads_can_be_ranked_by_another_measure_and_that_is_recorded(atlas):
    """Of the head that is specific for one task, the other one loses nothing; settings say by what heads were taken."""
    usual = check(atlas, planted(), SUITE, tests=["mask"], method="ablate", reporter=tiny.Listener())
    keys = set(usual.evidence["settings"])
    assert usual.run.verifications[0].settings["measure"] == "needed"
    tested = check(
        atlas, planted(), SUITE, tests=["mask"], method="ablate", measure="specific", reporter=tiny.Listener()
    )
    (entry,) = tested.run.verifications
    assert entry.settings["measure"] == "specific"
    assert set(tested.evidence["settings"]) == {entry.key} != keys
    for task, helper in tiny.HELPERS.items():
        ranking = tested.ranking(task, "ablate", "specific")
        assert ranking[0] == helper
        assert ranking != tested.ranking(task, "ablate")
    with pytest.raises(HeadAtlasError, match="Unknown measure of ablate 'specifc'. Did you mean 'specific'"):
        check(atlas, planted(), SUITE, method="ablate", measure="specifc", reporter=tiny.Listener())


def test_shares_are_of_what_the_map_says_that_single_heads_take(atlas):
    found = check(atlas, planted(), SUITE, tests=["specificity"], method="ablate", reporter=tiny.Listener()).evidence
    for task in tiny.HELPERS:
        total = np.clip(Atlas(atlas).grid(task, "ablate", "needed"), 0, None).sum()
        levels = found[(found["eval_task"] == task) & found["compared_with"].isna()].set_index(["task", "metric"])
        for other in tiny.HELPERS:
            share = levels.loc[(other, "share"), "value"]
            assert share == pytest.approx(levels.loc[(other, "margin"), "value"] / total)
    assert not len(found[(found["eval_task"] == "Neutral") & (found["metric"] == "share")])
    by_probe = check(atlas, planted(), SUITE, tests=["specificity"], method="probe", reporter=tiny.Listener()).evidence
    assert "share" not in set(by_probe.query("method == 'probe'")["metric"]), "the probe has no effects to share"


def with_twins(count: int) -> Suite:
    """Every example has a twin: the same prompt with the next word."""
    examples = []
    for e in tiny.copying(count).examples:
        words = tiny.COLOURS if e.task == "Colours" else tiny.NUMBERS
        word = words[(words.index(e.answer.strip()) + 1) % 4]
        twin = {"prompt": e.prompt.replace(e.answer, f" {word}"), "answer": f" {word}"}
        examples.append(e.model_validate(e.model_dump() | {"counterfactual": twin}))
    return Suite("twins", tuple(examples))


@pytest.mark.parametrize(("baseline", "is_twin"), [(None, True), ("mean", False)])
def test_the_margin_of_a_test_is_that_of_the_map(tmp_path, baseline, is_twin):
    """Over the twin's answer where the map compared with the twin, otherwise over the distractors."""
    suite = with_twins(36)
    opened = map_heads(planted(), suite, ["ablate"], baseline=baseline, out=tmp_path / "a", reporter=tiny.Listener())
    tested = check(opened, planted(), suite, tests=["mask"], limit=4, reporter=tiny.Listener())
    margin = tested.evidence.query("metric == 'margin' and control == 'top' and k == 1 and task == 'Colours'")
    examples = suite.split(0)["evaluate"].limit(4, 0).of("Colours")
    expected = []
    for example in examples:
        foils = (example.counterfactual.answer,) if is_twin else example.distractors
        options = example.model_copy(update={"distractors": foils})
        answer, *others = plain(planted(), options)
        expected.append(answer - np.log(np.exp(others).sum()))
    assert margin["intact"].iloc[0] == pytest.approx(np.mean(expected), abs=1e-4)


def test_a_test_that_does_not_apply_is_refused(atlas):
    with pytest.raises(
        HeadAtlasError, match="'order' does not apply to the maps of 'attribute'. It needs the measures"
    ):
        check(atlas, planted(), SUITE, tests=["order"], method="attribute", reporter=tiny.Listener())


def test_the_same_atlas_object_can_be_tested_twice(atlas):
    opened = Atlas(atlas)
    check(opened, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    check(opened, planted(), SUITE, tests=["keep"], reporter=tiny.Listener())
    assert set(Atlas(atlas).evidence["test"]) == {"mask", "keep"}


def test_a_new_map_takes_its_evidence_with_it_and_the_same_map_keeps_it(tmp_path):
    remap = functools.partial(map_heads, planted(), out=tmp_path / "a", reporter=tiny.Listener())
    remap(SUITE, ["attribute"])
    check(tmp_path / "a", planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
    remap(SUITE, ["attribute"])
    assert (tmp_path / "a" / "evidence.parquet").exists()
    remap(tiny.copying(30), ["attribute"])
    assert not (tmp_path / "a" / "evidence.parquet").exists()


# Requests


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": ["masks"]}, r"Unknown test 'masks'. Did you mean 'mask'\?"),
        ({"method": "sense"}, "Unknown method in this atlas 'sense'"),
        ({"preset": "fast"}, "Unknown preset 'fast'"),
        ({"ks": [0]}, "`k` 0 was asked for; it must be from 1 to 11"),
        ({"ks": [3, 12]}, "`k` 12 was asked for; it must be from 1 to 11"),
        ({"draws": 0}, "`draws` 0 was asked for; it must be at least 1"),
        ({"limit": 1}, "`limit` 1 was asked for; it must be at least 2"),
        ({"baseline": "mode"}, "Unknown baseline 'mode'"),
        ({"baseline": "twin"}, "Unknown baseline 'twin'.*Known: mean, zero, resample"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(atlas, options, message):
    before = sorted(path.name for path in atlas.rglob("*"))
    with pytest.raises(HeadAtlasError, match=message):
        verify(atlas, planted(), SUITE, reporter=tiny.Listener(), **options)
    assert sorted(path.name for path in atlas.rglob("*")) == before


def test_the_request_overrides_the_preset_and_the_preset_the_atlas(atlas):
    assert choose_settings("paper", (3, 4)) == PRESETS["paper"].tests
    changed = choose_settings("paper", (3, 4), [4, 2, 4], 7, 9, "zero", distractors=False)
    assert (changed.ks, changed.k, changed.draws, changed.examples, changed.chains) == ((2, 4), 4, 7, 9, 9)
    assert (changed.baseline, changed.distractors) == ("zero", False)
    tested = verify(atlas, planted(), SUITE, tests=["mask"], draws=2, ks=[1], reporter=tiny.Listener())
    assert tested.run.verifications[0].settings["examples"] == PRESETS["quick"].tests.examples, "the preset of the map"


def test_two_processes_do_not_write_one_atlas(atlas):
    from filelock import FileLock

    with FileLock(atlas / ".lock"), pytest.raises(HeadAtlasError, match="Another process is writing"):
        check(atlas, planted(), SUITE, tests=["mask"], reporter=tiny.Listener())
