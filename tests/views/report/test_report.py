"""The report: every number in it is in the atlas, and nothing is said where the atlas has no number."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from headatlas.run.context import Diagnostic
from headatlas.views.report.markdown import plain
from headatlas.views.report.report import write_report
from tests.atlases import competent, measured, write_atlas

HOSTILE = "a|b `c` <script>x</script> *d* [e](f) &amp; \n| g | $h$ _i_"


def maps(*tasks, shape=(10, 6)):
    rng = np.random.default_rng(0)
    late = np.arange(shape[0])[:, None] >= 6
    return [measured(np.where(late, 9 * rng.normal(size=shape), 0), 1.0, rng, task=task) for task in tasks]


def row(test, task, control, k, value, draw=None, metric="logprob", eval_task=None, baseline=-1.0, reach=0.1):
    return {
        "model": "made", "method": "attribute", "test": test, "task": task, "eval_task": eval_task or task,
        "control": control, "k": k, "draw": draw, "metric": metric, "value": value, "baseline": baseline,
        "low": value - reach, "high": value + reach,
    }  # fmt: skip


def evidence():
    rows = [row("mask", "A", "top", 4, -3.0), row("mask", "A", "lowest", 4, -1.01)]
    rows += [row("mask", "A", "random", 4, -1.2 + 0.01 * draw, draw) for draw in range(20)]
    rows.append(row("mask", "A", "top", 4, 0.048, metric="p_value"))
    rows += [row("specificity", a, "top", 4, -3.0 if a == b else -1.5, eval_task=b) for a in "AB" for b in "AB"]
    rows.append(row("steer", "A", "add", 4, -0.5))
    return rows


def report(atlas) -> str:
    path = write_report(atlas)
    assert path == atlas.path / "report.md"
    return path.read_text()


def section(text: str, title: str) -> str:
    return text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_whole_story(tmp_path):
    found = [
        Diagnostic("probe", "accuracy", 0.81, "A", low=0.75, high=0.86),
        Diagnostic("probe", "curve", 1, "A", place=3),
    ]
    judged = [competent("A"), competent("B"), competent("C", able=False)]
    text = report(write_atlas(tmp_path / "atlas", maps("A", "B"), None, judged, evidence(), found))
    titles = re.findall(r"^## (.*)$", text, re.M)
    assert titles == ["What the intact model can do", "Strongest heads", "What the methods report beside their maps",
                      "Evidence", "Patterns", "Stability", "Limits"]  # fmt: skip
    assert "- C is not competent: accuracy 0.30 (0.20 to 0.40), chance 0.25. It is not mapped." in text
    assert "| probe | accuracy | A | 0.81 | 0.750 to 0.860 | 1 |" in text
    assert "curve" not in text
    assert "A lies late" in section(text, "Patterns")
    assert "Nothing can be said about C" in section(text, "Limits")
    assert "verify" not in text


def test_the_strongest_heads_are_those_of_the_table(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", maps("A"))
    rows = [
        line.split(" | ") for line in section(report(atlas), "Strongest heads").splitlines() if line.startswith("| A")
    ]
    for cells, expected in zip(rows, atlas.table("A").head(5).itertuples(), strict=True):
        assert cells[2:5] == [
            f"L{expected.layer}H{expected.head}",
            f"{expected.value:+.4f}",
            f"{expected.low:+.4f} to {expected.high:+.4f}",
        ]


def test_evidence_in_numbers(tmp_path):
    text = section(report(write_atlas(tmp_path / "atlas", maps("A", "B"), evidence=evidence())), "Evidence")
    assert (
        "- A: with its top 4 heads the log-probability changes by -2.000 (-2.100 to -1.900), 20 random choices " in text
    )
    assert "p 0.048: more than chance." in text
    assert (
        "| A | logprob | 4 | -1.000 | -3.000 | -3.100 to -2.900 | -1.105 (-1.195 to -1.015, 20 draws) | -1.010 |"
        in text
    )
    assert "| A | -2.000 | -0.500 |" in text and "| B | -0.500 | -2.000 |" in text
    assert "| A | A | add | 4 | logprob | -1.000 | -0.500 | -0.600 to -0.400 | 1 |" in text


def test_nothing_is_said_without_numbers(tmp_path):
    text = report(write_atlas(tmp_path / "atlas", maps("A")))
    assert "Evidence" not in text and "beside their maps" not in text and "Agreement" not in text
    assert "No intervention has tested these maps yet" in text
    assert "nan" not in text and "None" not in text


def test_hostile_names_stay_names(tmp_path):
    rows = [{**one, "task": HOSTILE, "eval_task": HOSTILE} for one in evidence()]
    text = report(write_atlas(tmp_path / "atlas", maps(HOSTILE, "B"), evidence=rows))
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"(?<!\\)`c", text)
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.M):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1  # no cell was broken in two


def test_text_that_needs_no_care_is_left_alone():
    assert plain("q < 0.05 & p > 0.1, Decision-making (L3H1)") == "q < 0.05 & p > 0.1, Decision-making (L3H1)"
    assert plain("a\n# b") == "a # b"


def command(*arguments, **changes):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"} | changes
    line = [sys.executable, "-m", "headatlas", "report", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env=environment)


def test_the_command(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", maps("A"))
    done = command(atlas.path)
    assert done.returncode == 0
    assert done.stdout.split() == [str(atlas.path / name) for name in ("report.md", "report.html")]
    findings = json.loads(command(atlas.path, "--json", "--draws", 100).stdout)
    assert {"kind", "tasks", "statement", "value", "effect", "null", "p", "p_adjusted", "supported", "heads"} <= set(
        findings[0]
    )
    nothing = command(atlas.path, "--pdf", PATH=str(tmp_path))
    assert nothing.returncode == 1 and "No browser was found" in nothing.stderr


@pytest.mark.parametrize(
    ("script", "code"), [('echo "%PDF" > "${5#--print-to-pdf=}"', 0), ("echo broken >&2; exit 3", 1)]
)
def test_pdf_comes_from_the_browser(tmp_path, script, code):
    atlas = write_atlas(tmp_path / "atlas", maps("A"))
    (atlas.path / "report.html").write_text("<p>page</p>")
    browser = tmp_path / "bin" / "chromium"
    browser.parent.mkdir()
    browser.write_text(f"#!/bin/sh\n{script}\n")
    browser.chmod(0o755)
    done = command(atlas.path, "--pdf", "--draws", 50, PATH=f"{browser.parent}:/usr/bin:/bin")
    assert done.returncode == code
    assert (atlas.path / "report.pdf").exists() == (code == 0)
    assert code == 0 or "could not print" in done.stderr


def circuits(sizes, sufficient, disjoint, task="A"):
    single = {"shared_by_all": 7.0, "jaccard_mean": 0.61, "jaccard_chance": 0.42} if len(sizes) > 1 else {}
    single |= {"sufficient_sets": sufficient, "disjoint_sufficient_sets": disjoint}
    found = [Diagnostic("gate", "circuit_size", size, task, seed) for seed, size in enumerate(sizes)]
    return found + [Diagnostic("gate", metric, value, task) for metric, value in single.items()]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (circuits([9, 12, 10], 3, 2), "9 to 12 heads left open, 7 of them in every fit; two fits share 0.61 of the "
         "heads of either, 0.42 by chance. 3 of 3 are sufficient by themselves, 2 of them share no head."),
        (circuits([9, 12], 2, 1), "2 of 2 are sufficient by themselves, no two of them are disjoint."),
        (circuits([9], 0, 0), "- A: one fit, urged to close, with 9 heads left open. 0 of 1 are sufficient by "
         "themselves."),
    ],
)  # fmt: skip
def test_circuits_are_told_in_words(tmp_path, found, said):
    atlas = write_atlas(tmp_path / "atlas", maps("A"), diagnostics=found)
    assert said in write_report(atlas, findings=[]).read_text()


def test_nothing_is_said_of_circuits_without_gates(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", maps("A"))
    assert "Circuits" not in write_report(atlas, findings=[]).read_text()
