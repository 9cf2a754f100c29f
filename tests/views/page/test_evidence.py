"""Evidence is shown by the shape that a test declares: no name of a test is known to the page."""

import re

import numpy as np
import pandas as pd
import pytest

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.views.page.evidence import describe_evidence, describe_test
from tests.atlases import rewrite_evidence, rich_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("evidence") / "atlas", shape=(12, 9))


def outcome(atlas, test, method="probe"):
    return next(o for o in describe_evidence(atlas) if (o["test"], o["method"]) == (test, method))


def metric(described, name):
    return next(m for m in described["metrics"] if m["metric"] == name)


def rows_of(atlas, test, metric, method="probe", **columns):
    rows = atlas.evidence.query("method == @method and test == @test and metric == @metric")
    for name, value in columns.items():
        rows = rows[rows[name].isna()] if value is None else rows[rows[name] == value]
    return rows


def test_random_draws_become_a_band(atlas):
    chart = metric(outcome(atlas, "mask"), "accuracy")["charts"][1]
    series = next(s for s in chart["series"] if s["control"] == "random")
    eight = rows_of(atlas, "mask", "accuracy", task="Retrieval", control="random", k=8)["value"]
    at = series["k"].index(8)
    assert chart["task"] == "Retrieval" and len(eight) == 20
    assert series["value"][at] == pytest.approx(eight.mean(), rel=1e-3)
    assert [series["low"][at], series["high"][at]] == pytest.approx(np.quantile(eight, [0.025, 0.975]), rel=1e-3)


def test_few_draws_become_their_range(atlas):
    described = metric(outcome(atlas, "keep"), "fraction")
    series = next(s for s in described["charts"][1]["series"] if s["control"] == "random")
    eight = rows_of(atlas, "keep", "fraction", task="Retrieval", control="random", k=8)["value"]
    at = series["k"].index(8)
    assert [series["low"][at], series["high"][at]] == pytest.approx([eight.min(), eight.max()], rel=1e-3)
    assert described["key"] == [("chosen-0", "top"), ("reference", "random (range of 10 draws)")]
    assert metric(outcome(atlas, "mask"), "logprob")["key"][1] == ("reference", "random (20 draws)")


def test_curves_of_removed_heads_begin_at_the_intact_model(atlas):
    for chart in metric(outcome(atlas, "mask"), "logprob")["charts"]:
        assert {(s["k"][0], s["value"][0]) for s in chart["series"]} == {(0, chart["intact"])}


def test_curves_of_heads_that_are_kept_begin_without_any(atlas):
    chart = metric(outcome(atlas, "keep"), "logprob")["charts"][0]
    none = rows_of(atlas, "keep", "logprob", task=chart["task"], control="none")["value"].iloc[0]
    assert [(s["control"], s["k"][0], s["value"][0]) for s in chart["series"]] == [("top", 0, pytest.approx(none))]


def test_the_headline_comes_first_and_areas_are_notes(atlas):
    assert [m["metric"] for m in outcome(atlas, "keep")["metrics"]] == ["fraction", "logprob", "accuracy"]
    note = metric(outcome(atlas, "keep"), "fraction")["charts"][0]["note"]
    area = rows_of(atlas, "keep", "cpr", control="top").iloc[0]["value"]
    assert note.startswith(f"CPR {area:.2f} (") and "random 0.45" in note


def test_notes_say_from_where_on_heads_are_beyond_random(atlas):
    for chart in metric(outcome(atlas, "mask"), "logprob")["charts"]:
        rows = rows_of(atlas, "mask", "logprob", task=chart["task"], compared_with="random").sort_values("k")
        beyond = rows[rows.q_value < 0.05]
        expected = (
            f"beyond random from {int(beyond.k.iloc[0])} head"
            if len(beyond)
            else "not beyond random on these examples;"
        )
        assert chart["note"].startswith(expected)
        assert f"top minus random −{abs(rows.value.iloc[-1]):.2f} (" in chart["note"]
    table = atlas.evidence.assign(q_value=atlas.evidence["q_value"].where(atlas.evidence["q_value"].isna(), 0.4))
    info, method = atlas.run.test("mask"), atlas.info("probe")
    weak = describe_test(info, table.query("method == 'probe' and test == 'mask'"), method)
    assert all(chart["note"].startswith("not beyond random") for chart in weak["metrics"][0]["charts"])


def test_rows_with_a_factor_stand_beside_the_curve(atlas):
    described = metric(outcome(atlas, "order", "gate"), "logprob")
    chart = described["charts"][0]
    assert {tuple(s["k"]) for s in chart["series"]} == {(0, 1, 4, 16, 64, 108)}
    assert chart["note"].startswith("facilitation above 0.5: −4.68 with 12 heads")
    assert [line for line, _ in described["key"]] == ["facilitation", "irrelevance", "interference", "reference"]


