"""Causal head gating: its polarity on planted heads, its repeatability, and what it refuses."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.numpy import load_file

from headatlas.atlas.writing import write_diagnostics, write_scores
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.gate import cells as gate_cells
from headatlas.methods.gate.descent import descend
from headatlas.methods.gate.gate import Gate, check_stage
from headatlas.methods.gate.likelihood import TaskLoss, mean_nll, task_portions, task_quantity, whole_portions
from headatlas.methods.gate.roles import MEASURES, ROLES
from headatlas.planted import PLANTED
from tests import tiny
from tests.methods.gate.planted_gates import HELPER, SABOTEUR, planted_context
from tests.run.contexts import run_context


def grids(measured, task="Red", seed=0):
    maps = {m.measure: m for m in measured.maps if (m.task, m.seed) == (task, seed)}
    return {
        measure: dict(zip(maps[measure].heads, maps[measure].summary.mean.tolist(), strict=True))
        for measure in MEASURES
    }


def values(measured, metric, seed=0):
    return [d.value for d in measured.diagnostics if (d.metric, d.seed) == (metric, seed)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    context = planted_context(tmp_path_factory.mktemp("planted"))
    return context, Gate(seeds=2).measure(context)


@pytest.mark.parametrize("seed", [0, 1])
def test_each_role_picks_the_planted_head_with_a_margin(planted, seed):
    """Inverting the sign of lambda would exchange G+ and G-: every dead head would facilitate and interfere."""
    context, measured = planted
    roles = grids(measured, seed=seed)
    dead = set(context.heads) - {HELPER, SABOTEUR}
    assert roles["facilitation"][HELPER] > 0.9
    assert max(value for head, value in roles["facilitation"].items() if head != HELPER) < 0.1
    assert roles["interference"][SABOTEUR] > 0.9
    assert max(value for head, value in roles["interference"].items() if head != SABOTEUR) < 0.1
    assert min(roles["irrelevance"][head] for head in dead) > 0.9
    assert max(roles["irrelevance"][head] for head in (HELPER, SABOTEUR)) < 0.1


def test_a_lambda_of_the_wrong_sign_would_name_the_roles_the_wrong_way_round(planted, monkeypatch, tmp_path):
    monkeypatch.setattr(gate_cells, "descend", descend_the_wrong_way)
    context = planted_context(tmp_path)
    roles = grids(Gate().measure(context))
    dead = next(iter(set(context.heads) - {HELPER, SABOTEUR}))
    assert roles["facilitation"][dead] > 0.9
    assert roles["irrelevance"][dead] < 0.1


def descend_the_wrong_way(objective, starts, penalties, settings, names, seeds):
    return descend(objective, starts, [-penalty for penalty in penalties], settings, names, seeds)


def test_held_out_likelihoods_are_those_of_the_masks(planted):
    context, measured = planted
    portions = whole_portions(task_quantity(context, "Red", "evaluate"))
    roles = grids(measured)
    plus = torch.tensor([roles["gate_plus"][head] for head in context.heads]).view(1, *context.model.shape)
    minus = torch.tensor([roles["gate_minus"][head] for head in context.heads]).view(1, *context.model.shape)
    expected = {
        "full_nll": torch.ones_like(plus),
        "plus_soft_nll": plus,
        "plus_binary_nll": (plus > 0.5).float(),
        "minus_soft_nll": minus,
        "minus_binary_nll": (minus > 0.5).float(),
    }
    for metric, gates in expected.items():
        (value,) = values(measured, metric)
        assert value == pytest.approx(float(mean_nll(portions, gates)), abs=1e-6)
    # Without the saboteur the planted model is better; the helper alone is enough.
    assert values(measured, "minus_binary_nll")[0] < values(measured, "full_nll")[0] - 1
    assert values(measured, "sufficient_sets") == [2]
    assert values(measured, "disjoint_sufficient_sets") == [1]
    assert next(d for d in measured.diagnostics if d.metric == "full_nll").low is not None


def test_the_course_of_every_fit_is_recorded_step_by_step(planted):
    context, measured = planted
    for stage in ("plus", "minus"):
        steps = [d.step for d in measured.diagnostics if (d.metric, d.seed) == (f"{stage}_objective", 0)]
        assert steps == list(range(len(steps))) and len(steps) >= 6
        objective, nll, penalty = (np.array(values(measured, f"{stage}_{c}")) for c in ("objective", "nll", "penalty"))
        np.testing.assert_allclose(objective, nll + penalty)
        assert np.abs(penalty).max() <= 0.3 * 4 + 1e-12 and penalty[-1] < 0
        assert objective[-1] < objective[0]
        looks = [d.step for d in measured.diagnostics if (d.metric, d.seed) == (f"{stage}_choose_nll", 0)]
        assert looks == list(range(6, len(steps) + 1, 6))
    assert values(measured, "plus_open")[-1] == len(context.heads) - 1
    assert values(measured, "minus_open")[-1] == 1


def test_seeds_in_one_batch_give_what_separate_runs_give(tmp_path, monkeypatch):
    model = tiny.model()
    model.module.double()  # else rounding grows over the steps
    settings = Gate(seeds=3, steps=12, tasks=("Colours",), batch=4)
    together = settings.measure(run_context(tmp_path / "together", model))
    monkeypatch.setattr(gate_cells, "BATCH_TOKENS", 1)
    alone = settings.measure(run_context(tmp_path / "alone", model))
    assert len(together.maps) == 3 * len(MEASURES)
    for a, b in zip(together.maps, alone.maps, strict=True):
        np.testing.assert_allclose(a.summary.mean, b.summary.mean, atol=1e-6)
    seeds = [m.summary.mean for m in together.maps if m.measure == "facilitation"]
    assert not np.allclose(seeds[0], seeds[1], atol=1e-3)


def test_a_run_repeats_to_the_byte_and_resumes_from_any_cell(tmp_path):
    settings = Gate(seeds=2, steps=8, tasks=("Colours",))

    def cells(folder):
        return {
            (path.name, name): array.tobytes() for path in folder.iterdir() for name, array in load_file(path).items()
        }

    first = settings.measure(run_context(tmp_path / "a"))
    settings.measure(run_context(tmp_path / "b"))
    first_bytes = cells(tmp_path / "a")
    assert first_bytes == cells(tmp_path / "b")
    # A cell for each seed and stage; held out: the full model and each seed.
    assert len(list((tmp_path / "a").iterdir())) == 2 * 2 + 3
    for path in sorted((tmp_path / "b").iterdir())[::2]:
        path.unlink()
    context = run_context(tmp_path / "b")
    again = settings.measure(context)
    assert cells(tmp_path / "b") == first_bytes
    assert len(context.runner.computed) == 4 and len(context.runner.reused) == 3
    for a, b in zip(first.maps, again.maps, strict=True):
        np.testing.assert_array_equal(a.summary.mean, b.summary.mean)
    assert [dataclasses.astuple(d) for d in first.diagnostics] == [dataclasses.astuple(d) for d in again.diagnostics]


def test_a_fit_that_sets_out_from_another_base_is_another_cell(tmp_path, monkeypatch):
    """Of the published form. With room for two fits, seed 0 is urged in the same company whether or not there is a
    seed 1. But its base has been fitted beside that of seed 1, which rounds differently: what an earlier run left must
    not count."""
    context = run_context(tmp_path / "a")
    step = max(portion.tokens for portion in task_portions(task_quantity(context, "Colours", "fit"), 4))
    monkeypatch.setattr(gate_cells, "BATCH_TOKENS", 2 * step)
    settings = {"gates": "paper", "steps": 8, "tasks": ("Colours",), "batch": 4}
    Gate(seeds=1, **settings).measure(context)
    both = Gate(seeds=2, **settings)
    resumed, fresh = both.measure(run_context(tmp_path / "a")), both.measure(run_context(tmp_path / "b"))
    for a, b in zip(resumed.maps, fresh.maps, strict=True):
        np.testing.assert_array_equal(a.summary.mean, b.summary.mean)


def test_examples_of_evaluate_do_not_shape_the_gates(tmp_path):
    settings = Gate(steps=6, tasks=("Colours",))
    context = run_context(tmp_path / "a")
    other = run_context(tmp_path / "b")
    fewer = {**context.splits, "evaluate": context.splits["evaluate"].limit(4)}
    for a, b in zip(settings.measure(context).maps, settings.measure(other.with_splits(fewer)).maps, strict=True):
        np.testing.assert_array_equal(a.summary.mean, b.summary.mean)


def test_tables_take_maps_without_errors(tmp_path):
    measured = Gate(steps=6).measure(run_context(tmp_path))
    write_scores(tmp_path, "tiny", measured.maps, [Gate.info])
    write_diagnostics(tmp_path, "tiny", measured.diagnostics)
    scores = pq.read_table(tmp_path / "scores.parquet").to_pandas()
    assert set(scores["measure"]) == set(MEASURES) and set(scores["task"]) == {"Colours", "Numbers"}
    assert scores["value"].between(0, 1).all()
    assert scores[["stderr", "p_value", "q_value"]].isna().all().all()
    metrics = set(pq.read_table(tmp_path / "diagnostics.parquet").to_pandas()["metric"])
    assert {"full_nll", "plus_soft_nll", "plus_binary_nll", "minus_soft_nll", "minus_binary_nll"} <= metrics
    assert len(ROLES) == 3


def quick(**settings):
    return Gate(**{**Gate.presets["quick"], **settings})


@pytest.fixture(scope="module")
def saturated(tmp_path_factory):
    """Two heads of which any trace is enough: the norms of the layers undo every scaling."""
    planted = PLANTED["saturated"]
    return run_context(tmp_path_factory.mktemp("saturated"), planted.build(0), planted.suite(0))


def test_binary_gates_find_heads_of_which_a_trace_is_enough(saturated):
    measured = quick().measure(saturated)
    planted = set(PLANTED["saturated"].roles["Lookup"])
    needed = [{h for h, value in grids(measured, "Lookup", s)["facilitation"].items() if value > 0.5} for s in range(3)]
    assert set.intersection(*needed) == planted
    for seed in range(3):
        roles = grids(measured, "Lookup", seed)
        assert min(roles["facilitation"][head] for head in planted) > 0.9
        assert max(roles["interference"][head] for head in planted) < 0.1
        (cost,) = values(measured, "minus_binary_cost", seed)
        assert abs(cost) < 0.05
        assert values(measured, "minus_binary_nll", seed)[0] < 0.01  # nothing but these heads is needed
    assert measured.doubts == {}


def test_gates_that_scale_are_caught_when_they_are_binarised(saturated):
    """The published form leaves every head a little open; closed for good the same heads take the task away."""
    measured = quick(gates="paper").measure(saturated)
    costs = [d for d in measured.diagnostics if d.metric in ("plus_binary_cost", "minus_binary_cost")]
    assert max(cost.value for cost in costs) > 1 and max(cost.low for cost in costs) > 0.1
    assert measured.doubts == {"Lookup": "masks do not hold when binarised"}
    assert len(values(measured, "base_soft_nll")) == 1


def test_the_answer_against_its_foil_and_heads_against_the_twin(tmp_path):
    planted = PLANTED["induction"]
    context = run_context(tmp_path, planted.build(0), planted.suite(0))
    measured = quick(seeds=1, metric="margin", baseline="twin").measure(context)
    roles = grids(measured, "Lookup")
    needed = {head for head, value in roles["facilitation"].items() if value > 0.5}
    assert needed == set(planted.roles["Lookup"])
    assert {task: q.model_dump() for task, q in measured.quantities.items()} == {
        "Lookup": {"metric": "margin", "baseline": "twin"}
    }


def test_a_circuit_is_sufficient_by_its_interval_and_not_by_its_mean(tmp_path):
    """Half of the answers are lost without the second writer: the mean cost decides nothing, the interval does."""
    context = planted_context(tmp_path)
    (alone,) = [d for d in Gate(sufficient=0.1).measure(context).diagnostics if d.metric == "circuit_cost"]
    assert alone.low < alone.value < alone.high
    between = (alone.value + alone.high) / 2  # above the mean, below the end of the interval
    for most, sufficient in ((between, 0), (alone.high + 1e-6, 1)):
        assert values(Gate(sufficient=most).measure(context), "sufficient_sets") == [sufficient]


def test_with_few_groups_nothing_is_said_about_masks_or_circuits(tmp_path):
    context = planted_context(tmp_path)
    few = {**context.splits, "evaluate": context.splits["evaluate"].limit(4)}
    measured = Gate(steps=8).measure(context.with_splits(few))
    assert measured.doubts == {"Red": "too few groups to check the masks"}
    assert values(measured, "sufficient_sets") == [0]
    assert {d.low for d in measured.diagnostics if d.metric == "full_nll"} == {None}


def test_stability_counts_the_heads_that_change_their_role(planted, tmp_path):
    _, measured = planted
    assert values(measured, "role_changes_seeds") == [0]
    assert values(measured, "role_changes_start") == []
    names = ("always_facilitation", "any_facilitation", "always_interference", "any_interference")
    assert [values(measured, name) for name in names] == [[1], [1], [1], [1]]
    again = Gate(stability=True).measure(planted_context(tmp_path))
    assert values(again, "role_changes_start") == [0] and values(again, "role_changes_steps") == [0]
    assert values(again, "role_changes_seeds") == []


def test_a_diverging_fit_is_reported_with_its_task_seed_and_stage_and_leaves_no_cell(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    real = TaskLoss.train

    def broken(self, draw, step):
        value, gradient = real(self, draw, step)
        return (value * float("nan"), gradient) if step == 4 else (value, gradient)

    monkeypatch.setattr(TaskLoss, "train", broken)
    with pytest.raises(HeadAtlasError, match=r"task 'Colours', seed 0, stage plus diverged: .* nan at step 4\."):
        Gate().measure(context)
    assert not list(tmp_path.glob("*.safetensors"))


def test_what_cannot_be_fitted_is_refused(tmp_path):
    with pytest.raises(UsageError, match="seeds = 0"):
        Gate(seeds=0)
    with pytest.raises(UsageError, match=r"penalty = -0.1 was given for the stage 'plus'; it must be more than 0"):
        Gate(penalty=-0.1)
    for stage, penalty in (("minus", 0.1), ("base", 0.1), ("plus", 0.0)):
        with pytest.raises(UsageError, match=f"for the stage {stage!r}; it must be"):
            check_stage(stage, penalty)
    with pytest.raises(UsageError, match="Unknown stage 'plsu'. Did you mean 'plus'"):
        check_stage("plsu", 0.1)
    context = run_context(tmp_path)
    empty = context.splits["choose"].keep(lambda example: example.task != "Colours")
    with pytest.raises(HeadAtlasError, match="Task 'Colours' has no example that gates could be fitted to"):
        Gate().measure(context.with_splits({**context.splits, "choose": empty}))
