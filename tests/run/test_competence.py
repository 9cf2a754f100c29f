"""What the intact model can do, against one option at a time; and what guessing would give."""

import numpy as np
import pytest

from headatlas.atlas.records import AT_CHANCE, COMPETENT
from headatlas.run.competence import competence
from headatlas.run.intact import intact_cell
from headatlas.stats import proportion_interval
from headatlas.suites.suite import SPLITS, Suite
from tests import tiny
from tests.run.contexts import run_context
from tests.run.reference import encoded, greedy, plain_logprob


def option_scores(model, example) -> list[float]:
    start = len(encoded(example.prompt))
    options = (example.answer, *example.distractors)
    return [plain_logprob(model, encoded(example.prompt + option), start) for option in options]


def test_competence_is_forced_choice_over_all_splits(tmp_path):
    context = run_context(tmp_path)
    entries, known = competence(context)
    assert [entry.task for entry in entries] == ["Colours", "Numbers"]
    right = set()
    for entry in entries:
        examples = [example for split in SPLITS for example in context.examples(entry.task, split)]
        scores = [option_scores(context.model, example) for example in examples]
        hits = np.array([options[0] > max(options[1:]) for options in scores])
        right |= {example.id for example, hit in zip(examples, hits, strict=True) if hit}
        assert entry.items == entry.mapped == len(examples) == 24
        assert entry.accuracy == pytest.approx(hits.mean())
        assert (entry.low, entry.high) == pytest.approx(proportion_interval(hits, [e.group for e in examples]))
        assert entry.chance == pytest.approx(1 / 3)
        assert entry.logprob == pytest.approx(np.mean([options[0] for options in scores]), abs=1e-5)
        assert entry.margin == pytest.approx(np.mean([s[0] - max(s[1:]) for s in scores]), abs=1e-5)
        written = [greedy(context.model, encoded(e.prompt), len(encoded(e.answer))) for e in examples]
        exact = [ids == encoded(e.answer) for ids, e in zip(written, examples, strict=True)]
        assert entry.exact == pytest.approx(np.mean(exact))
        assert entry.verdict == (COMPETENT if entry.low > entry.chance else AT_CHANCE)
    assert known == right
    assert 0 < len(known) < 48


def test_a_model_that_does_its_tasks_is_competent_and_knows_all_items(tmp_path):
    suite = tiny.copying()
    entries, known = competence(run_context(tmp_path, tiny.planted(), suite))
    assert known == {example.id for example in suite.examples}
    for entry in entries:
        options = [1 + len(example.distractors) for example in suite.of(entry.task)]
        assert set(options) == {2, 3, 4}
        assert entry.chance == pytest.approx(np.mean([1 / count for count in options]))
        assert (entry.accuracy, entry.exact, entry.verdict) == (1, 1, COMPETENT)
        assert entry.margin > 0


def test_without_distractors_exact_match_counts_and_the_commonest_answer_is_chance(tmp_path):
    bare = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in tiny.copying().examples))
    entries, known = competence(run_context(tmp_path / "planted", tiny.planted(), bare))
    assert len(known) == 48
    entries += competence(run_context(tmp_path / "random", suite=bare))[0]
    for entry in entries:
        assert entry.accuracy == entry.exact
        assert entry.chance == pytest.approx(1 / 4)
        assert entry.margin is None
    assert [entry.verdict for entry in entries] == [COMPETENT, COMPETENT, AT_CHANCE, AT_CHANCE]


def test_scores_of_a_split_are_found_again_by_whoever_needs_them(tmp_path):
    competence(run_context(tmp_path))
    again = run_context(tmp_path)
    cells = [intact_cell(again, batch) for batch in again.batches("Colours", "choose", True, closed=True)]
    results = again.runner.run("Again", cells)
    assert not again.runner.computed and len(again.runner.reused) == len(cells) == len(results) > 0
    assert all(set(result) == {"logprobs", "greedy"} for result in results)
