"""Rounds of exact measurements: who is measured on how many examples, and that nothing is measured twice."""

import numpy as np
import pytest

from benchmarks.certificate import pull
from benchmarks.race import invented
from headatlas.methods import measurements, rounds
from headatlas.methods.attribute import mirrored
from headatlas.methods.certify import draw_examples
from headatlas.methods.effects import attributed_both_ways, kv_groups, single_heads
from headatlas.methods.measurements import EVERY, measure_all, nothing_measured
from headatlas.methods.rounds import LOOKS, begin_rounds, measure_in_rounds, more_turns, most_turns, run_rounds
from headatlas.run.quantity import plan_quantity
from headatlas.stats import summarise
from tests.run.contexts import run_context
from tests.run.test_quantity import twin_suite


@pytest.fixture
def quantities(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(72))
    return {task: plan_quantity(context, task) for task in context.tasks}


def no_twins(_):
    return {}


def kinds_of(quantities):
    context = next(iter(quantities.values())).context
    return single_heads(context.heads), kv_groups(context.model)


def test_all_heads_some_examples_a_fifth_more_and_the_strongest_all(quantities, monkeypatch):
    measured = []
    plain = measurements.exact_effects_with_own

    def counting(title, wanted, units, own, own_units):
        measured.extend((q.task, item.example.id, unit) for part, q in wanted.items() for item in q.items
                        for unit in units[part])  # fmt: skip
        measured.extend((task, item.example.id, unit) for task, q in own.items()
                        for item, some in zip(q.items, own_units[task], strict=True) for unit in some)  # fmt: skip
        return plain(title, wanted, units, own, own_units)

    monkeypatch.setattr(measurements, "exact_effects_with_own", counting)
    monkeypatch.setattr(rounds, "PREDICTED", -1.0)
    heads, groups = kinds_of(quantities)
    results = measure_in_rounds("", quantities, {}, (heads, groups), 6, 0.1, 0)
    everything = measure_all("", quantities, [*heads, *groups])
    looked = sum(int(result.looked.sum()) for result in results.values())
    assert len(measured) <= len(set(measured)) + looked, "nothing else is measured twice"
    for task, result in results.items():
        counts = [(result.turns[: len(heads)] == n).sum() for n in (6, more_turns(6), EVERY)]
        assert counts == [10, 1, 1]  # a fifth of twelve: two, one of which, a tenth of twelve, on all
        assert (result.turns[len(heads) :] == EVERY).sum() == 1  # a tenth of six groups, at least one
        known = np.isfinite(result.exact)
        np.testing.assert_allclose(result.exact[known], everything[task].exact[known], atol=1e-5)
        for unit, turns in enumerate(result.turns):
            drawn = np.arange(len(known)) if turns == EVERY else result.draw.first(turns).examples
            wanted = result.looked[:, unit].copy()
            wanted[drawn] = True
            assert known[:, unit].tolist() == wanted.tolist()
            assert result.looked[:, unit].sum() == (LOOKS if turns > 6 else 0)
        assert sum(name == task for name, *_ in set(measured)) == known.sum()


def test_heads_that_attribution_predicts_are_not_measured_on_all_examples(quantities, monkeypatch):
    heads, groups = kinds_of(quantities)
    everything = measure_all("", quantities, heads)
    for result, whole in zip(
        measure_in_rounds("", quantities, {}, (heads,), 6, 0.2, 0).values(), everything.values(), strict=True
    ):
        left = result.attributed - whole.exact
        share = np.square(left).mean(0) / whole.exact.var(0)
        on_all, not_all = share[result.turns == EVERY], share[result.turns == more_turns(6)]
        assert on_all.min(initial=np.inf) > not_all.max(initial=0) / 4, "the worse predicted are measured on all"
    monkeypatch.setattr(rounds, "PREDICTED", np.inf)
    for result in measure_in_rounds("", quantities, {}, (heads, groups), 6, 0.2, 0).values():
        assert (result.turns < EVERY).all()


