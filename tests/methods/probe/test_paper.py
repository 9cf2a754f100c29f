"""The published probe: its gradients by hand, its seeds, its two measures."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headatlas.methods.probe import paper as probe_paper
from headatlas.methods.probe.paper import DROPOUT, HIDDEN, PROJECTED, PaperProbe, contributions_of, fit_paper
from headatlas.methods.probe.report import diagnostics, maps
from headatlas.stats import overlap
from tests import tiny
from tests.methods.common import work
from tests.methods.probe.probing import synthetic


@pytest.fixture
def quick(monkeypatch):
    """A few epochs are enough to tell whether all is in its place."""
    monkeypatch.setattr(probe_paper, "EPOCHS", 4)
    monkeypatch.setattr(probe_paper, "LEARNING_RATE", 1e-3)


def heads(count: int = 8) -> list[tuple[int, int]]:
    return [(0, head) for head in range(count)]


def test_the_architecture_is_the_published_one():
    probe = PaperProbe(heads=8, head_dim=4, tasks=3)
    shapes = [tuple(parameter.shape) for parameter in probe.parameters()]
    assert shapes == [(64, 4), (64,), (512, 8 * 64), (512,), (3, 512), (3,)]
    assert (PROJECTED, HIDDEN, DROPOUT) == (64, 512, 0.3)
    assert [type(part).__name__ for part in probe.classify] == ["Linear", "ReLU", "Dropout", "Linear"]


def test_contributions_are_gradient_times_activation_by_hand():
    torch.manual_seed(0)
    probe, x, labels = PaperProbe(5, 4, 3).eval(), torch.randn(7, 5, 4), torch.tensor([0, 1, 2, 2, 1, 0, 1])
    found = contributions_of(probe, x, labels)
    inner, outer = probe.classify[0], probe.classify[3]
    with torch.no_grad():
        for i in range(7):
            p = (x[i] @ probe.project.weight.T + probe.project.bias).flatten()
            active = (inner.weight @ p + inner.bias > 0).float()
            gradient = inner.weight.T @ (active * outer.weight[labels[i]])
            torch.testing.assert_close(found[i], (gradient * p).view(5, 64).mean(1), atol=1e-6, rtol=1e-5)
    assert found.abs().max() > 1e-4


def test_the_contributions_of_a_fit_are_those_of_its_own_probe_on_choose(quick):
    data = synthetic({0: 5})
    result = probe_paper._compute(data, data.real(), seed=2)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        probe = probe_paper._trained(data, data.real())
    assert not probe.training
    expected = contributions_of(probe, data.features["choose"], torch.from_numpy(data.labels["choose"]))
    np.testing.assert_allclose(result["contributions"], expected.numpy(), atol=1e-7)
    with torch.no_grad():
        np.testing.assert_allclose(result["logits"], probe(data.features["evaluate"]).numpy(), atol=1e-6)


def test_a_fit_is_a_function_of_its_seed_and_leaves_the_global_one_alone(quick):
    data = synthetic({0: 5})
    state = torch.get_rng_state()
    first = probe_paper._compute(data, data.real(), seed=0)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(99)
    again, other = (probe_paper._compute(data, data.real(), seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(first["contributions"], again["contributions"])
    np.testing.assert_array_equal(first["logits"], again["logits"])
    assert not np.allclose(first["contributions"], other["contributions"])


def test_examples_that_are_not_used_have_no_part_in_the_fit(quick):
    data = synthetic({0: 5})
    half, _ = data.halves(0)
    other = {**data.features, "fit": data.features["fit"].clone()}
    other["fit"][~torch.from_numpy(half.used)] = 1e3
    plain, moved = (probe_paper._compute(replace(data, features=f), half, 0) for f in (data.features, other))
    np.testing.assert_array_equal(plain["contributions"], moved["contributions"])


def test_fitting_stops_early_and_keeps_what_did_best_on_choose(monkeypatch):
    monkeypatch.setattr(probe_paper, "LEARNING_RATE", 3e-3)
    data = synthetic()  # nothing to learn: soon it only gets worse
    losses = []
    plain = torch.nn.functional.cross_entropy

    def watched(logits, labels):
        loss = plain(logits, labels)
        if not torch.is_grad_enabled():
            losses.append(loss.item())
        return loss

    monkeypatch.setattr(torch.nn.functional, "cross_entropy", watched)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        probe = probe_paper._trained(data, data.real())
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + probe_paper.PATIENCE < probe_paper.EPOCHS
    with torch.no_grad():
        kept = plain(probe(data.features["choose"]), torch.from_numpy(data.labels["choose"])).item()
    assert kept == pytest.approx(losses[best], abs=1e-6)


def test_importance_is_the_size_of_the_signed_contribution_and_both_are_kept(tmp_path, quick):
    data = synthetic({0: 5})
    fits = fit_paper(work(tmp_path), data, 10, 1)
    found = {(entry.measure, entry.task): entry.summary for entry in maps(data, fits, heads(), signed=True)}
    assert set(found) == {(measure, task) for measure in ("signed", "importance") for task in "ABC"}
    for number, task in enumerate("ABC"):
        signed, size = found["signed", task], found["importance", task]
        own = data.labels["choose"] == number
        np.testing.assert_allclose(signed.mean, fits.real[0].contributions[own].mean(0))
        np.testing.assert_array_equal(size.mean, np.abs(signed.mean))
        np.testing.assert_array_equal(size.p_value, signed.p_value)
    assert any((found["signed", task].mean < 0).any() for task in "ABC")


def test_the_head_that_carries_a_task_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(probe_paper, "LEARNING_RATE", 1e-3)
    monkeypatch.setattr(probe_paper, "EPOCHS", 12)
    data = synthetic({0: 5, 1: 2, 2: 6}, strength=4)
    fits = fit_paper(work(tmp_path), data, 10, 1)
    assert (fits.real[0].logits.argmax(1) == data.labels["evaluate"]).mean() > 0.9
    assert fits.null_accuracy.mean() == pytest.approx(1 / 3, abs=0.12)
    for number, head in {0: 5, 1: 2, 2: 6}.items():
        importance = fits.real[0].contributions[data.labels["choose"] == number].mean(0)
        assert np.abs(importance).argmax() == head


def test_seeds_give_maps_of_their_own_and_their_overlap(tmp_path, quick):
    data = synthetic({0: 5})
    fits = fit_paper(work(tmp_path), data, 10, 3)
    assert len(fits.real) == 3
    assert fits.halves.shape == (3, 2, 3, 8)
    found = [entry for entry in maps(data, fits, heads(), signed=True) if entry.measure == "importance"]
    assert [(entry.task, entry.seed) for entry in found] == [(task, seed) for task in "ABC" for seed in range(3)]
    assert not np.allclose(found[0].summary.mean, found[1].summary.mean)
    texts = {split: list(tiny.suite(36).examples)[: len(data.labels[split])] for split in ("fit", "evaluate")}
    reported = diagnostics(data, fits, texts)
    overlaps = {entry.task: entry.value for entry in reported if entry.metric == "seed overlap"}
    assert set(overlaps) == set("ABC")
    sizes = [entry.summary.mean for entry in found if entry.task == "B"]
    expected = np.mean([overlap(sizes[i], sizes[j], 8) for i, j in ((0, 1), (0, 2), (1, 2))])
    assert overlaps["B"] == pytest.approx(expected)
    assert [entry.seed for entry in reported if entry.metric == "accuracy"] == [0, 1, 2]


def test_every_probe_is_a_cell_of_its_own_and_more_seeds_reuse_the_old_ones(tmp_path, quick):
    data = synthetic({0: 5})
    job = work(tmp_path)
    fit_paper(job, data, 10, 1)
    assert len(job.runner.computed) == 1 + 10 + 2
    more = work(tmp_path)
    fit_paper(more, data, 10, 2)
    assert (len(more.runner.computed), len(more.runner.reused)) == (3, 13)
