from tests.atlases import measured
from tests.patterns.injected import LAYER, SHAPE, effects, supported


def test_a_task_with_more_large_effects_is_denser(tmp_path, rng):
    shares = {"A": 0.05, "B": 0.05, "Full": 0.6}
    maps = [
        measured(effects(rng, rng.random(SHAPE) < share, 10), 1.0, rng, task=task) for task, share in shares.items()
    ]
    by_task = {finding.tasks[0]: finding for finding in supported(tmp_path, maps, "density")}
    assert by_task["Full"].effect > 0.1
    assert by_task["Full"].statement.startswith("Full is denser than the 2 other tasks")


def test_a_task_that_lies_later_than_the_rest(tmp_path, rng):
    where = {"Recall": LAYER < 12, "Syntax": LAYER < 12, "Math": LAYER >= 12}
    maps = [measured(effects(rng, task_layers, 8), 1.0, rng, task=task) for task, task_layers in where.items()]
    by_task = {finding.tasks[0]: finding for finding in supported(tmp_path, maps, "depth difference")}
    assert by_task["Math"].value > 5
    assert by_task["Math"].statement.startswith("Math lies later than the 2 other tasks")


def test_two_tasks_are_compared_once(tmp_path, rng):
    where = {"A": LAYER < 8, "B": LAYER >= 12}
    maps = [measured(effects(rng, task_layers, 8), 1.0, rng, task=task) for task, task_layers in where.items()]
    (finding,) = supported(tmp_path, maps, "depth difference")
    assert finding.statement.startswith("A lies earlier than B")


def test_precision_alone_makes_no_difference_between_tasks(tmp_path, rng):
    """The same effects, measured well and badly: the noise of the second map is not its shape."""
    effect = effects(rng, LAYER >= 10, 10)
    maps = [measured(effect, noise, rng, 48, task=task) for task, noise in (("Sharp", 0.3), ("Blurred", 3.0))]
    assert supported(tmp_path, maps, "depth difference") == []
