"""Curves and recoveries in the report: what was removed, against what, and the areas that sum it up."""

import numpy as np
import pytest

from headatlas.atlas.records import Evidence
from tests.atlases import Known, write_atlas
from tests.views.report.reading import report, test_section


def level(test, control, k, value, metric="logprob", intact=-1.0, **more):
    return Evidence(test, "A", "A", control, metric, value, intact, value - 0.1, value + 0.1, k, **more)


def mask(p, k=4):
    rows = [level("mask", "top", k, -3.0), level("mask", "lowest", k, -1.01)]
    rows += [level("mask", "random", k, -1.2 + 0.01 * draw, draw=draw) for draw in range(20)]
    rows.append(
        Evidence("mask", "A", "A", "top", "logprob", -1.895, 0, -2.1, -1.7, k, compared_with="random", p_value=p)
    )
    return rows


@pytest.fixture
def told(tmp_path):
    """The section about a test of attribution's maps."""

    def section_of(rows, **maps):
        method = maps.get("method", "attribute")
        atlas = write_atlas(tmp_path / "atlas", [Known(np.ones((3, 4)), task="A", **maps)], evidence={method: rows})
        return test_section(report(atlas, findings=[]), rows[0].test, method)

    return section_of


def test_the_sentence_says_that_heads_were_removed(told):
    text = told(mask(0.048))
    assert (
        "- A: with 4 heads removed (top) the log-probability changes by −2.000 (−2.100 to −1.900), 20 random choices "
        "−0.105 on average; p 0.048: more than chance."
    ) in text
    assert (
        "| A | log-probability (nats) | 4 | −1.000 | −3.000 | −3.100 to −2.900 | −1.105 (−1.195 to −1.015, 20 draws) | "
        "−1.010 | 0.048 |"
    ) in text


def test_one_head_and_chance(told):
    assert "- A: with 1 head removed (top) the log-probability changes by −2.000" in told(mask(0.3, k=1))
    assert "p 0.3: not more than chance." in told(mask(0.3, k=1))


def test_the_areas_reach_the_report(told):
    rows = [level("keep", "none", 0, -7.0), level("keep", "top", 8, 0.6, "fraction", 1.0)]
    rows += [level("keep", "random", 8, value, "fraction", 1.0, draw=draw) for draw, value in enumerate((0.1, 0.3))]
    for control, cpr in (("top", 0.7), ("random", 0.4)):
        rows.append(Evidence("keep", "A", "A", control, "cpr", cpr, None, cpr - 0.05, cpr + 0.05))
        rows.append(Evidence("keep", "A", "A", control, "cmd", 1 - cpr, None, 0.95 - cpr, 1.05 - cpr))
    text = told(rows)
    assert "| task | heads | CPR | 95 % interval | CMD | 95 % interval |" in text
    assert "| A | top | 0.700 | 0.650 to 0.750 | 0.300 | 0.250 to 0.350 |" in text
    assert "| A | random | 0.400 | 0.350 to 0.450 | 0.600 | 0.550 to 0.650 |" in text
    assert (
        "| A | recovered fraction | 8 | 1.000 | 0.600 | 0.500 to 0.700 | 0.200 (0.105 to 0.295, 2 draws) | – |" in text
    )
    assert "| A | log-probability (nats) | 0 | −1.000 | – | – | – | −7.000 |" in text


def test_several_choices_and_the_points_beside_their_curves(told):
    rows = [level("order", "facilitation", 5, -3.0), level("order", "interference", 5, -0.8)]
    rows += [level("order", "random", 5, -1.5, draw=0), level("order", "facilitation", 12, -4.0, factor=0.5)]
    text = told(rows, method="gate", measure="facilitation")
    assert "| A | log-probability (nats) | 5 | −1.000 | facilitation | −3.000 | −3.100 to −2.900 | −1.500 |" in text
    assert "| A | log-probability (nats) | 5 | −1.000 | interference | −0.800 | −0.900 to −0.700 | −1.500 |" in text
    assert "| A | log-probability (nats) | facilitation | 0.5 | 12 | −3.000 | −3.100 to −2.900 |" in text
    assert "| A | log-probability (nats) | 12 |" not in text  # it is not on the curve
