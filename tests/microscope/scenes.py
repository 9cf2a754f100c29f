"""Views of tasks without a map: the ranking is given."""

from headatlas.microscope.portrait import portraits
from headatlas.microscope.view import TaskView
from headatlas.planted import PLANTED
from headatlas.run.quantity import plan_quantity
from headatlas.suites import load_suite
from headatlas.suites.suite import HELD_OUT
from tests.run.contexts import run_context


def view(context, task, ranking, heads=None, examples=None, **quantity):
    """The held-out examples of a task, heads in the order given; all of these heads are asked for unless told."""
    planned = plan_quantity(context, task, HELD_OUT, **quantity)
    planned = planned.only(range(min(examples or 1000, len(planned.items))))
    return TaskView("ablate", planned, ranking, tuple(sorted(heads or ranking)), {})


def look(folder, name, examples=None, noise=(), **quantity):
    """Portraits by head of a planted model's heads (and of heads of noise), and the graphs."""
    planted = PLANTED[name]
    context = run_context(folder, planted.build(), planted.suite(0))
    views = [
        view(context, task, [*planted.roles.get(task, {}), *noise], examples=examples, **quantity)
        for task in context.tasks
    ]
    heads = list(dict.fromkeys(head for one in views for head in one.heads))
    plain = {split: part.examples for split, part in load_suite("neutral").split().items()}
    found, graphs = portraits(context, views, heads, plain)
    return {(one.layer, one.head): one for one in found}, graphs
