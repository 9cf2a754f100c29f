import numpy as np

from headatlas.methods.gate.roles import MEASURES, always, at_least_once, calls, roles


def test_roles_follow_from_the_two_gates():
    """A needed head stays when urged to go; a harmful one goes when urged to stay; the others do as they are told."""
    needed, harmful, obedient = (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)
    measures = roles(*zip(needed, harmful, obedient, strict=True))
    assert tuple(measures) == MEASURES
    np.testing.assert_array_equal(measures["facilitation"], [1, 0, 0])
    np.testing.assert_array_equal(measures["interference"], [0, 1, 0])
    np.testing.assert_array_equal(measures["irrelevance"], [0, 0, 1])
    half = roles([0.8], [0.3])
    np.testing.assert_allclose([half[m][0] for m in MEASURES], [0.3, 0.2, 0.8 * 0.7, 0.8, 0.3])


def test_always_is_the_minimum_and_any_the_maximum_over_seeds():
    stack = [[[0.1, 0.9]], [[0.4, 0.2]]]
    np.testing.assert_array_equal(always(stack), [[0.1, 0.2]])
    np.testing.assert_array_equal(at_least_once(stack), [[0.4, 0.9]])


def test_a_call_is_one_of_four():
    np.testing.assert_array_equal(calls([1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]), [0, 1, 2, 3])
