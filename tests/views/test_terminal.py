"""Tables in the terminal: the numbers of the atlas, in words that stay readable."""

import io

import numpy as np
import pytest
from headatlas.atlas.reading import Atlas
from rich.console import Console

from headatlas.atlas import reading as files
from headatlas.run.context import Diagnostic
from headatlas.views.terminal import evidence_tables, probe_table
from tests.views.figures import made


def text(renderables, width=200):
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    for renderable in renderables:
        console.print(renderable)
    return console.file.getvalue()


def line(printed, name, table):
    """The cells of the row that begins with a name, in the table whose title begins with a word."""
    part = printed[printed.index(f"{table}: ") :]
    found = next(row for row in part.splitlines() if row.startswith(name))
    return found.removeprefix(name).split()


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return made.atlas(tmp_path_factory.mktemp("made") / "atlas")


def one(atlas, **wanted):
    found = atlas.evidence
    for column, value in wanted.items():
        found = found[found[column] == value]
    return found.sort_values("k").iloc[-1]


def change(row):
    return f"{row['value'] - row['baseline']:+.2f}"


def interval(row):
    return [f"{row['low'] - row['baseline']:+.2f}", "to", f"{row['high'] - row['baseline']:+.2f}"]


def test_mask_at_the_most_heads(full):
    printed = text(evidence_tables(full, "probe"))
    top = one(full, test="mask", task="Inference", control="top", metric="logprob")
    k = top["k"]
    random = full.evidence.query(
        "test == 'mask' and task == 'Inference' and control == 'random' and metric == 'logprob'"
    )
    random = random[random["k"] == k]
    p = one(full, test="mask", task="Inference", metric="p_value")["value"]
    mean = f"{(random['value'] - random['baseline']).mean():+.2f}"
    wanted = [f"{k:.0f}", f"{top['baseline']:.2f}", change(top), *interval(top), mean, f"{p:.2g}"]
    assert line(printed, "Inference", "Mask") == wanted


def test_mask_at_the_most_heads_that_random_ones_are_left_for(full, tmp_path):
    table = full.evidence.query("test == 'mask'")
    left = table[~((table["k"] > 4) & ((table["control"] == "random") | (table["metric"] == "p_value")))].astype(object)
    atlas = made.atlas(tmp_path / "atlas", tested=[])
    files.write_evidence(atlas.path, left.where(left.notna(), None).to_dict("records"))
    printed = text(evidence_tables(Atlas(atlas.path), "probe"))
    top = table[(table["task"] == "Inference") & (table["control"] == "top") & (table["k"] == 4)]
    assert line(printed, "Inference", "Mask")[0] == "4"
    assert line(printed, "Inference", "Mask")[2] == change(top[top["metric"] == "logprob"].iloc[0])


def test_keep_at_each_size(full):
    printed = text(evidence_tables(full, "probe"))
    own = full.evidence.query("test == 'keep' and task == 'Retrieval' and control == 'top'")
    fractions = [f"{value:.2f}" for value in own[own["metric"] == "fraction"]["value"]]
    area = own[own["metric"] == "cpr"].iloc[0]
    ends = [f"{area['low']:.2f}", "to", f"{area['high']:.2f}"]
    assert line(printed, "Retrieval", "Keep") == ["top", *fractions, f"{area['value']:.2f}", *ends]
    assert line(printed, "task", "Keep")[:6] == ["4", "8", "16", "32", "64", "128"]


def test_specificity_compares_heads_on_the_same_task(full):
    printed = text(evidence_tables(full, "probe"))
    cells = full.evidence.query("test == 'specificity' and control == 'top' and metric == 'logprob'")
    cells = cells[cells["eval_task"] == "Decision-making"].set_index("task")
    changes = cells["value"] - cells["baseline"]
    beyond = one(full, test="specificity", task="Decision-making", control="own minus others", metric="logprob")
    plain = one(full, test="specificity", task="Decision-making", metric="perplexity")
    own, others = changes["Decision-making"], changes.drop("Decision-making").mean()
    assert line(printed, "Decision-making", "Specificity") == [
        f"{own:+.2f}", f"{others:+.2f}", change(beyond), *interval(beyond), "21.7", "to", f"{plain['value']:.1f}",
    ]  # fmt: skip


def test_hierarchy_marks_what_is_sure(full):
    printed = text(evidence_tables(full, "probe"))
    marks = set()
    for low in ("Retrieval", "Knowledge Recall", "Semantic Understanding", "Syntactic Understanding"):
        wanted = []
        for high in ("Math Calculation", "Inference", "Logical Reasoning", "Decision-making"):
            row = one(full, test="hierarchy", task=low, eval_task=high, control="top minus random", metric="logprob")
            sure = bool(row["low"] > 0 or row["high"] < 0)
            marks.add(sure)
            wanted.append(f"{row['value']:+.2f}" + "*" * sure)
        assert line(printed, low, "Hierarchy") == wanted
    assert marks == {True, False}


