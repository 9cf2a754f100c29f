"""From scores to outcomes: one rule for a hit, the order of examples, and intervals of paired changes."""

from dataclasses import replace

import numpy as np
import pytest

from headatlas.evidence.base import TestSettings
from headatlas.evidence.trial import Trial
from headatlas.run.batches import make_batches
from headatlas.run.competence import competence
from headatlas.run.encoding import Option
from headatlas.run.interventions import Gates, gates_without, score_under
from headatlas.run.outcomes import Outcome, answer_wins, by_example, levels, outcome_of
from headatlas.stats import bootstrap_mean
from headatlas.suites.suite import SPLITS, Suite
from tests import tiny
from tests.run.contexts import run_context


def test_an_answer_wins_where_it_beats_all_distractors_and_a_tie_is_no_win():
    options = np.array([[-1.0, -2.0, -3.0], [-2.0, -1.0, -3.0], [-1.0, -1.0, -3.0], [-1.0, -2.0, -0.5]])
    greedy = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]])  # does not count where there are distractors
    assert answer_wins(options, greedy).tolist() == [True, False, False, False]
    assert answer_wins(options[0], greedy[0])


def test_an_answer_without_distractors_wins_where_greedy_decoding_gives_it():
    options = np.array([[-0.1], [-9.0]])
    greedy = np.array([[0], [1]], dtype=np.uint8)
    assert answer_wins(options, greedy).tolist() == [False, True]
    assert answer_wins(options, greedy).dtype == bool


@pytest.mark.parametrize("distractors", [True, False])
def test_competence_and_evidence_call_the_same_items_right(tmp_path, distractors):
    """One rule for a hit: the intact model of a trial knows exactly what competence says that it knows."""
    suite = tiny.suite(48) if distractors else tiny.copying()
    if not distractors:
        suite = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in suite.examples))
    context = run_context(tmp_path, tiny.model() if distractors else tiny.planted(), suite)
    entries, known = competence(context)
    amounts = {"ks": (1,), "k": 1, "draws": 1, "few_draws": 1, "sizes": (1,), "examples": None, "chains": None}
    trial = Trial(context, context.tasks, {}, TestSettings(**amounts))
    right = set()
    for split in SPLITS:
        for task, outcome in trial.intact("Intact", split).items():
            examples = context.examples(task, split)
            right |= {example.id for example, hit in zip(examples, outcome.hit, strict=True) if hit}
    assert right == known
    assert len(known) == sum(round(entry.accuracy * entry.items) for entry in entries) > 0
    for task, outcome in trial.remove("Nothing", {task: [frozenset()] for task in context.tasks}).items():
        examples = context.examples(task, "evaluate")
        assert {e.id for e, hit in zip(examples, outcome.hit[0], strict=True) if hit} == {
            e.id for e in examples if e.id in known
        }


def test_scores_of_slots_are_dealt_out_to_their_examples_in_order(tmp_path):
    """Examples of different lengths share no batch in the order they came in."""
    encoded = [
        [Option((5, 6, 7, 8, 9), 3), Option((5, 6, 7, 9), 3)],
        [Option((5, 6), 1)],
        [Option((5, 6, 7), 2), Option((5, 6, 8), 2), Option((5, 6, 9), 2)],
    ]
    batches = make_batches(encoded, tokens=6)
    assert [batch.members for batch in batches] != [(0, 1, 2)]
    scored = []
    for batch in batches:
        examples = np.array(batch.members)[batch.owners]
        logprobs = -1.0 * examples - 0.1 * np.arange(len(examples))  # the answer, which comes first, is best
        scored.append((batch, {"logprobs": np.stack([logprobs, logprobs - 5]), "greedy": np.ones((2, len(examples)))}))
    dealt = {member: options for batch, scores in scored for member, options, _ in by_example(batch, scores)}
    assert {member: options.shape for member, options in dealt.items()} == {0: (2, 2), 1: (2, 1), 2: (2, 3)}
    outcome = outcome_of(scored)
    assert outcome.logprob.shape == outcome.hit.shape == (2, 3)
    np.testing.assert_allclose(np.round(outcome.logprob[0]), [0, -1, -2])
    np.testing.assert_allclose(outcome.logprob[1], outcome.logprob[0] - 5)
    assert outcome.hit.all()


