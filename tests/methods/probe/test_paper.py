"""The published probe: its gradients by hand, its seeds, its two measures."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headatlas.methods.probe import paper as probe_paper
from headatlas.methods.probe.linear import fit_linear
from headatlas.methods.probe.paper import (
    DROPOUT,
    HIDDEN,
    PROJECTED,
    PaperProbe,
    choose_epochs,
    contributions_of,
    fit_paper,
    train,
)
from headatlas.methods.probe.report import diagnostics, maps
from headatlas.stats import overlap, q_values
from tests import tiny
from tests.methods.probe.probing import heads_of, synthetic
from tests.run.contexts import run_context

FEW = 4


@pytest.fixture
def quick(monkeypatch):
    """A few epochs are enough to compare fits; the signal is so clear that none is too many."""
    monkeypatch.setattr(probe_paper, "EPOCHS", FEW)
    monkeypatch.setattr(probe_paper, "LEARNING_RATE", 1e-3)
    monkeypatch.setattr(probe_paper, "choose_epochs", lambda data: FEW)


def test_the_architecture_is_the_published_one():
    probe = PaperProbe(heads=8, head_dim=4, tasks=3)
    shapes = [tuple(parameter.shape) for parameter in probe.parameters()]
    assert shapes == [(64, 4), (64,), (512, 8 * 64), (512,), (3, 512), (3,)]
    assert (PROJECTED, HIDDEN, DROPOUT) == (64, 512, 0.3)
    assert [type(part).__name__ for part in probe.classify] == ["Linear", "ReLU", "Dropout", "Linear"]


def test_contributions_are_gradient_times_activation_by_hand():
    torch.manual_seed(0)
    probe, x, labels = PaperProbe(5, 4, 3).eval(), torch.randn(7, 5, 4), torch.tensor([0, 1, 2, 2, 1, 0, 1])
    contributions = contributions_of(probe, x, labels)
    inner, outer = probe.classify[0], probe.classify[3]
    with torch.no_grad():
        for i in range(7):
            p = (x[i] @ probe.project.weight.T + probe.project.bias).flatten()
            active = (inner.weight @ p + inner.bias > 0).float()
            gradient = inner.weight.T @ (active * outer.weight[labels[i]])
            torch.testing.assert_close(contributions[i], (gradient * p).view(5, 64).mean(1), atol=1e-6, rtol=1e-5)
    assert contributions.abs().max() > 1e-4


def choose_contributions(probe: PaperProbe, data) -> np.ndarray:
    return contributions_of(probe, data.features["choose"], torch.from_numpy(data.labels["choose"])).numpy()


def test_the_contributions_of_a_fit_are_those_of_the_trained_probe_on_choose(tmp_path, quick):
    data = synthetic({0: 5})
    fits = fit_paper(run_context(tmp_path), data, shuffles=10, seeds=3)
    probe = train(data, data.real(), 2, FEW)
    assert not probe.training
    np.testing.assert_allclose(fits.real[2].contributions, choose_contributions(probe, data), atol=1e-7)
    with torch.no_grad():
        np.testing.assert_allclose(fits.real[2].logits, probe(data.features["evaluate"]).numpy(), atol=1e-6)


def test_the_null_and_the_halves_are_those_of_probes_trained_on_other_labels(tmp_path, quick):
    data = synthetic({0: 5})
    fits = fit_paper(run_context(tmp_path), data, shuffles=10, seeds=1)
    shuffled, (_, half) = data.shuffled(7), data.halves(0)
    for labelling, seed, importance in ((shuffled, 7, fits.null[7]), (half, 0, fits.halves[0, 1])):
        probe = train(data, labelling, seed, FEW)
        contributions = contributions_of(probe, data.features["choose"], torch.from_numpy(labelling.choose)).numpy()
        expected = [contributions[labelling.choose == task].mean(0) for task in range(3)]
        np.testing.assert_allclose(importance, expected, atol=1e-7)
    predicted = train(data, shuffled, 7, FEW)(data.features["evaluate"]).argmax(-1).numpy()
    hits = predicted == data.labels["evaluate"]
    assert fits.null_accuracy[7] == pytest.approx(hits.mean())


def test_a_probe_is_a_function_of_its_seed_and_leaves_the_global_generator_alone(quick):
    data = synthetic({0: 5})
    state = torch.get_rng_state()
    first = train(data, data.real(), 0, FEW)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(99)
    again, other = (train(data, data.real(), seed, FEW) for seed in (0, 1))
    for name, weights in first.state_dict().items():
        assert torch.equal(weights, again.state_dict()[name])  # the same calls: the same bits
    assert not np.allclose(choose_contributions(first, data), choose_contributions(other, data))


def test_examples_that_are_not_used_have_no_part_in_the_fit(quick):
    data = synthetic({0: 5})
    half, _ = data.halves(0)
    other = {**data.features, "fit": data.features["fit"].clone()}
    other["fit"][~torch.from_numpy(half.used)] = 1e3
    plain, moved = (train(replace(data, features=features), half, 0, FEW) for features in (data.features, other))
    np.testing.assert_array_equal(choose_contributions(plain, data), choose_contributions(moved, data))


def test_the_number_of_epochs_is_the_best_for_held_back_groups_of_fit(monkeypatch):
    monkeypatch.setattr(probe_paper, "LEARNING_RATE", 3e-3)
    data = synthetic()  # nothing to learn: soon it only gets worse
    losses = []
    plain = torch.nn.functional.cross_entropy

    def watched(logits, labels):
        loss = plain(logits, labels)
        if not torch.is_grad_enabled():
            losses.append((loss.item(), len(labels)))
        return loss

    monkeypatch.setattr(torch.nn.functional, "cross_entropy", watched)
    epochs = choose_epochs(data)
    assert epochs == 1 + np.argmin([loss for loss, _ in losses])
    assert len(losses) == epochs + probe_paper.PATIENCE < probe_paper.EPOCHS
    assert {count for _, count in losses} == {14}  # a fifth of 36 groups of two
    other = {**data.labels, "choose": (data.labels["choose"] + 1) % 3}
    assert choose_epochs(replace(data, labels=other)) == epochs, "values are measured on choose; it chooses nothing"


def test_real_and_shuffled_labels_are_trained_for_the_same_number_of_epochs(tmp_path, monkeypatch):
    """Each stopping by itself, 60 epochs were compared with 1 to 6."""
    trained = []
    plain = probe_paper.train

    def counting(data, labelling, seed, epochs):
        trained.append(epochs)
        return plain(data, labelling, seed, epochs)

    monkeypatch.setattr(probe_paper, "train", counting)
    monkeypatch.setattr(probe_paper, "EPOCHS", 6)
    fits = fit_paper(run_context(tmp_path), synthetic({0: 5, 1: 2, 2: 6}, strength=4), 10, 1)
    assert len(trained) == 13 and set(trained) == {fits.notes[0][1]} and fits.notes[0][0] == "epochs"


def test_heads_that_carry_nothing_are_not_discovered_beside_heads_that_do(tmp_path, quick):
    """4 informative heads and 36 of noise: by refits on shuffled labels, which learn less from the same number of
    epochs, noise had p < 0.05 in a tenth of cases (half, where each refit stopped by itself). So no p is given; the
    linear probe, whose null holds, names the informative heads."""
    carriers = {0: 5, 1: 2, 2: 6, 3: 9}
    data = synthetic(carriers, tasks=4, heads=40, strength=3)
    paper = maps("probe", data, fit_paper(run_context(tmp_path), data, 10, 1), heads_of(data), signed=True)
    assert all(np.isnan(entry.summary.p_value).all() and np.isfinite(entry.summary.low).all() for entry in paper)
    linear = maps("probe", data, fit_linear(run_context(tmp_path), data, 20, 1), heads_of(data), signed=False)
    for entry in linear:
        if entry.measure == "information":
            found = set(np.flatnonzero(q_values(entry.summary.p_value) < 0.05).tolist())
            assert carriers["ABCD".index(entry.task)] in found
            assert len(found - set(carriers.values())) <= 1


def test_importance_is_the_size_of_the_signed_contribution_and_both_are_kept(tmp_path, quick):
    data = synthetic({0: 5})
    fits = fit_paper(run_context(tmp_path), data, 10, 1)
    head_maps = maps("probe", data, fits, heads_of(data), signed=True)
    summaries = {(entry.measure, entry.task): entry.summary for entry in head_maps}
    assert set(summaries) == {(measure, task) for measure in ("signed", "information") for task in "ABC"}
    for number, task in enumerate("ABC"):
        signed, size = summaries["signed", task], summaries["information", task]
        of_task = data.labels["choose"] == number
        np.testing.assert_allclose(signed.mean, fits.real[0].contributions[of_task].mean(0))
        np.testing.assert_array_equal(size.mean, np.abs(signed.mean))
        np.testing.assert_array_equal(size.stderr, signed.stderr)
    assert any((summaries["signed", task].mean < 0).any() for task in "ABC")


def test_the_head_that_carries_a_task_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(probe_paper, "LEARNING_RATE", 1e-3)
    monkeypatch.setattr(probe_paper, "EPOCHS", 12)
    data = synthetic({0: 5, 1: 2, 2: 6}, strength=4)
    fits = fit_paper(run_context(tmp_path), data, 10, 1)
    assert (fits.real[0].logits.argmax(1) == data.labels["evaluate"]).mean() > 0.9
    assert fits.null_accuracy.mean() == pytest.approx(1 / 3, abs=0.12)
    for number, head in {0: 5, 1: 2, 2: 6}.items():
        importance = fits.real[0].contributions[data.labels["choose"] == number].mean(0)
        assert np.abs(importance).argmax() == head


def test_seeds_give_maps_of_their_own_and_their_overlap(tmp_path, quick):
    data = synthetic({0: 5})
    fits = fit_paper(run_context(tmp_path), data, 10, 3)
    assert len(fits.real) == 3
    assert fits.halves.shape == (3, 2, 3, 8)
    head_maps = [
        entry for entry in maps("probe", data, fits, heads_of(data), signed=True) if entry.measure == "information"
    ]
    assert [(entry.task, entry.seed) for entry in head_maps] == [(task, seed) for task in "ABC" for seed in range(3)]
    assert not np.allclose(head_maps[0].summary.mean, head_maps[1].summary.mean)
    texts = {split: list(tiny.suite(36).examples)[: len(data.labels[split])] for split in ("fit", "evaluate")}
    reported = diagnostics("probe", data, fits, texts)
    overlaps = {entry.task: entry.value for entry in reported if entry.metric == "seed overlap"}
    assert set(overlaps) == set("ABC")
    sizes = [entry.summary.mean for entry in head_maps if entry.task == "B"]
    expected = np.mean([overlap(sizes[i], sizes[j], 8) for i, j in ((0, 1), (0, 2), (1, 2))])
    assert overlaps["B"] == pytest.approx(expected)
    assert [entry.seed for entry in reported if entry.metric == "accuracy"] == [0, 1, 2]


def test_every_probe_is_a_cell_of_its_own_and_more_seeds_reuse_the_old_ones(tmp_path, quick):
    data = synthetic({0: 5})
    context = run_context(tmp_path)
    fit_paper(context, data, 10, 1)
    assert len(context.runner.computed) == 1 + 1 + 10 + 2  # one to choose the epochs
    more = run_context(tmp_path)
    fit_paper(more, data, 10, 2)
    assert (len(more.runner.computed), len(more.runner.reused)) == (3, 14)
