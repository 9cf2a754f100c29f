"""The report: every number in it is in the atlas, and nothing is said where the atlas has no number."""

import re

import numpy as np

from headatlas.atlas.records import Diagnostic, Evidence
from tests.atlases import competent, measured, rich_atlas, write_atlas
from tests.views.report.reading import report, section

HOSTILE = "a|b `c` <script>x</script> *d* [e](f) &amp; \n| g | $h$ _i_"


def maps(*tasks, shape=(10, 6)):
    rng = np.random.default_rng(0)
    late = np.arange(shape[0])[:, None] >= 6
    return [measured(np.where(late, 9 * rng.normal(size=shape), 0), 1.0, rng, task=task) for task in tasks]


def mask(task):
    return {"attribute": [Evidence("mask", task, task, "top", "logprob", -3.0, -1.0, -3.1, -2.9, 4)]}


def test_the_whole_story(tmp_path):
    entries = [
        Diagnostic("probe", "recall", 0.81, "A", low=0.75, high=0.86),
        Diagnostic("probe", "shuffled accuracy", 0.5, null_low=0.4, null_high=0.6),
        Diagnostic("probe", "curve", 1, "A", rank=3),
    ]
    judged = [competent("A"), competent("B"), competent("C", able=False)]
    text = report(write_atlas(tmp_path / "atlas", maps("A", "B"), None, judged, mask("A"), entries))
    titles = re.findall(r"^## (.*)$", text, re.M)
    assert titles == [
        "What the model can do",
        "What each head is for",
        "How sure",
        "Tested how",
        "What is not shown",
        "Settings",
    ]
    assert "- C is not competent: accuracy 0.30 (0.20 to 0.40), chance 0.25. It is not mapped." in text
    assert "| probe | recall | A | 0.81 | 0.750 to 0.860 | – | 1 |" in text
    assert "| probe | shuffled accuracy | all tasks | 0.5 | – | 0.400 to 0.600 | 1 |" in text
    assert "curve" not in text
    assert "A lies late" in section(text, "What each head is for")
    assert "### Stability" in section(text, "How sure")
    assert "Nothing can be said about C" in section(text, "What is not shown")
    assert "verify" not in text


def test_every_number_of_competence_has_a_unit(tmp_path):
    part = section(report(write_atlas(tmp_path / "atlas", maps("A")), findings=[]), "What the model can do")
    assert (
        "| task | items | accuracy (share) | 95 % interval | chance (share) | exact match (share) | margin (nats) |"
        in part
    )
    assert "| A | 96 | 0.80 | 0.70 to 0.90 | 0.25 | 0.50 | 1.00 | −2.00 | competent |" in part


def test_how_the_run_was_made(tmp_path):
    whole = report(write_atlas(tmp_path / "atlas", maps("A"), kv_heads=2), findings=[])
    text = whole.split("\n## ")[0]
    assert "- Model: made-up (llama), 10 layers of 6 heads on 2 kv heads, float32 on cpu, fingerprint 0000" in text
    assert "- Suite: cognitive, 1 task; examples 48 to fit, 16 to choose, 32 to evaluate; fingerprint 1111" in text
    assert "- Preset standard. Methods: attribute; their settings stand at the end." in text
    assert whole.endswith("## Settings\n\n- attribute: baseline mean.\n")
    assert "- Finished 2026-01-01T00:01:00+00:00 after 60 s by headatlas map, headatlas 0.1.0." in text


def test_nothing_is_said_without_numbers(tmp_path):
    text = report(write_atlas(tmp_path / "atlas", maps("A")))
    assert (
        "Tested how" not in text
        and "independent causal methods" not in text
        and "beside their maps" not in text
        and "Agreement" not in text
    )
    assert "nan" not in text and "None" not in text


def test_hostile_names_stay_names(tmp_path):
    text = report(rich_atlas(tmp_path / "atlas", [HOSTILE, "B"], (6, 4), draws=3), findings=[])
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"(?<!\\)`c", text)
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.M)
    assert len(blocks) > 40
    for block in blocks:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1  # no cell was broken in two