def test_steer_gives_strength_gain_and_cost(full):
    printed = text(evidence_tables(full, "probe"))
    own = {"test": "steer", "task": "Inference", "control": "steer"}
    alpha = one(full, **own, metric="alpha")["value"]
    accuracy = one(full, **own, eval_task="Inference", metric="accuracy")
    logprob = one(full, **own, eval_task="Inference", metric="logprob")
    cost = one(full, **own, eval_task="Neutral", metric="logprob")
    wanted = [f"{alpha:g}", change(accuracy), *interval(accuracy), change(logprob), change(cost)]
    assert line(printed, "Inference", "Steer") == wanted
    assert "Logical Reasoning" not in printed[printed.index("Steer: ") :]  # it was not steered


def test_only_tests_that_were_run_are_printed(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a", "b"], tests=["keep"])
    printed = text(evidence_tables(atlas, "probe"))
    assert "Keep: " in printed
    assert not any(title in printed for title in ("Mask: ", "Specificity: ", "Hierarchy: ", "Steer: "))
    assert evidence_tables(atlas, "attribute") == []


def test_names_and_numbers_survive_a_narrow_terminal(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", made.HOSTILE, draws=3)
    printed = text(evidence_tables(atlas, "probe"), width=80)
    for title in ("Mask", "Specificity", "Steer"):
        part = printed[printed.index(f"{title}: ") :].split("\n\n")[0]
        assert "[bold]not" in part and "$x_{1}^$" in part
        assert all(len(row) <= 80 for row in part.splitlines())
        # Names may be cut, numbers not.
        assert not any("…" in row[30:] for row in part.splitlines())


def test_unknown_numbers_are_dashes(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a", "b"], draws=3)
    table = atlas.evidence.assign(low=np.nan, high=np.nan)
    table.loc[table["metric"] == "p_value", "value"] = np.nan
    files.write_evidence(atlas.path, table.astype(object).where(table.notna(), None).to_dict("records"))
    printed = text(evidence_tables(Atlas(atlas.path), "probe"))
    assert "nan" not in printed
    cells = line(printed, "a ", "Mask")
    assert cells[3] == "-" and cells[-1] == "-"


def write_probe(folder, low, high):
    atlas = made.atlas(folder, ["a", "b"], tested=[])
    values = {"accuracy": (0.79, 0.74, 0.83), "majority": (0.55, None, None), "text tf-idf": (0.71, 0.66, 0.76),
              "shuffled accuracy": (0.51, 0.40, 0.61), "gain over text": (0.08, low, high)}  # fmt: skip
    found = [Diagnostic("probe", name, value, low=a, high=b) for name, (value, a, b) in values.items()]
    # What is about one task, another seed or a curve has no place in the table.
    found += [Diagnostic("probe", "recall", 0.99, "a"), Diagnostic("probe", "accuracy", 0.11, seed=1)]
    files.write_diagnostics(folder, "made-up", found)
    return Atlas(atlas.path)


def test_the_probe_stands_beside_its_controls(tmp_path):
    printed = text([probe_table(write_probe(tmp_path / "atlas", 0.03, 0.13))])
    found = {row[:22].strip(): row[22:].split() for row in printed.splitlines()[2:]}
    assert found == {
        "probe of all heads": ["0.79", "0.74", "to", "0.83"],
        "tf-idf, text alone": ["0.71", "0.66", "to", "0.76"],
        "probe, shuffled labels": ["0.51", "0.40", "to", "0.61"],
        "majority": ["0.55", "-"],
        "gain over text": ["+0.08", "+0.03", "to", "+0.13", "better", "than", "the", "text", "alone"],
    }


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "better than the text alone"),
        (0.0, 0.2, "no better than the text alone"),
        (-0.04, 0.2, "no better than the text alone"),
        (-0.3, -0.1, "worse than the text alone"),
    ],
)
def test_a_gain_whose_interval_includes_zero_is_none(tmp_path, low, high, verdict):
    printed = text([probe_table(write_probe(tmp_path / "atlas", low, high))])
    assert printed.splitlines()[-1].rstrip().endswith(f"to {high:+.2f}  {verdict}")


def test_without_a_probe_there_is_no_table(tmp_path):
    assert probe_table(made.atlas(tmp_path / "atlas", ["a"], methods=["attribute"], tested=[])) is None
