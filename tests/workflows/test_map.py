"""The whole way from a model and a suite to an atlas."""

import functools
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.run_record import SCHEMA, Quantity
from headatlas.errors import HeadAtlasError
from headatlas.methods.ablate import Ablate
from headatlas.methods.attention import TARGETS
from headatlas.methods.attribute import Attribute
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.quantity import plan_quantity
from headatlas.suites.audit.audit import audit
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from headatlas.workflows import map as mapping
from headatlas.workflows.map import map_heads
from tests import tiny
from tests.run.contexts import run_context
from tests.workflows.same import assert_same

QUIET = Reporter(quiet=True)
# A random model is at chance. Figures and reports take longest, and most tests do not look at them.
map_all = functools.partial(map_heads, at_chance=True, report=False, reporter=QUIET)


def test_the_run_says_how_it_was_made(tiny_atlas):
    run = json.loads((tiny_atlas.path / "run.json").read_text())
    assert run["schema_version"] == SCHEMA == 2
    assert run["model"]["fingerprint"] == tiny.model().fingerprint()
    assert (run["model"]["layers"], run["model"]["heads"], run["model"]["kv_heads"]) == (3, 4, 2)
    assert run["suite"]["fingerprint"] == tiny.suite().fingerprint
    settings = {"metric": None, "baseline": None, "exact": 4, "thorough": 0.1, "enough": False, "seed": 0}
    settings |= {"top": None, "confidence": 0.95, "budget": 0.2, "odd": 1}
    assert run["settings"]["methods"]["ablate"] == settings
    assert set(run["versions"]) >= {"torch", "transformers", "headatlas", "python"}
    assert run["finished"]
    assert run["cells"]["computed"] > 0
    assert run["audit"] == [check.row() for check in audit(tiny.suite())]
    assert run["default_method"] == "ablate"
    assert [info["name"] for info in run["methods"]] == ["attribute", "ablate", "probe", "gate", "attention"]


def test_the_run_says_which_metric_and_baseline_were_used(tiny_atlas):
    """The settings say null, which leaves the choice to what the examples of a task have."""
    used = plan_quantity(run_context(tiny_atlas.path / "cells"), "Colours")
    assert tiny_atlas.run.quantities == {
        method: dict.fromkeys(("Colours", "Numbers"), Quantity(metric=used.metric, baseline=used.baseline))
        for method in ("attribute", "ablate")
    }


def test_the_run_holds_only_measures_that_were_given(tiny_atlas):
    """The linear probe has no signed contributions; only the paper's has."""
    assert [measure.name for measure in tiny_atlas.info("probe").measures] == ["information", "alone"]
    assert [measure.name for measure in tiny_atlas.info("gate").measures][:3] == [
        "facilitation", "interference", "irrelevance",
    ]  # fmt: skip


def test_the_atlas_says_where_heads_look(tiny_atlas):
    shares = tiny_atlas.diagnostics.query("method == 'attention'")
    assert shares.groupby("metric").size().to_dict() == dict.fromkeys(TARGETS, 12)
    assert shares["value"].between(0, 1).all()
    assert not shares.duplicated(["metric", "layer", "head"]).any()


def test_one_task_is_mapped_and_shown(tmp_path):
    """Nothing can be specific with a single task, so there is no figure of it; all others are there."""
    suite = tiny.suite(tasks=("Colours",))
    folder = map_all(tiny.model(), suite, ["ablate"], out=tmp_path / "atlas", report=True).path
    assert (folder / "report.html").exists() and (folder / "figures" / "importance.png").exists()
    assert not (folder / "figures" / "atlas.png").exists()


def test_figures_and_reports_can_be_left_out(tmp_path):
    atlas = map_all(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "atlas")
    assert {path.name for path in atlas.path.iterdir()} - {"cells", ".lock"} == {
        "run.json", "scores.parquet", "competence.parquet", "diagnostics.parquet", "noise.parquet",
    }  # fmt: skip