def test_heads_measured_on_all_examples_have_the_intervals_of_everything_exact(quantities, monkeypatch):
    monkeypatch.setattr(rounds, "PREDICTED", -1.0)
    heads, groups = kinds_of(quantities)
    everything = measure_all("", quantities, [*heads, *groups])
    results = measure_in_rounds("", quantities, {}, (heads, groups), 6, 0.2, 0)
    for task, result in results.items():
        whole = everything[task].certified(range(len(heads)))
        np.testing.assert_array_equal(
            whole.summary.low, summarise(everything[task].exact, quantities[task].groups).low[:12]
        )
        certified = result.certified(range(len(heads)))
        complete = result.turns[: len(heads)] == EVERY
        np.testing.assert_allclose(certified.summary.mean[complete], whole.summary.mean[complete], atol=1e-5)
        np.testing.assert_allclose(certified.summary.low[complete], whole.summary.low[complete], atol=1e-5)
        assert (certified.exact[complete] == len(result.exact)).all()


def test_values_of_examples_have_the_certified_mean(quantities):
    """With a slope of 1 the certified mean is the mean of the values."""
    heads, _ = kinds_of(quantities)
    result = measure_in_rounds("", quantities, {}, (heads,), 6, 0.2, 0)["Colours"]
    values = result.values(range(len(heads)))
    turns = result.turns == 6
    drawn = result.draw.first(6)
    residuals = (result.exact - result.attributed)[drawn.turns][:, turns] * drawn.weights[:, None]
    np.testing.assert_allclose(values[:, turns].mean(0), result.attributed[:, turns].mean(0) + residuals.mean(0))
    every = result.turns == EVERY
    np.testing.assert_allclose(values[:, every], result.exact[:, every])


def odd_example(seed):
    """100 examples of 40 heads, few of which matter, and attribution is poor. On one example the first head has a large
    effect, of which the attribution at the prompt knows nothing and that at the twin a little."""
    rng = np.random.default_rng(seed)
    scale = np.where(np.arange(40) < 8, 0.5, 0.02)
    exact = scale * (1 + 0.4 * rng.normal(size=(100, 40)))
    attributed, at_twin = (exact + 0.2 * scale * rng.normal(size=exact.shape) for _ in range(2))
    exact[17, 0] += 12
    at_twin[17, 0] += 2
    return attributed, at_twin, exact


def certified_first_head(attributed, at_twin, exact, seed):
    """Its interval; the truth is the mean of these examples."""
    rng, groups = np.random.default_rng([seed, 1]), [str(i) for i in range(100)]
    draw = draw_examples(attributed, np.ones(100), most_turns(4), rng)

    def look_up(_, parts):
        return [exact[np.ix_(part.examples, part.units)] for part in parts]

    state = {"a": nothing_measured(attributed, np.abs(attributed), groups, draw)}
    twins = (lambda tasks: dict.fromkeys(tasks, at_twin)) if at_twin is not None else no_twins
    summary = run_rounds(state, [40], 4, 0.1, look_up, twins)["a"].certified([0]).summary
    return summary.low[0] <= exact[:, 0].mean() <= summary.high[0]


def test_an_example_of_which_only_the_twin_knows_is_looked_at_where_attribution_is_poor():
    worlds = [odd_example(seed) for seed in range(30)]
    with_twin = [certified_first_head(a, t, x, seed) for seed, (a, t, x) in enumerate(worlds)]
    without = [certified_first_head(a, None, x, seed) for seed, (a, _, x) in enumerate(worlds)]
    assert np.mean(with_twin) == 1 > 0.8 > np.mean(without)


def test_gradients_at_the_twins_are_computed_only_where_attribution_is_poor(quantities, monkeypatch):
    heads, _ = kinds_of(quantities)
    twins = mirrored(quantities)
    attributed, at_twins = attributed_both_ways("both", quantities, twins)
    for predicted, poor in ((-1.0, True), (np.inf, False)):
        monkeypatch.setattr(rounds, "PREDICTED", predicted)
        titles = []
        plain = rounds.attributed_both_ways
        with monkeypatch.context() as patch:
            patch.setattr(
                rounds, "attributed_both_ways", lambda *a, plain=plain, titles=titles: titles.append(a) or plain(*a)
            )
            results = measure_in_rounds("", quantities, twins, (heads,), 6, 0.1, 0)
        assert [sorted(wanted) for title, wanted, _ in titles] == [
            sorted(quantities),
            sorted(quantities) if poor else [],
        ]
        for task, result in results.items():
            sizes = np.maximum(np.abs(attributed[task]), np.abs(at_twins[task])) if poor else np.abs(attributed[task])
            np.testing.assert_allclose(result.size, sizes, atol=1e-6)
            assert result.looked.any(0).sum() == (2 if poor else 0)  # a fifth of twelve heads


