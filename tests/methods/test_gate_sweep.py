import numpy as np
import pytest

from headatlas.errors import UsageError
from headatlas.methods.gate import Gate
from headatlas.methods.gate_sweep import sweep
from headatlas.roles import MEASURES
from tests.methods import planted_gates


def test_with_a_large_lambda_a_helper_goes_and_a_saboteur_stays(tmp_path):
    """The penalty of a head is lambda / heads per unit of logit: far above what the head is worth it decides alone."""
    job = planted_gates.work(tmp_path)
    found = sweep(job, "Red", (0.1, 100.0), seed=3)
    assert len(found.heads) == 2 * len(MEASURES) * len(job.heads)
    table = found.summary.pivot(index="strength", columns="measure", values="value")
    np.testing.assert_allclose(table["facilitation"], [1 / 12, 0])
    np.testing.assert_allclose(table["interference"], [1 / 12, 0])
    np.testing.assert_allclose(table["irrelevance"], [10 / 12, 1])
    assert table["plus_binary_nll"][100.0] == pytest.approx(table["full_nll"][100.0])
    assert table["minus_binary_nll"][0.1] < table["full_nll"][0.1] - 1
    helper = found.heads.query("layer == 2 and head == 0 and measure == 'facilitation'").set_index("strength")["value"]
    assert helper[0.1] > 0.9 and helper[100.0] < 0.1


def test_it_finds_the_fits_of_the_method_again(tmp_path):
    job = planted_gates.work(tmp_path)
    measured = Gate().measure(job)
    before = len(job.runner.computed)
    found = sweep(job, "Red", (0.1,))
    assert len(job.runner.computed) == before
    expected = next(m for m in measured.maps if m.measure == "irrelevance").summary.mean
    np.testing.assert_array_equal(found.heads.query("measure == 'irrelevance'")["value"], expected)


def test_lambdas_are_positive_and_some(tmp_path):
    job = planted_gates.work(tmp_path)
    with pytest.raises(UsageError, match="A sweep over no lambda"):
        sweep(job, "Red", ())
    with pytest.raises(UsageError, match="lambda = -0.1 was given for the stage 'plus'"):
        sweep(job, "Red", (0.1, -0.1))