def test_values_are_those_of_the_methods(tiny_atlas, tmp_path):
    job = run_context(tmp_path)  # the preset's limit is above the size of this suite, so the splits are the same
    for head_map in (*Attribute().measure(job).maps, *Ablate(**Ablate.presets["quick"]).measure(job).maps):
        grid = tiny_atlas.grid(head_map.task, head_map.method, head_map.measure)
        np.testing.assert_allclose(grid.ravel(), head_map.summary.mean, atol=1e-5)


@torch.no_grad()
def test_competence_is_forced_choice(tiny_atlas):
    """Recomputed one option at a time, from plain logits."""
    model, ids = tiny.model(), tiny.tokenizer()
    for row in tiny_atlas.competence.itertuples():
        hits, answers = [], []
        for example in tiny.suite().of(row.task):
            scores = []
            for option in (example.answer, *example.distractors):
                start, tokens = len(ids(example.prompt)["input_ids"]), ids(example.prompt + option)["input_ids"]
                logprobs = model.module(input_ids=torch.tensor([tokens])).logits[0].log_softmax(-1)
                scores.append(sum(logprobs[i - 1, tokens[i]].item() for i in range(start, len(tokens))))
            hits.append(scores[0] == max(scores))
            answers.append(scores[0])
        assert row.items == row.mapped == len(hits)
        assert row.accuracy == pytest.approx(np.mean(hits))
        assert row.logprob == pytest.approx(np.mean(answers), abs=1e-4)
        assert row.chance == pytest.approx(1 / 3)
        assert row.low < row.accuracy < row.high
        assert row.verdict == ("competent" if row.low > row.chance else "not competent")


def test_a_second_run_reuses_everything_and_changes_no_byte(tmp_path, tiny_atlas):
    first = Atlas(shutil.copytree(tiny_atlas.path, tmp_path / "a"))
    content = (first.path / "scores.parquet").read_bytes()
    second = map_all(tiny.model(), tiny.suite(), out=tmp_path / "a")
    assert second.run.cells.computed == 0
    assert second.run.cells.reused == first.run.cells.computed > 0
    assert (second.path / "scores.parquet").read_bytes() == content


def test_a_suite_is_audited_once_in_an_atlas(tmp_path, monkeypatch):
    audited = []
    monkeypatch.setattr(mapping, "audit", lambda suite: audited.append(suite.fingerprint) or [])
    for suite in (tiny.suite(), tiny.suite(), tiny.suite(18)):
        map_all(tiny.model(), suite, ["attribute"], out=tmp_path / "a")
    assert audited == [tiny.suite().fingerprint, tiny.suite(18).fingerprint]


def test_a_changed_setting_gives_new_cells_and_only_its_own_scores(tmp_path):
    out = tmp_path / "a"
    mean = map_all(tiny.model(), tiny.suite(), ["ablate"], preset="standard", baseline="mean", out=out).scores
    zero = map_all(tiny.model(), tiny.suite(), ["ablate"], preset="standard", baseline="zero", out=out)
    assert zero.run.cells.computed > 0
    assert len(zero.scores) == len(mean)
    alone = map_all(tiny.model(), tiny.suite(), ["ablate"], preset="standard", baseline="zero", out=tmp_path / "b")
    assert (out / "scores.parquet").read_bytes() == (alone.path / "scores.parquet").read_bytes()
    assert not np.allclose(mean["value"], zero.scores["value"])


def test_a_probe_that_is_added_later_gives_the_bytes_of_one_that_was_there_from_the_beginning(tmp_path):
    """Its features are read with competence where that is still to run, and alone otherwise."""
    settings = {"probe": {"shuffles": 10}}
    map_all(tiny.model(), tiny.suite(), ["attention"], out=tmp_path / "later")
    for name in ("later", "at once"):
        map_all(tiny.model(), tiny.suite(), ["attention", "probe"], settings=settings, out=tmp_path / name)
    assert_same(tmp_path / "later", tmp_path / "at once")


def test_another_model_shares_no_cell(tmp_path):
    map_all(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "a")
    other = map_all(tiny.model(seed=1), tiny.suite(), ["attribute"], out=tmp_path / "a")
    assert other.run.cells.reused == 0