def test_how_large_an_effect_may_be_is_said_by_the_larger_attribution_of_every_unit(quantities):
    task, quantity = next(iter(quantities.items()))
    heads, groups = kinds_of(quantities)
    shape = quantity.context.model.shape
    rng = np.random.default_rng(0)
    a, t = (rng.normal(size=(len(quantity.items), shape[0] * shape[1])) for _ in range(2))
    state = begin_rounds({task: a}, {task: t}, quantities, [*heads, *groups], 4, 0)[task]
    np.testing.assert_array_equal(state.size[:, : len(heads)], np.maximum(np.abs(a), np.abs(t)))
    first = list(groups[0][1])  # the effects of its heads add up before they are compared
    np.testing.assert_allclose(state.size[:, len(heads)], np.maximum(*(np.abs(x[:, first].sum(1)) for x in (a, t))))
    assert not state.looked.any() and np.isnan(state.exact).all()


@pytest.mark.parametrize(("examples", "drawn"), [(48, False), (49, True)])
def test_of_many_examples_the_last_round_draws(examples, drawn):
    rng = np.random.default_rng(0)
    attributed = rng.normal(size=(examples, 20))
    known = attributed + rng.normal(size=attributed.shape) * np.where(np.arange(20) < 2, 2, 0.01)
    known[:, :2] += 10
    groups = [str(i) for i in range(examples)]
    draw = draw_examples(attributed, rng.integers(1, 25, examples), most_turns(4), rng)
    state = {"a": nothing_measured(attributed, np.abs(attributed), groups, draw)}

    def look_up(_, parts):
        return [known[np.ix_(part.examples, part.units)] for part in parts]

    result = run_rounds(state, [20], 4, 0.1, look_up, no_twins)["a"]
    assert result.turns[:2].tolist() == [most_turns(4) if drawn else EVERY] * 2
    assert np.isfinite(result.exact[:, 0]).all() != drawn
    summary = result.certified(range(20)).summary
    assert (np.abs(summary.mean - known.mean(0)) < 4 * summary.stderr).all()


def test_rounds_pull_values_near_the_cut_a_little_towards_zero_and_no_others():
    near, elsewhere = pull(invented(0, np.random.default_rng(0)), 4, 0.1, repeats=40)
    assert -0.15 < near < -0.02
    assert abs(elsewhere) < 0.02


def test_what_is_drawn_of_a_task_does_not_depend_on_the_others(quantities):
    attributed = {task: np.ones((len(q.items), len(q.context.heads))) for task, q in quantities.items()}
    units = single_heads(next(iter(quantities.values())).context.heads)
    together = begin_rounds(attributed, {}, quantities, units, 4, 0)
    assert len(together) > 1
    for task in quantities:
        alone = begin_rounds({task: attributed[task]}, {}, quantities, units, 4, 0)
        assert alone[task].draw.turns.tolist() == together[task].draw.turns.tolist()
    first, second = (measured.draw.turns.tolist() for measured in list(together.values())[:2])
    assert first != second


@pytest.mark.parametrize("groups", [4, 8])
def test_heads_with_the_largest_effects_go_on_also_where_there_are_too_few_groups_for_intervals(groups):
    rng, heads = np.random.default_rng(0), 40
    exact = rng.normal(size=(32, heads)) * 0.01 + np.where(np.arange(heads) >= 32, 3.0, 0.0)
    attributed = exact + rng.normal(size=exact.shape) * 0.1
    names = [str(i % groups) for i in range(32)]
    draw = draw_examples(attributed, np.ones(32), most_turns(4), rng)
    state = {"a": nothing_measured(attributed, np.abs(attributed), names, draw)}

    def look_up(_, parts):
        return [exact[np.ix_(part.examples, part.units)] for part in parts]

    result = run_rounds(state, [heads], 4, 0.1, look_up, no_twins)["a"]
    assert np.flatnonzero(result.turns > 4).tolist() == list(range(32, 40))
