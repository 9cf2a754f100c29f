"""Figures of evidence and of the probe: what is drawn is read back and compared with the tables."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from headatlas.atlas import reading as files
from headatlas.atlas.reading import Atlas
from headatlas.views.figures import draw
from tests.views.figures import made


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return made.atlas(tmp_path_factory.mktemp("made") / "atlas")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return made.atlas(tmp_path_factory.mktemp("made") / "atlas", ["a", "b"], shape=(6, 4), draws=3, ks=(2, 4))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return made.atlas(tmp_path_factory.mktemp("made") / "atlas", made.HOSTILE, shape=(6, 4), draws=3, ks=(1, 3))


def rows(atlas, **wanted):
    """The rows of the evidence with these values, by number of heads."""
    found = atlas.evidence
    for column, value in wanted.items():
        found = found[found[column] == value]
    return found.sort_values("k", kind="stable")


def panels(figure):
    return {axes.get_title().replace("\n", " "): axes for axes in figure.axes}


def line(axes, name):
    (found,) = [line for line in axes.lines if line.get_label() == name]
    return np.asarray(found.get_xdata(), dtype=float), np.asarray(found.get_ydata(), dtype=float)


def intervals(axes):
    """(place, low, high) of every interval, whichever way they run."""
    found = set()
    for collection in axes.collections:
        if isinstance(collection, LineCollection):
            for (x, y), (x2, y2) in collection.get_segments():
                upright = x == x2
                found.add(tuple(np.round((x, y, y2) if upright else (y, x, x2), 9)))
    return found


def expected(table, places):
    ends = zip(places, table["low"] - table["baseline"], table["high"] - table["baseline"], strict=True)
    return {tuple(np.round(entry, 9)) for entry in ends}


@pytest.mark.parametrize(("figure", "metric"), [("mask", "logprob"), ("mask_accuracy", "accuracy")])
def test_mask_draws_the_changes_their_intervals_and_the_spread_of_the_draws(full, figure, metric):
    drawn = panels(draw(full, figure))
    assert list(drawn) == list(made.COGNITIVE)
    for task, axes in drawn.items():
        for control in ("top", "lowest"):
            table = rows(full, test="mask", task=task, control=control, metric=metric)
            k, change = line(axes, control)
            np.testing.assert_array_equal(k, table["k"])
            np.testing.assert_allclose(change, table["value"] - table["baseline"])
            assert expected(table, table["k"]) <= intervals(axes)
        random = rows(full, test="mask", task=task, control="random", metric=metric)
        by_k = (random["value"] - random["baseline"]).groupby(random["k"])
        np.testing.assert_allclose(line(axes, "random")[1], by_k.mean())
        (band,) = [c for c in axes.collections if not isinstance(c, LineCollection)]
        bottom, top = band.get_datalim(axes.transData).intervaly
        assert bottom == pytest.approx(by_k.quantile(0.025).min())
        assert top == pytest.approx(by_k.quantile(0.975).max())


def test_mask_prints_p_at_the_most_heads_and_fills_only_the_sure_ones(full):
    unsure = 0
    for task, axes in panels(draw(full, "mask")).items():
        chances = rows(full, test="mask", task=task, metric="p_value")
        last = chances.iloc[-1]
        assert [text.get_text() for text in axes.texts] == [f"p = {last['value']:.2g} with {last['k']:.0f} removed"]
        sure = chances[chances["value"] < 0.05]
        np.testing.assert_array_equal(line(axes, "sure")[0], sure["k"])
        unsure += len(chances) - len(sure)
    assert unsure > 0  # else nothing was told apart
    assert not any(axes.texts for axes in panels(draw(full, "mask_accuracy")).values())


def test_the_axis_of_head_counts_names_the_usual_ones(full):
    for task, axes in panels(draw(full, "mask")).items():
        counts = sorted({int(k) for k in rows(full, test="mask", task=task)["k"]})
        assert axes.get_xscale() == "log"
        assert list(axes.get_xticks()) == counts
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert [label for label in labels if label in {"1", "2", "4", "8", "16", "32"}] == [
            "1",
            "2",
            "4",
            "8",
            "16",
            "32",
        ]
        assert all(label in ("", str(k)) for label, k in zip(labels, counts, strict=True))


def test_keep_draws_the_fractions_and_prints_the_areas(full):
    for task, axes in panels(draw(full, "keep")).items():
        top = rows(full, test="keep", task=task, control="top", metric="fraction")
        np.testing.assert_array_equal(line(axes, "top")[0], [4, 8, 16, 32, 64, 128])
        np.testing.assert_allclose(line(axes, "top")[1], top["value"])
        ends = {tuple(np.round(end, 9)) for end in zip(top["k"], top["low"], top["high"], strict=True)}
        assert intervals(axes) == ends
        random = rows(full, test="keep", task=task, control="random", metric="fraction")
        np.testing.assert_allclose(line(axes, "random")[1], random.groupby("k")["value"].mean())
        cpr, cmd = axes.texts[0].get_text().splitlines()
        area = rows(full, test="keep", task=task, control="top", metric="cpr").iloc[0]
        interval = f"({area['low']:.2f} to {area['high']:.2f})"
        assert cpr == f"CPR {area['value']:.2f} {interval}; random 0.45"
        assert cmd.startswith(f"CMD {1 - area['value']:.2f} (")


def test_specificity_draws_every_pair_outlines_the_own_and_centres_zero(full):
    matrix, own, perplexity, bar = draw(full, "specificity").axes
    (image,) = matrix.get_images()
    assert image.get_clim()[0] == -image.get_clim()[1]
    measured = [*made.COGNITIVE, "Neutral"]
    assert [label.get_text() for label in matrix.get_xticklabels()] == measured
    numbers = {text.get_position(): text.get_text() for text in matrix.texts}
    for i, task in enumerate(made.COGNITIVE):
        for j, eval_task in enumerate(measured):
            row = rows(full, test="specificity", task=task, eval_task=eval_task, control="top", metric="logprob").iloc[
                0
            ]
            assert image.get_array()[i, j] == pytest.approx(row["value"] - row["baseline"])
            assert numbers[j, i] == f"{row['value'] - row['baseline']:+.2f}".replace("-", "−")
    corners = {(round(patch.get_x() + 0.47), round(patch.get_y() + 0.46)) for patch in matrix.patches}
    assert corners == {(i, i) for i in range(8)}
    beyond = rows(full, test="specificity", control="own minus others", metric="logprob").set_index("task")
    points = [dot for dot in own.lines if dot.get_marker() == "o"]
    for i, (task, dot) in enumerate(zip(made.COGNITIVE, points, strict=True)):
        assert dot.get_xdata()[0] == beyond["value"][task] and dot.get_ydata()[0] == i
        includes_zero = beyond["low"][task] <= 0 <= beyond["high"][task]
        assert (dot.get_markerfacecolor() == "white") == includes_zero
    assert intervals(own) == expected(beyond, range(8))
    plain = rows(full, test="specificity", metric="perplexity").set_index("task")["value"]
    assert [t.get_text() for t in perplexity.texts] == [f"21.7 → {plain[task]:.1f}" for task in made.COGNITIVE]
    assert bar.get_xlabel() == "Change of log-probability (nats)"


def test_hierarchy_draws_the_difference_marks_the_sure_and_prints_both_sides(full):
    axes = draw(full, "hierarchy").axes[0]
    (image,) = axes.get_images()
    texts = iter(axes.texts)
    lows = ["Retrieval", "Knowledge Recall", "Semantic Understanding", "Syntactic Understanding"]
    highs = ["Math Calculation", "Inference", "Logical Reasoning", "Decision-making"]
    marks = set()
    for i, low in enumerate(lows):
        for j, high in enumerate(highs):
            found = rows(full, test="hierarchy", task=low, eval_task=high, metric="logprob")
            beyond = found[found["control"] == "top minus random"].iloc[0]
            assert image.get_array()[i, j] == beyond["value"]
            sure = bool(beyond["low"] > 0 or beyond["high"] < 0)
            marks.add(sure)
            large, small = next(texts), next(texts)
            assert large.get_text() == f"{beyond['value']:+.2f}".replace("-", "−") + "*" * sure
            assert large.get_weight() == ("bold" if sure else "normal")
            change = (found["value"] - found["baseline"]).groupby(found["control"]).mean()
            wanted = f"top {change['top']:+.2f}\nrandom {change['random']:+.2f}"
            assert small.get_text() == wanted.replace("-", "−")
    assert marks == {True, False}


def test_steer_draws_gains_on_the_task_and_costs_on_neutral_text(full):
    columns = draw(full, "steer").axes
    assert [axes.get_title().split("\n")[1] for axes in columns] == ["on the task", "on the task (nats)", "on neutral text (nats)"]  # fmt: skip # noqa: E501
    for axes, metric, neutral in zip(columns, ("accuracy", "logprob", "logprob"), (False, False, True), strict=True):
        for control in ("steer", "scale 0.5", "scale 1.5", "scale 2"):
            table = rows(full, test="steer", control=control, metric=metric)
            table = table[(table["eval_task"] == "Neutral") == neutral]
            change, places = line(axes, control)
            np.testing.assert_allclose(change, table["value"] - table["baseline"])
            assert [round(place) for place in places] == [made.COGNITIVE.index(task) for task in table["task"]]
            assert expected(table, places) <= intervals(axes)
    names = [label.get_text() for label in columns[0].get_yticklabels()]
    alpha = rows(full, test="steer", task="Retrieval", metric="alpha")["value"].iloc[0]
    assert names[1] == f"Retrieval\nα = {alpha:g}"
    assert names[2] == "Logical Reasoning\nnot steered"


def test_an_intervention_looks_the_same_whatever_else_was_done(full, tmp_path):
    table = full.evidence.query("test == 'steer'")
    table = table[table["control"] != "steer"].astype(object)
    alone = made.atlas(tmp_path / "atlas", tested=[])
    files.write_evidence(alone.path, table.where(table.notna(), None).to_dict("records"))
    looks = [
        {line.get_label(): (line.get_color(), line.get_marker()) for line in draw(atlas, "steer").axes[0].lines[1:]}
        for atlas in (full, Atlas(alone.path))
    ]
    assert len(set(looks[0].values())) == 4
    assert looks[1] == {control: look for control, look in looks[0].items() if control != "steer"}


def test_elbow_draws_the_curve_its_null_band_and_the_count(full):
    drawn = panels(draw(full, "elbow"))
    assert list(drawn) == list(made.COGNITIVE)  # in the order of the atlas
    for task, axes in drawn.items():
        own = full.diagnostics[full.diagnostics["task"] == task]
        curve = own[own["metric"] == "curve"].sort_values("place")
        count = own[own["metric"] == "elbow"]["value"].iloc[0]
        values, elbow = axes.lines
        np.testing.assert_array_equal(values.get_xdata(), np.arange(1, 271))
        np.testing.assert_array_equal(values.get_ydata(), curve["value"])
        assert elbow.get_xdata() == [count, count]
        assert axes.texts[0].get_text() == f"elbow at {count:.0f} of 270 heads"
        (band,) = axes.collections
        np.testing.assert_allclose(
            band.get_datalim(axes.transData).intervaly, [curve["low"].min(), curve["high"].max()]
        )


@pytest.mark.parametrize("name", made.SHOWN)
def test_the_same_atlas_gives_the_same_bytes(small, name, tmp_path):
    for i in range(2):
        draw(small, name, path=tmp_path / f"{i}.svg")
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()


@pytest.mark.parametrize("name", made.SHOWN)
def test_hostile_names_stand_as_they_are(hostile, tmp_path, name):
    draw(hostile, name, path=tmp_path / "figure.svg")
    written = (tmp_path / "figure.svg").read_text()
    if name != "hierarchy":  # its tasks are those of the cognitive suite
        for text in ("$x_{1}^$ costs $5", "snake_case_name_that", "[bold]not markup[/bold]", "Größe — naïve ±∞ 語彙"):
            assert text in written
        assert "nobody would want to read" not in written  # cut, so that it covers nothing
        assert "…" in written


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("name", [name for name in made.SHOWN if name != "hierarchy"])
def test_one_task_and_many(tmp_path, name, count):
    tasks = [f"Task {i}" for i in range(count)]
    atlas = made.atlas(tmp_path / "atlas", tasks, shape=(8, 6), ks=(4,), draws=5, neutral=count > 1)
    figure = draw(atlas, name)
    figure.draw_without_rendering()
    shown = [axes for axes in figure.axes if axes.get_title() in tasks]
    if name in ("specificity", "steer"):
        labels = [label.get_text().split("\n")[0] for label in figure.axes[0].get_yticklabels()]
        assert labels == tasks
    else:
        assert [axes.get_title() for axes in shown] == tasks
    width, height = figure.get_size_inches()
    assert 2 < width < 20 and 1 < height < 20


def test_no_panel_covers_another(full):
    for name in made.SHOWN:
        figure = draw(full, name)
        figure.draw_without_rendering()
        boxes = [axes.get_window_extent() for axes in figure.axes]
        for i, box in enumerate(boxes):
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert not any(box.overlaps(other) for other in boxes[i + 1 :]), name


@pytest.mark.parametrize("name", [name for name in made.SHOWN if name not in ("importance", "profiles", "elbow")])
def test_numbers_that_are_not_known_leave_gaps(tmp_path, name):
    """Few groups give no interval, and a value may be missing altogether."""
    atlas = made.atlas(tmp_path / "atlas", draws=5)
    table = atlas.evidence.assign(low=np.nan, high=np.nan)
    table.loc[table.index % 3 == 0, "value"] = np.nan
    files.write_evidence(atlas.path, table.astype(object).where(table.notna(), None).to_dict("records"))
    figure = draw(Atlas(atlas.path), name)
    figure.draw_without_rendering()
    assert not any(intervals(axes) for axes in figure.axes)
    assert "nan" not in " ".join(text.get_text() for axes in figure.axes for text in axes.texts)


def test_where_no_random_heads_are_left_the_rest_is_drawn(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a", "b"], draws=5)
    table = atlas.evidence
    compared = table["control"].isin(["random", "top minus random"]) | (table["metric"] == "p_value")
    table = table[~(compared & ((table["k"] > 8) | (table["task"] == "b")))].astype(object)
    files.write_evidence(atlas.path, table.where(table.notna(), None).to_dict("records"))
    changed = Atlas(atlas.path)
    for name in ("mask", "keep"):
        a, b = draw(changed, name, path=tmp_path / f"{name}.svg").axes
        assert line(a, "random")[0].max() == 8
        assert not len(line(b, "random")[0])
        assert line(a, "top")[0].max() >= 32
    a, b = draw(changed, "mask").axes
    assert a.texts[0].get_text().endswith("with 8 removed")
    assert not b.texts


def test_a_single_number_of_heads_is_drawn_as_points(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a"], ks=(8,), draws=20)
    (axes,) = draw(atlas, "mask").axes
    drawn = rows(atlas, test="mask", control="random", metric="logprob")
    change = drawn["value"] - drawn["baseline"]
    wanted = tuple(np.round((8, change.quantile(0.025), change.quantile(0.975)), 9))
    assert wanted in intervals(axes)  # a band would have no width
    assert axes.get_xlim()[0] < 8 < axes.get_xlim()[1]
