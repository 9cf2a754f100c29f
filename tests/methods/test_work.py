"""What a method says that it will do is what it does."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from headatlas.methods import effects, rehearse
from headatlas.methods.ablate import Ablate
from headatlas.methods.attention import Attention
from headatlas.methods.attribute import Attribute
from headatlas.methods.gate.contrast import Contrast
from headatlas.methods.gate.gate import Gate
from headatlas.methods.probe.probe import Probe
from headatlas.methods.repair.repair import Repair
from headatlas.methods.sense.sense import Sense
from headatlas.model.sharing import Sharing
from headatlas.run.cells import Runner
from headatlas.run.competence import competence, competence_step
from headatlas.run.quantity import plan_quantity
from headatlas.run.work import NotingRunner
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_beginnings import with_headers
from tests.run.test_quantity import twin_suite

SUITES = {"mean": tiny.suite(), "pair": tiny.copying(24), "twin": twin_suite()}


@dataclass
class Counting(Runner):
    """Counts by title what is really computed: cells, their tokens, and calls of the model while they are."""

    done: dict[str, list[int]] = field(default_factory=dict)

    def run(self, title, cells):
        before, calls = set(self.computed), Calls.count
        results = super().run(title, cells)
        new = {cell.key: cell for cell in cells if cell.key in self.computed - before}
        entry = self.done.setdefault(title, [0, 0, 0])
        for i, more in enumerate((len(new), sum(cell.tokens for cell in new.values()), Calls.count - calls)):
            entry[i] += more
        return results


class Calls:
    """Forwards of the model that is counted."""

    count = 0

    @classmethod
    def listen(cls, model):
        cls.count = 0

        def called(*_):
            cls.count += 1

        model.module.register_forward_pre_hook(called)


def planned(context, work):
    """By title: cells, tokens, forwards, the most tokens, and whether all of it is exact. Each cell once."""
    runner = NotingRunner()
    steps = work(context.with_runner(runner))
    seen, table = set(), {}
    for step in [*runner.steps, *steps]:
        new = {cell.key: cell for cell in step.cells if cell.key not in seen}
        seen |= set(new)
        tokens = sum(cell.tokens for cell in new.values())
        entry = table.setdefault(step.title, [0, 0, 0, 0, True])
        numbers = (len(new), tokens, sum(cell.forwards for cell in new.values()), max(tokens, step.most or 0))
        for i, more in enumerate(numbers):
            entry[i] += more
        entry[4] &= step.most is None
    return table


def compare(tmp_path, work, run, model=None, suite=None):
    """What was planned, and what was done, by title; exact steps have been compared."""
    context = run_context(tmp_path / "cells", model, suite)
    context.model.sharing  # noqa: B018 - found out by forwards of its own
    Calls.listen(context.model)
    plan = planned(context, work)
    assert Calls.count == 0 and not (tmp_path / "cells").exists()
    counting = Counting(tmp_path / "cells", tiny.Listener())
    run(context.with_runner(counting))
    for title, (cells, tokens, forwards, _, exact) in plan.items():
        if exact and cells:
            assert counting.done[title][:2] == [cells, tokens], title
            if title == "Generated answers":  # they may end early
                assert counting.done[title][2] <= forwards
            else:
                assert counting.done[title][2] == forwards, title
        assert counting.done.get(title, [0, 0])[1] <= plan[title][3], title
    assert {title for title, done in counting.done.items() if done[0]} <= set(plan)
    return plan, counting.done


def test_of_the_units_of_the_last_round_a_share_of_all_layers_is_expected():
    expected = rehearse.expected_units(np.arange(100, 140))
    assert len(set(expected)) == round(0.45 * 40) and set(expected) <= set(range(100, 140))
    assert expected.mean() == pytest.approx(119.5, abs=1)
    assert rehearse.expected_units(np.array([7, 8, 9])).tolist() == [8]
    assert rehearse.expected_units(np.array([7])).tolist() == [7]


def test_competence(tmp_path):
    plan, _ = compare(tmp_path, lambda context: [competence_step(context)], competence)
    assert plan["Competence"][0] > 1


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize(
    "method",
    [
        Attribute(),
        Attribute(baseline="resample"),
        Ablate(exact="all"),
        Ablate(exact=4),
        Ablate(exact=4, top=2, budget=0.6, enough=False),
    ],
    ids=lambda method: f"{method.info.name}-{getattr(method, 'exact', '')}-{getattr(method, 'top', '')}",
)
def test_methods(tmp_path, method, suite):
    plan, done = compare(tmp_path, method.work, method.measure, suite=SUITES[suite])
    assert sum(tokens for _, tokens, *_ in plan.values()) > 0
    assert any(exact for *_, exact in plan.values())
    if isinstance(method, Ablate) and method.exact == 4 and not method.top:
        # What is expected of rounds that depend on results is of the right size too.
        expected = sum(plan[title][1] for title in plan)
        ran = sum(tokens for _, tokens, _ in done.values())
        assert abs(math.log(expected / ran)) < math.log(1.6)


@pytest.mark.parametrize(
    "method",
    [Attention(), Probe(k=1), Probe(kind="paper", shuffles=10)],
    ids=lambda method: f"{method.info.name}-{getattr(method, 'kind', '')}",
)
def test_methods_without_a_baseline(tmp_path, method):
    plan, _ = compare(tmp_path, method.work, method.measure)
    assert all(exact for *_, exact in plan.values())


@pytest.mark.parametrize(
    "method",
    [
        Gate(steps=3, check=2, seeds=2),
        Contrast(keep="Colours", forget="Numbers", steps=3, seeds=2),
        Repair(leaders=1, candidates=2),
        Sense(masks=40, examples=4, pairs=3),
        Probe(answers="generated"),
    ],
    ids=lambda method: method.info.name,
)
def test_methods_whose_work_depends_on_results_stay_below_what_they_say(tmp_path, method):
    plan, _ = compare(tmp_path, method.work, method.measure)
    assert [exact for *_, exact in plan.values()].count(False) >= 1


@pytest.mark.parametrize("exact", ["all", 4])
def test_examples_that_begin_alike_are_counted_with_what_they_share(tmp_path, exact):
    method = Ablate(exact=exact, baseline="zero")
    plan, _ = compare(tmp_path, method.work, method.measure, suite=with_headers())
    assert plan


def test_a_model_that_shares_nothing_stays_below_it_too(tmp_path):
    model = tiny.model()
    model.sharing = Sharing(False, False, False, False)
    method = Ablate(exact=4, enough=False)
    compare(tmp_path, method.work, method.measure, model, SUITES["twin"])


def test_memory_of_looks_follows_from_how_many_there_are(tmp_path):
    """A forward has room for many copies of a short example, of which few are needed."""
    context = run_context(tmp_path, suite=SUITES["twin"])
    quantity = plan_quantity(context, "Colours")
    few, many = [[(1, (0,))]] * len(quantity.items), [[(1, (head,)) for head in range(4)] * 20] * len(quantity.items)
    (_, batch, _), *_ = effects.cells_of_own({"Colours": quantity}, {"Colours": few})
    small, large = (effects.own_load(quantity, units, batch) for units in (few, many))
    assert small.copies == 1 < large.copies
    assert small.recorded == 1