def test_a_matrix_holds_changes_and_a_column_for_the_comparison(atlas):
    described = metric(outcome(atlas, "specificity"), "logprob")
    cell = described["cells"][1][1]
    row = rows_of(atlas, "specificity", "logprob", task="Retrieval", eval_task="Retrieval", compared_with=None).iloc[0]
    assert cell["value"] == pytest.approx(row.value - row.intact, rel=1e-3)
    assert cell["outlined"] and cell["sure"] == (row.high < row.intact or row.low > row.intact)
    assert described["columns"][-2:] == ["Neutral", "top minus other tasks' heads"]
    difference = rows_of(atlas, "specificity", "logprob", task="Retrieval", compared_with="other tasks' heads").iloc[0]
    assert described["cells"][1][-1]["value"] == pytest.approx(difference.value, rel=1e-3)
    assert described["cells"][1][-1]["sure"] == (difference.low > 0 or difference.high < 0)


def test_a_matrix_with_a_measured_reference_holds_differences(atlas):
    described = metric(outcome(atlas, "hierarchy"), "logprob")
    row = rows_of(
        atlas, "hierarchy", "logprob", task=described["rows"][0], eval_task=described["columns"][0],
        compared_with="random",
    ).iloc[0]  # fmt: skip
    cell = described["cells"][0][0]
    assert cell["value"] == pytest.approx(row.value, rel=1e-3)
    assert cell["title"].startswith("top minus random: top ") and "less that with random heads" in described["note"]


def test_changes_have_a_column_per_factor_unless_it_was_chosen_by_task(atlas):
    described = metric(outcome(atlas, "steer"), "accuracy")
    assert described["columns"][:4] == ["steer", "steer, Neutral", "scale 0.5", "scale 0.5, Neutral"]
    row = rows_of(atlas, "steer", "accuracy", task="Retrieval", eval_task="Retrieval", control="steer").iloc[0]
    cell = described["cells"][described["rows"].index("Retrieval")][0]
    assert cell["value"] == pytest.approx(row.value - row.intact, rel=1e-3)
    assert f"Retrieval {row.factor:g}" in described["note"]
    assert described["cells"][2][0] is None  # one task is not steered


def test_settings_and_meanings_of_controls_come_along(atlas):
    described = outcome(atlas, "mask")
    assert ("baseline", "mean") in described["settings"] and ("distractors", "yes") in described["settings"]
    assert {"name": "lowest", "meaning": "the heads with the smallest values"} in described["controls"]
    assert described["question"] == atlas.run.test("mask").question


def test_which_heads_a_test_took(atlas):
    heads = {entry["task"]: entry for entry in outcome(atlas, "mask")["heads"]}
    row = rows_of(atlas, "mask", "logprob", task="Inference", control="top", k=4, compared_with=None).iloc[0]
    entry = heads["Inference"]
    expected = f"log-prob {row.intact:.2f} → {row.value:.2f}".replace("-", "−").replace("log−", "log-")
    assert entry["outcomes"][entry["k"].index(4)] == expected
    assert outcome(atlas, "order", "gate")["heads"][0]["k"] == [1, 4, 16, 64, 108]  # the order of its primary measure
    several = outcome(atlas, "hierarchy")["heads"][0]["outcomes"][0]
    assert re.fullmatch(r"log-prob [−+][\d.]+ to [−+][\d.]+ in 4 other tasks", several)


def test_an_order_by_another_measure_says_nothing_about_ranks(atlas):
    info = atlas.run.test("order").model_copy(update={"chosen": ("irrelevance",)})
    rows = atlas.evidence.query("method == 'gate' and test == 'order'")
    assert describe_test(info, rows, atlas.info("gate"))["heads"] == []


@pytest.mark.parametrize(("shape", "layout"), [("curve", "charts"), ("recovery", "charts"), ("matrix", "matrix")])
def test_a_test_that_someone_registers_is_shown_by_its_shape(tmp_path, shape, layout):
    info = TestInfo(
        name="mine", title="A test of mine", summary="", question="Does it show?", shape=shape,
        headline="fraction" if shape == "recovery" else "logprob", controls=(Control(name="top", meaning="the first"),),
    )  # fmt: skip
    made_up = rich_atlas(tmp_path / "a", shape=(6, 4), methods=["attribute"], tested=["attribute"], tests=[info])
    (described,) = describe_evidence(made_up)
    assert (described["title"], described["layout"]) == ("A test of mine", layout)
    assert described["metrics"][0]["metric"] == info.headline


def test_an_unknown_shape_falls_back_to_rows(atlas):
    info = atlas.run.test("steer").model_copy(update={"shape": "spiral"})
    rows = atlas.evidence.query("method == 'probe' and test == 'steer'")
    described = describe_test(info, rows, atlas.info("probe"))
    shown = described["metrics"][0]
    assert described["layout"] == "rows" and len(shown["rows"]) == len(rows.query("metric == 'accuracy'"))
    assert shown["columns"] == [
        "task", "eval task", "control", "factor", "k", "value", "intact", "95 % interval",
    ]  # fmt: skip
    first = rows.query("metric == 'accuracy'").iloc[0]
    assert shown["rows"][0][:3] == [first.task, first.eval_task, first.control]


def test_nothing_is_shown_before_a_test(tmp_path):
    made_up = rich_atlas(tmp_path / "a", shape=(4, 4), tested=())
    assert describe_evidence(made_up) == []
    empty = rewrite_evidence(made_up, pd.DataFrame(columns=made_up.evidence.columns))
    assert describe_evidence(empty) == []
