"""What replaces a removed head: means over real positions, and what a head does on another example."""

from dataclasses import replace

import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.run import baselines as baselines_module
from headatlas.run.baselines import MEAN, Baselines
from tests import tiny
from tests.run.contexts import run_context


def test_the_mean_baseline_is_the_mean_over_real_positions(tmp_path):
    context = run_context(tmp_path)
    total, count = torch.zeros(context.model.n_heads, context.model.head_dim), 0
    for batch in context.batches("Colours", "fit"):
        for row in range(batch.size):  # one example alone has no padding
            with torch.no_grad(), context.model.capture() as z:
                context.model.logits(batch.ids[row : row + 1, : batch.lengths[row]])
            total += z[1][0].sum(0)
            count += z[1].shape[1]
    baselines = Baselines("mean", context)
    mean = baselines.for_batch("Colours", context.batches("Colours", "choose")[0])
    torch.testing.assert_close(mean[1], total / count, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(baselines.mean("Colours"), mean)
    assert (baselines.mean("Numbers") - mean).abs().max() > 1e-3, "every task has a mean of its own"


def test_zero_is_no_baseline_at_all(tmp_path):
    context = run_context(tmp_path)
    assert Baselines("zero", context).for_batch("Colours", context.batches("Colours", "choose")[0]) is None
    assert not context.runner.computed


def test_the_resampled_values_are_those_of_a_fit_example_lined_up_where_the_answer_begins(tmp_path):
    context = run_context(tmp_path)
    batch = context.batches("Colours", "choose")[0]
    donated = Baselines("resample", context).for_batch("Colours", batch)
    ends = []
    for donors in context.batches("Colours", "fit"):
        for row in range(donors.size):
            with torch.no_grad(), context.model.capture() as z:
                context.model.logits(donors.ids[row : row + 1, : donors.lengths[row]])
            ends.append(z[2][0, donors.positions[donors.rows == row].min()])
    for row in range(batch.size):
        last = donated[2][row, batch.positions[batch.rows == row].min()]
        assert min((last - end).abs().max() for end in ends) < 1e-5


def test_all_options_of_an_example_are_compared_under_the_same_corruption(tmp_path):
    """Chosen row by row, donors would make one option look better than another for nothing."""
    long = (" red box and two", " blue key is one")
    suite = tiny.suite()
    suite = replace(suite, examples=tuple(e.model_copy(update={"distractors": long}) for e in suite.examples))
    context = run_context(tmp_path, suite=suite)
    several = 0
    for batch in context.batches("Colours", "choose", with_distractors=True):
        donated = Baselines("resample", context).for_batch("Colours", batch)[2]
        for example in range(len(batch.members)):
            rows = (batch.row_owners == example).nonzero().flatten().tolist()
            end = int(batch.positions[batch.owners[batch.slots] == example].min()) + 1
            several += len(rows) > 1
            for row in rows[1:]:
                torch.testing.assert_close(donated[row, :end], donated[rows[0], :end], atol=1e-5, rtol=1e-4)
    assert several, "options of several tokens need rows of their own"


def test_the_donor_is_the_same_with_and_without_distractors(tmp_path):
    context = run_context(tmp_path)
    ends = []
    for with_distractors in (False, True):
        found = {}
        for batch in context.batches("Colours", "choose", with_distractors=with_distractors):
            donated = Baselines("resample", context).for_batch("Colours", batch)[1]
            for row, owner in enumerate(batch.row_owners.tolist()):
                end = int(batch.positions[batch.owners[batch.slots] == owner].min())
                found[batch.members[owner]] = donated[row, end]
        ends.append(found)
    for member, end in ends[0].items():
        torch.testing.assert_close(end, ends[1][member], atol=1e-5, rtol=1e-4)


def test_no_example_is_replaced_by_itself(tmp_path):
    """On `fit` donors and examples are the same ones; a head replaced by itself would seem to do nothing."""
    context = run_context(tmp_path)
    for batch in context.batches("Colours", "fit"):
        donated = Baselines("resample", context).for_batch("Colours", batch)
        with torch.no_grad(), context.model.capture() as z:
            context.model.logits(batch.ids)
        for row in range(batch.size):
            last = batch.lengths[row] - 1
            assert (donated[2][row, last] - z[2][row, last]).abs().max() > 1e-3


def test_the_donor_of_a_row_depends_on_the_seed_and_not_on_its_batch(tmp_path):
    context = run_context(tmp_path)
    batch = context.batches("Colours", "choose")[0]
    first, again, other = (Baselines("resample", context, seed).for_batch("Colours", batch)[1] for seed in (0, 0, 1))
    torch.testing.assert_close(first, again)
    assert (first - other).abs().max() > 1e-3
    one = {split: suite.limit(1) if split == "choose" else suite for split, suite in context.splits.items()}
    smaller = context.with_splits(one)
    (single,) = smaller.batches("Colours", "choose")
    row = context.examples("Colours", "choose").index(smaller.examples("Colours", "choose")[0])
    row = batch.members.index(row)
    alone = Baselines("resample", smaller).for_batch("Colours", single)[1][0]
    torch.testing.assert_close(first[row, : len(alone)], alone, atol=1e-5, rtol=1e-4)


def test_what_depends_on_a_baseline_depends_on_its_kind_examples_seed_and_version(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    fewer = context.with_splits({**context.splits, "fit": context.splits["fit"].limit(4)})

    def inputs(kind: str, on=context, seed: int = 0) -> str:
        return str(Baselines(kind, on, seed).inputs("Colours"))

    assert len({inputs(kind) for kind in ("zero", "mean", "resample")}) == 3
    for kind in ("mean", "resample"):
        assert inputs(kind) == inputs(kind)
        assert inputs(kind) != inputs(kind, fewer)
    assert inputs("zero") == inputs("zero", fewer)
    assert inputs("resample") != inputs("resample", seed=1)
    assert inputs("mean") == inputs("mean", seed=1), "nothing is drawn"
    before = inputs("mean")
    monkeypatch.setattr(baselines_module, "MEAN", MEAN._replace(version=MEAN.version + 1))
    assert inputs("mean") != before, "other means are another baseline"


def test_an_unknown_baseline_is_refused(tmp_path):
    with pytest.raises(HeadAtlasError, match=r"Unknown baseline 'men'. Did you mean 'mean'\?"):
        Baselines("men", run_context(tmp_path))
