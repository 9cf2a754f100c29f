"""The maps in words: what the numbers mean, and the strongest heads by the method's rule."""

import numpy as np

from headatlas.methods import METHODS
from headatlas.wording import head_list, head_name, interval, p_value, signed
from tests.atlases import Known, measured, rich_atlas, write_atlas
from tests.views.report.reading import report, section


def rows_of(text, task):
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(f"| {task} |")]


def test_what_every_method_says_about_its_numbers_stands_with_its_maps(tmp_path):
    text = report(rich_atlas(tmp_path / "atlas", ["A", "B"], (6, 4), tested=[]), findings=[])
    for name in ("probe", "attribute", "ablate", "gate", "attention"):
        info = METHODS[name].info
        part = section(text, f"{info.title} ({name})", 3)
        assert part.strip().startswith(info.meaning)
        assert f"- {info.measure(info.primary).label}: {info.measure(info.primary).meaning}." in part


def test_the_chosen_method_in_numbers(tmp_path):
    effect = np.zeros((5, 6))
    effect[1, 2], effect[2, 3] = 9.0, -20.0
    atlas = write_atlas(tmp_path / "atlas", [measured(effect, 1.0, np.random.default_rng(3), task="A")])
    part = section(report(atlas, findings=[]), "Attribution (attribute)", 3)
    assert "The 5 strongest heads of every task, largest needed first." in part
    for cells, row in zip(rows_of(part, "A"), atlas.table("A").head(5).itertuples(), strict=True):
        unsure = "" if row.q_value < 0.05 else " (not distinguishable from zero)"
        ends = interval(row.low, row.high, 4, sign=True)
        name = head_name(row.layer, row.head)
        assert cells == ["A", str(row.rank), name, signed(row.value, 4), ends, p_value(row.q_value) + unsure]


def test_a_method_without_errors_shows_the_range_over_its_seeds(tmp_path):
    rng = np.random.default_rng(0)
    maps = [Known(rng.random((3, 4)), method="gate", measure="facilitation", seed=seed, task="A") for seed in range(3)]
    atlas = write_atlas(tmp_path / "atlas", maps)
    part = section(report(atlas, findings=[]), "Causal head gating (gate)", 3)
    assert "largest facilitation first. Values are means of 3 seeds." in part
    assert "| task | rank | head | facilitation | range over seeds |" in part
    first = atlas.table("A").iloc[0]
    assert rows_of(part, "A")[0][3:] == [f"{first['value']:.4f}", interval(first["least"], first["most"], 4)]
    assert "interval" not in part and "zero" not in part


def test_other_methods_by_the_names_of_their_heads(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["A", "B"], (6, 4), tested=[])
    part = section(report(atlas, findings=[]), "Certified ablation (ablate)", 3)
    assert "| task | strongest heads, largest needed first |" in part
    assert rows_of(part, "A") == [["A", head_list(atlas.ranking("A", "ablate")[:5])]]
