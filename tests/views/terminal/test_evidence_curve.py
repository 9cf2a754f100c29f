"""Curves in a terminal."""

from headatlas.views.terminal import evidence_tables
from headatlas.wording import decimal, interval, p_value, signed
from tests.atlases import rewrite_evidence, rich_atlas
from tests.views.terminal.printing import cells, change, change_interval, difference, level, mean_change, printed

MASK = {"test": "mask", "method": "probe", "task": "Inference"}


def test_one_choice_of_heads_at_the_most_of_them(full):
    text = printed(evidence_tables(full, "probe"))
    top = level(full, control="top", metric="logprob", **MASK)
    random = full.evidence.query("test == 'mask' and method == 'probe' and task == 'Inference'")
    random = random[(random["control"] == "random") & (random["metric"] == "logprob") & (random["k"] == top["k"])]
    tested = [p_value(difference(full, **MASK)[name]) for name in ("p_value", "q_value")]
    wanted = [f"{top['k']:.0f}", decimal(top["intact"]), change(top), *change_interval(top), mean_change(random)]
    wanted += tested
    assert cells(text, "mask", "Inference") == wanted


def test_the_most_heads_are_those_that_random_ones_are_left_for(full, tmp_path):
    rows = full.evidence.query("test == 'mask' and method == 'probe'")
    compared = (rows["control"] == "random") | rows["compared_with"].notna()
    atlas = rich_atlas(tmp_path / "atlas", unmapped=(), shape=(12, 6), tests=["mask"], tested=["probe"])
    atlas = rewrite_evidence(atlas, rows[~((rows["k"] > 4) & compared)])
    row = cells(printed(evidence_tables(atlas, "probe")), "mask", "Inference")
    at_four = rows[(rows["task"] == "Inference") & (rows["control"] == "top") & (rows["k"] == 4)]
    at_four = at_four[(at_four["metric"] == "logprob") & at_four["compared_with"].isna()].iloc[0]
    assert row[0] == "4" and row[2] == change(at_four)


def test_several_choices_by_number_without_the_two_ends(full):
    text = printed(evidence_tables(full, "gate"))
    assert cells(text, "order", "task") == ["heads", "removed", "1", "4", "16", "64"]  # not 0, not all 72
    rows = full.evidence.query("test == 'order' and task == 'Retrieval' and factor.isna()")
    changes = (rows["value"] - rows["intact"]).groupby([rows["control"], rows["k"]]).mean()
    wanted = ["facilitation", *(signed(changes["facilitation"][k]) for k in (1, 4, 16, 64))]
    assert cells(text, "order", "Retrieval") == wanted


def test_recovery_at_each_size_with_the_area(full):
    text = printed(evidence_tables(full, "probe"))
    rows = full.evidence.query("test == 'keep' and method == 'probe' and task == 'Retrieval' and control == 'top'")
    fractions = [decimal(value) for value in rows[rows["metric"] == "fraction"]["value"]]
    area = rows[rows["metric"] == "cpr"].iloc[0]
    ends = interval(area["low"], area["high"]).split()
    assert cells(text, "keep", "Retrieval") == ["top", *fractions, decimal(area["value"]), *ends]
    assert cells(text, "keep", "task")[2:8] == ["4", "8", "16", "32", "64", "CPR"]