def test_a_margin_is_over_all_distractors_together_or_over_the_foil_which_nobody_chooses():
    encoded = [[Option((5, 6, 7), 2), Option((5, 6, 8), 2), Option((5, 6, 9), 2)], [Option((5, 6), 1)]]
    (batch,) = make_batches(encoded[:1])
    logprobs, greedy = np.array([[-1.0, -2.0, -0.5], [-3.0, -2.0, -2.5]]), np.zeros((2, 3))
    scored = [(batch, {"logprobs": logprobs, "greedy": greedy})]
    plain, foiled = outcome_of(scored), outcome_of(scored, {0})
    both = [-1 - np.log(np.exp(-2) + np.exp(-0.5)), -3 - np.log(np.exp(-2) + np.exp(-2.5))]
    assert plain.margin[:, 0] == pytest.approx(both)
    assert foiled.margin[:, 0] == pytest.approx([-0.5, -0.5])
    assert plain.hit[:, 0].tolist() == [0, 0]
    assert foiled.hit[:, 0].tolist() == [1, 0], "the third option is only a foil"
    (bare,) = make_batches(encoded[1:])
    nothing = outcome_of([(bare, {"logprobs": np.array([[-1.0]]), "greedy": np.ones((1, 1))})])
    assert nothing.margin is None and list(nothing.metrics) == ["logprob", "accuracy"]
    assert nothing.nats is nothing.logprob and foiled.nats is foiled.margin
    assert replace(foiled, unit=0.5).metrics["share"][:, 0] == pytest.approx([-1.0, -1.0])


def test_levels_are_paired_and_their_interval_holds_the_value():
    rng = np.random.default_rng(0)
    groups = [str(i // 2) for i in range(24)]
    base = rng.normal(-5, 3, size=24)
    worse = base - 0.5 + rng.normal(0, 0.1, size=24)
    hits = (rng.random((2, 24)) < 0.9).astype(float)
    outcome = Outcome(np.stack([base, worse]), hits)
    by_metric = levels(outcome, outcome[:1], groups)
    logprob = by_metric["logprob"]
    assert logprob.intact == pytest.approx(base.mean())
    np.testing.assert_allclose(logprob.means, [base.mean(), worse.mean()])
    assert (logprob.low <= logprob.means).all()
    assert (logprob.means <= logprob.high).all()
    assert logprob.low[0] == logprob.high[0] == pytest.approx(logprob.intact)
    assert logprob.high[1] < logprob.intact, "damage, though examples differ far more from each other than it"
    interval = [logprob.low[1] - logprob.intact, logprob.high[1] - logprob.intact]
    np.testing.assert_allclose(interval, bootstrap_mean(worse - base, groups))
    accuracy = by_metric["accuracy"]
    assert accuracy.intact == pytest.approx(hits[0].mean())
    assert ((accuracy.low >= 0) & (accuracy.high <= 1)).all()


def test_intervals_of_real_outcomes_hold_their_values(tmp_path):
    context = run_context(tmp_path, suite=tiny.suite(48))
    gates = gates_without(context.model.shape, [frozenset(), *(frozenset({head}) for head in context.heads)])
    batches = context.batches("Colours", "evaluate", with_distractors=True)
    outcome = outcome_of((batch, score_under(context.model, batch, Gates(gates))) for batch in batches)
    logprob = levels(outcome, outcome[:1], context.groups("Colours", "evaluate"))["logprob"]
    assert ((logprob.low <= logprob.means + 1e-9) & (logprob.means <= logprob.high + 1e-9)).all()
    assert (logprob.low[1:] < logprob.high[1:]).all()
