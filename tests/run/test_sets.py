"""Scores under many sets of gates and many pushes, against forwards that share nothing."""

import numpy as np
import pytest
import torch

from headatlas.model.sharing import Sharing
from headatlas.run import sets as sets_module
from headatlas.run.baselines import Baselines
from headatlas.run.interventions import Gates, Pushes, gates_scaling, gates_without, score_intact, score_under
from headatlas.run.packing import Starts, pack, prefix_of
from headatlas.run.sets import score_pushes, score_sets, starts_of, work_of_pushes, work_of_sets
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context

KINDS = [*tiny.configs()]
SETS = [
    frozenset(),
    frozenset({(2, 1)}),
    frozenset({(0, 3), (2, 0)}),
    frozenset({(1, 2), (1, 0)}),
    frozenset({(1, 1), (2, 2)}),
    frozenset({(0, 0)}),
]


def options_alike() -> Suite:
    """Examples with options of several tokens, so that the rows of one example share its prompt."""
    changes = [{"distractors": (*e.distractors, f"{e.answer} item", f" item{e.answer}")} for e in tiny.suite().examples]
    return Suite("alike", tuple(e.model_copy(update=c) for e, c in zip(tiny.suite().examples, changes, strict=True)))


def options(context, task="Colours"):
    return [context.encoder.encode(example) for example in context.examples(task, "evaluate")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("baseline", ["mean", "resample"])
def test_shared_forwards_give_what_whole_ones_give(tmp_path, kind, baseline):
    context = run_context(tmp_path, tiny.model(kind), options_alike())
    model, baselines = context.model, Baselines(baseline, context)
    gates = gates_without(model.shape, SETS)
    starts = starts_of(model, gates)
    batches = pack(options(context), starts, share=True)
    assert any(prefix_of(batch, starts) for batch in batches)
    for batch in batches[:2]:
        replaced = baselines.for_batch("Colours", batch)
        shared = score_sets(model, batch, gates, replaced)
        whole = score_under(model, batch, Gates(gates, replaced))
        np.testing.assert_allclose(shared["logprobs"], whole["logprobs"], atol=1e-5)
        np.testing.assert_array_equal(shared["greedy"], whole["greedy"])
        assert np.abs(whole["logprobs"][1:] - whole["logprobs"][0]).max(1).min() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_pushes_after_shared_prompts_give_what_whole_forwards_give(tmp_path, kind):
    context = run_context(tmp_path, tiny.model(kind), options_alike())
    model = context.model
    pushes = torch.zeros(3, *model.shape, model.head_dim)
    pushes[1, 1, 2], pushes[2, 2, 1] = torch.randn(2, model.head_dim, generator=torch.Generator().manual_seed(0))
    for batch in context.batches("Colours", "evaluate", with_distractors=True, closed=True):
        shared, whole = score_pushes(model, batch, pushes), score_under(model, batch, Pushes(pushes))
        np.testing.assert_allclose(shared["logprobs"], whole["logprobs"], atol=1e-5)
        np.testing.assert_array_equal(shared["greedy"], whole["greedy"])
        assert np.abs(whole["logprobs"][1:] - whole["logprobs"][0]).max(1).min() > 1e-3
