"""The heads that methods agree on: values, marks and rules."""

import numpy as np

from headatlas.patterns import find_consensus
from headatlas.views.known_heads import known_heads_line
from headatlas.views.terminal import consensus_table
from tests.atlases import Known, write_atlas
from tests.views.terminal.printing import printed


def two_methods(folder, agree=True):
    """20 heads: the first one of an estimate counts."""
    needed, p = np.full((5, 4), -0.1), np.ones((5, 4))
    needed[1, 2], needed[0, 3], p[1, 2], p[0, 3] = 0.5, 0.25, 1e-5, 1e-5
    estimated = np.zeros((5, 4))
    estimated[(1, 2) if agree else (4, 0)] = 2.0
    maps = [Known(needed, np.ones((5, 4)), p, method="ablate"), Known(estimated, method="attribute")]
    return find_consensus(write_atlas(folder, maps))


def test_values_marks_and_rules(tmp_path):
    lines = printed([consensus_table(two_methods(tmp_path / "atlas"), 5, 20)]).splitlines()
    assert lines[0].strip() == "Task: heads that at least two independent causal methods support"
    assert lines[1].split() == ["ablate", "attribute"]
    assert lines[2].split() == ["rank", "head", "methods", "needed", "(nats)", "needed", "(nats)"]
    assert lines[3].split() == ["1", "L1H2", "2", "+0.5000*", "+2.0000*"]
    assert lines[4].strip() == "1 head of 20. As many picks at random would agree on about 0.1."
    assert lines[5:7] == [
        "* ablate (exact effects on fit and choose examples): q below 0.05, needed above zero; 2 heads.",
        "* attribute (gradients on fit examples): among its first 1 head, 5 % of those measured (estimate, no p); "
        "1 head.",
    ]


def test_every_method_has_its_record_beside_it(tmp_path):
    text = " ".join(printed([consensus_table(two_methods(tmp_path / "atlas"), 5, 20)]).split())
    for method in ("ablate", "attribute"):
        assert f"{method}: {known_heads_line(method)}" in text


def test_no_agreement_is_said_without_an_empty_table(tmp_path):
    text = printed([consensus_table(two_methods(tmp_path / "atlas", agree=False), 5, 20)])
    assert "0 heads of 20." in text and "rank" not in text
