import numpy as np
import pytest

from headatlas.atlas.records import Diagnostic
from headatlas.methods.sense.sense import LOSS, MASKS, PER_MASK, R2
from headatlas.patterns.agreement import agreement
from headatlas.views.page.agreement import describe_agreement, describe_notes, describe_nulls, describe_reported
from headatlas.views.report.report import write_report
from tests.atlases import Known, rich_atlas, write_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("agreement") / "atlas", shape=(12, 9), tested=())


@pytest.fixture(scope="module")
def tables(atlas):
    return {table["title"]: table for table in describe_agreement(atlas)}


def test_methods_are_compared_as_in_the_patterns(atlas, tables):
    table, rows = tables["Method with method"], agreement(atlas)
    row = rows.query("kind == 'methods' and first == 'probe' and second == 'gate' and task == 'Retrieval'").iloc[0]
    cell = table["cells"][table["rows"].index("probe – gate")][table["columns"].index("Retrieval")]
    assert cell["value"] == pytest.approx(row.correlation, rel=1e-3)
    assert cell["small"].startswith(f"{row.shared}/{row.k} (")


def test_pairs_of_seeds_are_averaged(atlas, tables):
    table, rows = tables["Seed with seed"], agreement(atlas)
    pairs = rows[(rows.kind == "seeds") & rows["first"].str.startswith("gate ") & (rows.task == "Inference")]
    cell = table["cells"][table["rows"].index("gate")][table["columns"].index("Inference")]
    assert len(pairs) == 3 and cell["value"] == pytest.approx(pairs.correlation.mean(), rel=1e-3)
    assert cell["title"] == "3 pairs of seeds, 108 heads"
    assert table["rows"] == ["probe", "gate"]  # those with several seeds


def test_halves_are_shown_apart_from_other_numbers(atlas, tables):
    table = tables["Half with half"]
    rows = atlas.diagnostics.query("metric == 'half correlation'")
    assert [cell["value"] for cell in table["cells"][0]] == pytest.approx(rows.value.tolist(), rel=1e-3)
    names = [name for by_task in describe_reported(atlas)["by_task"] for name, _ in by_task["rows"]]
    assert "probe: recall" in names and "probe: half correlation" not in names


def test_notes_are_those_of_the_report(tmp_path):
    entries = [
        Diagnostic("sense", name, value, "A") for name, value in ((MASKS, 200), (PER_MASK, 34), (LOSS, 1), (R2, 0.9))
    ]
    atlas = write_atlas(tmp_path / "a", [Known(np.ones((2, 3)), method="sense", task="A")], diagnostics=entries)
    (note,) = describe_notes(atlas)
    assert note["title"] == "Random masks of heads" and note["rows"] == (("A", "200", "34.0", "1.00", "0.90"),)
    assert all(sentence in (write_report(atlas, findings=[])).read_text() for sentence in note["sentences"])


def test_numbers_by_task_are_means_over_seeds_with_their_range(atlas):
    by_task = {name: cells for entry in describe_reported(atlas)["by_task"] for name, cells in entry["rows"]}
    sizes = atlas.diagnostics.query("metric == 'circuit_size' and task == 'Knowledge Recall'").value
    text, title = by_task["gate: circuit size"][0]
    assert float(text) == pytest.approx(sizes.mean(), rel=5e-3)
    assert title == f"{sizes.min():.0f} to {sizes.max():.0f} over 3 seeds"
    assert "gate: full NLL" in by_task and not any("facilitating" in name for name in by_task)


def test_a_null_band_is_not_called_an_interval(atlas):
    overall = {entry["name"]: entry for entry in describe_reported(atlas)["overall"]}
    assert overall["probe: accuracy"]["range"] == "0.74 to 0.83"
    assert overall["probe: shuffled accuracy"]["range"] == "null: 0.08 to 0.19"


def test_bands_of_sorted_sizes_are_thinned_and_carry_the_elbow(tmp_path):
    made_up = rich_atlas(tmp_path / "a", shape=(30, 9), methods=["probe"], tested=())
    null = describe_nulls(made_up)[0]
    rows = made_up.diagnostics.query("task == @null['task']")
    assert null["elbow"] == rows.query("metric == 'elbow'").value.iloc[0]
    assert len(null["rank"]) < 270 and null["rank"][0] == 1 and null["rank"][-1] == 270
    assert null["null_high"][0] == pytest.approx(
        rows.query("metric == 'curve' and rank == 1").null_high.iloc[0], rel=1e-3
    )


def test_one_method_with_one_seed_agrees_with_nothing(tmp_path):
    made_up = write_atlas(tmp_path / "a", [Known(np.arange(16.0).reshape(4, 4))])
    assert describe_agreement(made_up) == []
