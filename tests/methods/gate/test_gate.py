"""Causal head gating: its polarity on planted heads, its repeatability, and what it refuses."""

import dataclasses

import numpy as np
import pytest
import torch
from headatlas.atlas.reading import write_diagnostics, write_scores
from safetensors.numpy import load_file

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.gate import cells as gate_cells
from headatlas.methods.gate.gate import MASKS, STAGES, Gate, check_stage
from headatlas.methods.gate.likelihood import TaskLoss, batches_of, mean_nll, nll_and_gradient
from headatlas.methods.gate.roles import MEASURES, ROLES
from tests import tiny
from tests.methods.common import work
from tests.methods.gate import planted_gates
from tests.methods.gate.planted_gates import HELPER, SABOTEUR


def grids(measured, task="Red", seed=0):
    found = {m.measure: m for m in measured.maps if (m.task, m.seed) == (task, seed)}
    return {
        measure: dict(zip(found[measure].heads, found[measure].summary.mean.tolist(), strict=True))
        for measure in MEASURES
    }


def values(measured, metric, seed=0):
    return [d.value for d in measured.diagnostics if (d.metric, d.seed) == (metric, seed)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    job = planted_gates.work(tmp_path_factory.mktemp("planted"))
    return job, Gate(seeds=2).measure(job)


@pytest.mark.parametrize("seed", [0, 1])
def test_each_role_picks_the_planted_head_with_a_margin(planted, seed):
    """Inverting the sign of lambda would exchange G+ and G-: every dead head would facilitate and interfere."""
    job, measured = planted
    found = grids(measured, seed=seed)
    dead = set(job.heads) - {HELPER, SABOTEUR}
    assert found["facilitation"][HELPER] > 0.9
    assert max(value for head, value in found["facilitation"].items() if head != HELPER) < 0.1
    assert found["interference"][SABOTEUR] > 0.9
    assert max(value for head, value in found["interference"].items() if head != SABOTEUR) < 0.1
    assert min(found["irrelevance"][head] for head in dead) > 0.9
    assert max(found["irrelevance"][head] for head in (HELPER, SABOTEUR)) < 0.1


def test_a_lambda_of_the_wrong_sign_would_name_the_roles_the_wrong_way_round(planted, monkeypatch, tmp_path):
    monkeypatch.setattr(gate_cells, "descend", lambda o, s, strengths, *rest: _descend(o, s, strengths, *rest))
    job = planted_gates.work(tmp_path)
    found = grids(Gate().measure(job))
    dead = next(iter(set(job.heads) - {HELPER, SABOTEUR}))
    assert found["facilitation"][dead] > 0.9
    assert found["irrelevance"][dead] < 0.1


def _descend(objective, starts, strengths, settings, names):
    from headatlas.methods.gate.descent import descend

    return descend(objective, starts, [-strength for strength in strengths], settings, names)


def test_held_out_likelihoods_are_those_of_the_masks(planted):
    job, measured = planted
    batches = job.batches("Red", "evaluate")
    found = grids(measured)
    plus = torch.tensor([found["gate_plus"][head] for head in job.heads]).view(1, *job.model.shape)
    minus = torch.tensor([found["gate_minus"][head] for head in job.heads]).view(1, *job.model.shape)
    expected = {
        "full_nll": torch.ones_like(plus),
        "plus_soft_nll": plus,
        "plus_binary_nll": (plus > 0.5).float(),
        "minus_soft_nll": minus,
        "minus_binary_nll": (minus > 0.5).float(),
    }
    for metric, gates in expected.items():
        (value,) = values(measured, metric)
        assert value == pytest.approx(float(mean_nll(job.model, batches, gates)), abs=1e-6)
    # Without the saboteur the planted model is better; the helper alone is enough.
    assert values(measured, "minus_binary_nll")[0] < values(measured, "full_nll")[0] - 1
    assert values(measured, "sufficient_sets") == [2]
    assert values(measured, "disjoint_sufficient_sets") == [1]
    assert next(d for d in measured.diagnostics if d.metric == "full_nll").low is not None


def test_the_course_of_every_fit_is_recorded_step_by_step(planted):
    job, measured = planted
    for stage, sign in STAGES.items():
        steps = [d.place for d in measured.diagnostics if (d.metric, d.seed) == (f"{stage}_objective", 0)]
        assert steps == list(range(len(steps))) and len(steps) >= 6
        objective, nll, penalty = (np.array(values(measured, f"{stage}_{c}")) for c in ("objective", "nll", "penalty"))
        np.testing.assert_allclose(objective, nll + penalty)
        assert np.abs(penalty).max() <= 0.1 * 4 + 1e-12 and (sign or not penalty.any())
        assert objective[-1] < objective[0]
        looks = [d.place for d in measured.diagnostics if (d.metric, d.seed) == (f"{stage}_choose_nll", 0)]
        assert looks == list(range(6, len(steps) + 1, 6))
    assert values(measured, "plus_open")[-1] == len(job.heads) - 1
    assert values(measured, "minus_open")[-1] == 1


def test_the_loss_is_the_mean_over_answer_tokens_and_its_gradient_is_right(tmp_path):
    job = work(tmp_path)
    job.model.module.double()
    batch = batches_of(job, "Numbers", "fit", 100)[0]
    gates = torch.rand(2, *job.model.shape, generator=torch.Generator().manual_seed(0)).double()
    loss = TaskLoss(job.model, [batch], [batch])
    value, gradient = loss.train(gates, 0)
    np.testing.assert_allclose(value, loss.held(gates), atol=1e-9)
    with job.model.gate(gates[1]), torch.no_grad():
        logprobs, _ = batch.score(job.model)
    assert float(value[1]) == pytest.approx(float(-logprobs.sum() / len(batch.targets)), abs=1e-9)
    step = torch.zeros_like(gates)
    step[1, 2, 3] = 3e-3  # log-probabilities are float32
    numeric = (loss.held(gates + step) - loss.held(gates - step)) / 6e-3
    assert abs(float(numeric[1])) > 0.01
    np.testing.assert_allclose(gradient[:, 2, 3] * torch.tensor([0, 1]), numeric, atol=1e-4)


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "gemma2", "bloom"])
def test_checkpointing_changes_no_number_and_leaves_no_trace(tmp_path, kind):
    job = work(tmp_path, tiny.model(kind))
    batch = batches_of(job, "Colours", "fit", 4)[0]
    gates = torch.rand(2, *job.model.shape, generator=torch.Generator().manual_seed(0))
    before = [dict(block.__dict__) for block in job.model.layers]
    plain = nll_and_gradient(job.model, batch, gates, lambda sums: sums.mean(1))
    kept = nll_and_gradient(job.model, batch, gates, lambda sums: sums.mean(1), checkpoint=True)
    torch.testing.assert_close(kept[0], plain[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(kept[1], plain[1], atol=1e-5, rtol=1e-4)
    assert float(plain[1].abs().max()) > 1e-4
    assert [dict(block.__dict__) for block in job.model.layers] == before
    assert not job.model.module.training


def test_seeds_in_one_batch_give_what_separate_runs_give(tmp_path, monkeypatch):
    model = tiny.model()
    model.module.double()  # else rounding grows over the steps
    settings = Gate(seeds=3, steps=12, tasks=("Colours",), batch=4)
    together = settings.measure(work(tmp_path / "together", model))
    monkeypatch.setattr(gate_cells, "BATCH_TOKENS", 1)
    alone = settings.measure(work(tmp_path / "alone", model))
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

    first = settings.measure(work(tmp_path / "a"))
    settings.measure(work(tmp_path / "b"))
    kept = cells(tmp_path / "a")
    assert kept == cells(tmp_path / "b")
    # A cell for each seed and stage; held out: the full model and each seed.
    assert len(list((tmp_path / "a").iterdir())) == 2 * 3 + 3
    for path in sorted((tmp_path / "b").iterdir())[::2]:
        path.unlink()
    job = work(tmp_path / "b")
    again = settings.measure(job)
    assert cells(tmp_path / "b") == kept
    assert len(job.runner.computed) == 5 and len(job.runner.reused) == 4
    for a, b in zip(first.maps, again.maps, strict=True):
        np.testing.assert_array_equal(a.summary.mean, b.summary.mean)
    assert [dataclasses.astuple(d) for d in first.diagnostics] == [dataclasses.astuple(d) for d in again.diagnostics]


def test_examples_of_evaluate_do_not_shape_the_gates(tmp_path):
    settings = Gate(steps=6, tasks=("Colours",))
    job = work(tmp_path / "a")
    other = work(tmp_path / "b")
    fewer = {**job.splits, "evaluate": job.splits["evaluate"].limit(4)}
    for a, b in zip(settings.measure(job).maps, settings.measure(other.restricted(fewer)).maps, strict=True):
        np.testing.assert_array_equal(a.summary.mean, b.summary.mean)


def test_tables_take_maps_without_errors(tmp_path):
    measured = Gate(steps=6).measure(work(tmp_path))
    write_scores(tmp_path, "tiny", measured.maps)
    write_diagnostics(tmp_path, "tiny", measured.diagnostics)
    import pyarrow.parquet as pq

    scores = pq.read_table(tmp_path / "scores.parquet").to_pandas()
    assert set(scores["measure"]) == set(MEASURES) and set(scores["task"]) == {"Colours", "Numbers"}
    assert scores["value"].between(0, 1).all()
    assert scores[["stderr", "p_value", "q_value"]].isna().all().all()
    metrics = set(pq.read_table(tmp_path / "diagnostics.parquet").to_pandas()["metric"])
    assert {"full_nll", *(f"{mask}_nll" for mask in MASKS)} <= metrics
    assert len(ROLES) == 3


def test_a_diverging_fit_is_reported_with_its_place_and_leaves_no_cell(tmp_path, monkeypatch):
    job = work(tmp_path)
    real = TaskLoss.train

    def broken(self, gates, step):
        value, gradient = real(self, gates, step)
        return (value * float("nan"), gradient) if step == 4 else (value, gradient)

    monkeypatch.setattr(TaskLoss, "train", broken)
    with pytest.raises(HeadAtlasError, match=r"task 'Colours', seed 0, stage base diverged: .* nan at step 4\."):
        Gate().measure(job)
    assert not list(tmp_path.glob("*.safetensors"))


def test_what_cannot_be_fitted_is_refused(tmp_path):
    with pytest.raises(UsageError, match="seeds = 0"):
        Gate(seeds=0)
    with pytest.raises(UsageError, match=r"lambda = -0.1 was given for the stage 'plus'; it must be above 0"):
        Gate(strength=-0.1)
    for stage, strength in (("minus", 0.1), ("base", 0.1), ("plus", 0.0)):
        with pytest.raises(UsageError, match=f"for the stage {stage!r}; it must be"):
            check_stage(stage, strength)
    with pytest.raises(UsageError, match="Unknown stage 'plsu'. Did you mean 'plus'"):
        check_stage("plsu", 0.1)
    job = work(tmp_path)
    empty = job.splits["choose"].keep(lambda example: example.task != "Colours")
    with pytest.raises(HeadAtlasError, match="Task 'Colours' has no answer in its 'choose' split"):
        Gate().measure(job.restricted({**job.splits, "choose": empty}))