def test_two_processes_do_not_write_one_atlas(tmp_path):
    from filelock import FileLock

    (tmp_path / "a").mkdir()
    map_all(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "a")
    with FileLock(tmp_path / "a" / ".lock"), pytest.raises(HeadAtlasError, match="Another process is writing"):
        map_all(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "a")


def examples(count: int, groups: int, **changes):
    return Suite(
        "s",
        tuple(
            Example(
                **{"id": str(i), "task": "t", "prompt": f"item {i} is", "answer": " red", "group": str(i % groups)}
                | changes
            )
            for i in range(count)
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("suite", "options", "message"),
    [
        (examples(30, 1), {}, r"has 1 group\(s\) and cannot be split"),
        (examples(40, 5), {}, "Task 't' has fewer than 2 groups in its"),
        (examples(5, 5), {}, "Task 't' has 5 examples; a map needs at least 12"),
        (examples(30, 10, prompt="the key is " * 60), {}, "context holds 128"),
        (tiny.suite(), {"limit": 3}, "`limit` 3 was asked for; it must be at least 12"),
        (tiny.suite(), {"seeds": 0}, "`seeds` 0 was asked for; it must be at least 1"),
        (tiny.suite(), {"methods": ["ablat"]}, r"Unknown method 'ablat'. Did you mean 'ablate'\?"),
        (tiny.suite(), {"methods": ["ablate", "ablate"]}, "The method 'ablate' was asked for twice"),
        (tiny.suite(), {"methods": []}, "No method was asked for"),
        (tiny.suite(), {"preset": "fast"}, "Unknown preset 'fast'"),
        (tiny.suite(), {"tasks": ["Colour"]}, "Did you mean 'Colours'"),
        (tiny.suite(), {"chat": True}, "has no chat template"),
        (tiny.suite(), {"baseline": "mode"}, "Unknown baseline 'mode'"),
        (tiny.suite(), {"settings": {"probe": {"kid": 1}}}, "Unknown setting of probe 'kid'. Did you mean 'kind'"),
        (
            tiny.suite(),
            {"methods": ["probe"], "settings": {"gate": {"seeds": 1}}},
            "'gate' was given settings .seeds., but it is not among those asked for: probe",
        ),
        (tiny.suite(), {"methods": ["contrast"]}, "'contrast' needs two tasks, the settings keep and forget"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(tmp_path, suite, options, message):
    with pytest.raises(HeadAtlasError, match=message):
        map_all(tiny.model(), suite, out=tmp_path / "a", **options)
    assert not (tmp_path / "a").exists()


def test_nan_weights_are_refused_before_anything_is_written(tmp_path):
    model = tiny.model()
    with torch.no_grad():
        model.out_projections[0].weight[0, 0] = float("nan")
    with pytest.raises(HeadAtlasError, match="holds NaN or infinite values"):
        map_all(model, tiny.suite(), out=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "letters.txt").write_text("dear all")
    with pytest.raises(HeadAtlasError, match="is not empty and not an atlas"):
        map_all(tiny.model(), tiny.suite(), out=tmp_path)
    with pytest.raises(HeadAtlasError, match="is a file; give a folder"):
        map_all(tiny.model(), tiny.suite(), out=tmp_path / "letters.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_a_task_need_not_be_named_where_there_is_only_one(tiny_atlas, tmp_path):
    with pytest.raises(HeadAtlasError, match="has maps of 2 tasks: Colours, Numbers. Say which with `task`"):
        tiny_atlas.table()
    alone = map_all(tiny.model(), tiny.suite(tasks=("Colours",)), ["attribute"], out=tmp_path / "a")
    assert len(alone.table()) == 12


def test_a_task_at_chance_is_mapped_only_on_request(tmp_path):
    with pytest.raises(HeadAtlasError, match="is at chance on every task.*`at_chance`"):
        map_heads(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "a", reporter=QUIET)
    named = map_heads(tiny.model(), tiny.suite(), ["attribute"], tasks=["Numbers"], out=tmp_path / "b", reporter=QUIET)
    assert named.tasks == ["Numbers"]
    assert named.verdicts == {"Numbers": "not competent"}


def test_only_known_items_are_mapped_when_asked_for(tmp_path):
    """Known ones and all held-out ones are left, and then another map."""
    whole = map_all(tiny.model(), tiny.suite(96), ["attribute"], preset="paper", out=tmp_path / "a")
    known = map_all(tiny.model(), tiny.suite(96), ["attribute"], preset="paper", known_only=True, out=tmp_path / "b")
    for before, after in zip(whole.competence.itertuples(), known.competence.itertuples(), strict=True):
        assert after.accuracy == before.accuracy
        assert round(before.accuracy * before.items) < after.mapped < before.mapped == 96
    assert not np.allclose(whole.scores["value"], known.scores["value"])


def test_a_map_in_half_precision_says_what_rounding_adds_and_few_groups_what_is_missing(tmp_path):
    listener = tiny.Listener()
    model = HeadModel(tiny.module().bfloat16(), tiny.tokenizer(), name="half")
    whole = tiny.suite()
    six_groups = [e.model_copy(update={"group": f"{e.task}-{i % 6}"}) for i, e in enumerate(whole.examples)]
    few = replace(whole, examples=tuple(six_groups))
    atlas = map_all(model, few, ["ablate"], out=tmp_path / "a", reporter=listener)
    assert atlas.run.rounding > 1e-3
    assert any("Computed in bfloat16: rounding moves the effect of a head" in said for said in listener.said)
    assert any(said.startswith("ablate: no interval and no p for Colours, Numbers: only") for said in listener.said)
    assert map_all(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "b").run.rounding is None


def test_too_few_known_items_are_said_so(tmp_path):
    with pytest.raises(HeadAtlasError, match="knows too few items"):
        map_all(tiny.model(), tiny.suite(18), ["attribute"], known_only=True, out=tmp_path / "a")
    assert map_all(tiny.model(), tiny.suite(18), ["attribute"], out=tmp_path / "b").tasks  # all items are enough


def test_a_changed_model_in_memory_is_measured_anew(tmp_path):
    model = tiny.model()
    before = map_all(model, tiny.suite(), ["attribute"], out=tmp_path / "a")
    values = before.scores["value"].copy()
    with torch.no_grad():
        model.out_weight(1)[2] = 0
    after = map_all(model, tiny.suite(), ["attribute"], out=tmp_path / "a")
    assert after.run.cells.reused == 0
    assert not np.allclose(values, after.scores["value"])


def test_tasks_that_differ_in_case_keep_their_own_numbers(tmp_path):
    atlas = map_all(tiny.model(), tiny.suite(tasks=("math", "Math")), ["attribute"], out=tmp_path / "a")
    assert not np.allclose(atlas.grid("math"), atlas.grid("Math"))
    assert tiny.suite(tasks=("math", "Math")).only(["Math"]).tasks == ("Math",)


def test_any_task_name_can_be_mapped_and_drawn(tmp_path):
    name = r"solve $\foo$ [red] 'x' </script>"
    atlas = map_all(tiny.model(), tiny.suite(tasks=(name,)), ["attribute"], out=tmp_path / "a", report=True)
    assert atlas.tasks == [name]
    assert (atlas.path / "figures" / "importance.png").exists()


def test_a_task_without_distractors_is_judged_by_exact_match_against_the_commonest_answer(tmp_path):
    bare = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in tiny.suite(96).examples))
    atlas = map_all(tiny.model(), bare, ["attribute"], preset="paper", out=tmp_path / "a")
    for row in atlas.competence.itertuples():
        assert row.accuracy == row.exact
        assert row.chance == pytest.approx(1 / 8)
        assert np.isnan(row.margin)
        assert row.verdict == "not competent"


def test_a_folder_that_a_killed_run_only_locked_can_be_used(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".lock").touch()
    assert map_all(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "a").run.finished
