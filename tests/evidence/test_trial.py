"""Removing heads, against one unpadded option at a time under one gate."""

from dataclasses import replace

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.evidence import trial as trial_module
from headatlas.evidence.base import SPLIT
from headatlas.evidence.choice import INTACT
from headatlas.run.baselines import Baselines
from headatlas.suites.suite import Suite
from tests import tiny
from tests.evidence.common import hit, make_trial, plain, without

SETS = [INTACT, frozenset({(1, 2)}), frozenset({(0, 0), (2, 3)}), INTACT, frozenset({(1, 2)})]


def test_the_empty_set_is_the_intact_model(tmp_path):
    trial = make_trial(tmp_path)
    for task, outcome in trial.remove("Remove", {"Colours": [INTACT], "Numbers": [INTACT]}).items():
        expected = [plain(trial.context.model, example) for example in trial.context.examples(task, SPLIT)]
        np.testing.assert_allclose(outcome.logprob[0], [scores[0] for scores in expected], atol=1e-5)
        np.testing.assert_array_equal(outcome.hit[0], [hit(scores) for scores in expected])
        assert set(outcome.hit[0]) == {0, 1}


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2"])
@pytest.mark.parametrize("baseline", ["mean", "zero"])
def test_removing_heads_is_gating_them_by_hand(tmp_path, kind, baseline):
    trial = make_trial(tmp_path, tiny.model(kind), baseline=baseline)
    model = trial.context.model
    outcome = trial.remove("Remove", {"Numbers": SETS})["Numbers"]
    mean = Baselines("mean", trial.context).mean("Numbers") if baseline == "mean" else None
    examples = trial.context.examples("Numbers", SPLIT)
    assert outcome.logprob.shape == outcome.hit.shape == (len(SETS), len(examples))
    for i, heads in enumerate(SETS):
        expected = [without(model, example, heads, mean) for example in examples]
        np.testing.assert_allclose(outcome.logprob[i], [scores[0] for scores in expected], atol=1e-5)
        np.testing.assert_array_equal(outcome.hit[i], [hit(scores) for scores in expected])
    np.testing.assert_array_equal(outcome.logprob[1], outcome.logprob[4])
    assert np.abs(outcome.logprob[1] - outcome.logprob[0]).max() > 0.01


def test_the_mean_is_that_of_the_measured_task_on_fit(tmp_path):
    trial = make_trial(tmp_path)
    heads = frozenset({(0, 1), (1, 1)})
    outcomes = trial.remove("Remove", {"Colours": [heads], "Numbers": [heads]})
    means = Baselines("mean", trial.context)
    for task, other in (("Colours", "Numbers"), ("Numbers", "Colours")):
        example = trial.context.examples(task, SPLIT)[0]
        model = trial.context.model
        assert outcomes[task].logprob[0, 0] == pytest.approx(
            without(model, example, heads, means.mean(task))[0], abs=1e-5
        )
        assert abs(outcomes[task].logprob[0, 0] - without(model, example, heads, means.mean(other))[0]) > 1e-4


def test_the_three_baselines_replace_by_different_things(tmp_path):
    heads = frozenset({(1, 2), (2, 1)})
    outcomes = [
        make_trial(tmp_path / kind, baseline=kind).remove("Remove", {"Colours": [heads]})["Colours"].logprob[0]
        for kind in ("mean", "zero", "resample")
    ]
    for i, one in enumerate(outcomes):
        for other in outcomes[:i]:
            assert np.abs(one - other).max() > 1e-3


def test_answers_alone_have_the_same_log_probability_and_no_distractor_is_run(tmp_path):
    whole, bare = make_trial(tmp_path / "a"), make_trial(tmp_path / "b", distractors=False)
    sets = [INTACT, frozenset({(1, 2)})]
    one, other = (part.remove("Remove", {"Colours": sets})["Colours"] for part in (whole, bare))
    np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-5)
    assert all(len(batch.owners) == len(batch.members) for batch in bare.batches("Colours"))


def twins(per_task: int = 24) -> Suite:
    """Most examples have a twin, those of Numbers all; for some its answer is a distractor, for others it is new."""
    examples = []
    for i, e in enumerate(tiny.copying(per_task).examples):
        words = tiny.COLOURS if e.task == "Colours" else tiny.NUMBERS
        word = words[(words.index(e.answer.strip()) + 1) % 4]
        twin = {"prompt": e.prompt.replace(e.answer, f" {word}"), "answer": f" {word}"}
        examples.append(e.model_validate(e.model_dump() | {"counterfactual": twin if i >= per_task or i % 4 else None}))
    return Suite("twins", tuple(examples))


def test_the_foil_is_the_twins_answer_on_the_prompt_itself_or_the_distractors(tmp_path):
    """And the twin's answer takes no part in forced choice."""
    trial = make_trial(tmp_path, suite=twins(), twinned=["Colours"])
    heads = frozenset({(1, 2), (2, 1)})
    outcomes = trial.remove("Remove", {task: [INTACT, heads] for task in trial.tasks})
    model, means = trial.context.model, Baselines("mean", trial.context)
    new = 0
    for task in trial.tasks:
        for i, example in enumerate(trial.context.examples(task, SPLIT)):
            scores = without(model, example, heads, means.mean(task))
            foil = scores[1:]
            if task == "Colours" and example.counterfactual is not None:
                answer = example.counterfactual.answer
                asked = example.model_copy(update={"answer": answer, "distractors": ()})
                foil = without(model, asked, heads, means.mean(task))
                new += answer not in example.distractors
            assert outcomes[task].margin[1, i] == pytest.approx(scores[0] - np.log(np.exp(foil).sum()), abs=1e-5)
            assert outcomes[task].logprob[1, i] == pytest.approx(scores[0], abs=1e-5)
            assert outcomes[task].hit[1, i] == hit(scores)
    assert new, "a foil that is no distractor must be scored too"
    assert any(e.counterfactual is None for e in trial.context.examples("Colours", SPLIT))


def test_answers_alone_still_have_a_margin_over_the_twins_answer_and_no_other(tmp_path):
    whole = make_trial(tmp_path / "a", suite=twins(), twinned=["Numbers"])
    bare = make_trial(tmp_path / "b", suite=twins(), twinned=["Numbers"], distractors=False)
    one, other = (trial.remove("Remove", {task: [INTACT] for task in trial.tasks}) for trial in (whole, bare))
    assert all(e.counterfactual is not None for e in bare.context.examples("Numbers", SPLIT))
    np.testing.assert_allclose(one["Numbers"].margin, other["Numbers"].margin, atol=1e-5)
    assert one["Colours"].margin is not None
    assert other["Colours"].margin is None
    assert list(other["Colours"].metrics) == ["logprob", "accuracy"]


def test_draws_are_numbered_and_differ_between_numbers_tasks_and_seeds(tmp_path):
    same = np.zeros((3, 4))
    same[0, 1], same[2, 3] = 2, 1
    trial = make_trial(tmp_path, grids={"Colours": same, "Numbers": same})
    other = make_trial(tmp_path, grids={"Colours": same, "Numbers": same}, seed=1)
    draws = trial.draws("Colours", 2, 12)
    assert draws == trial.draws("Colours", 2, 12)
    assert len(set(draws)) == len(draws) > 1
    assert draws != trial.draws("Numbers", 2, 12)
    assert draws != other.draws("Colours", 2, 12)


def test_the_elbow_is_tested_too_and_no_more_heads_than_were_ranked(tmp_path):
    grid = np.full((3, 4), np.nan)
    grid[0] = 5, 4.9, 4.8, 0.1
    grid[1, 0] = 0.0
    trial = make_trial(tmp_path, grids={"Colours": grid, "Numbers": np.eye(3, 4)}, ks=(1, 4, 8))
    assert trial.ks("Colours") == [1, 3, 4]
    trial.settings = replace(trial.settings, elbow=False)
    assert trial.ks("Colours") == [1, 4]


def test_cells_know_the_heads_and_the_baseline(tmp_path):
    wanted = {"Colours": [INTACT, frozenset({(0, 0)})]}
    first = make_trial(tmp_path)
    first.remove("Remove", wanted)
    again = make_trial(tmp_path)
    again.remove("Remove", wanted)
    assert not again.context.runner.computed
    for changed in (make_trial(tmp_path, baseline="zero"), make_trial(tmp_path, baseline="resample")):
        changed.remove("Remove", wanted)
        assert changed.context.runner.computed
    more = make_trial(tmp_path)
    more.remove("Remove", {"Colours": [INTACT, frozenset({(0, 1)})]})
    assert more.context.runner.computed


def test_an_example_without_distractors_is_right_where_greedy_decoding_gives_its_answer(tmp_path):
    bare = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in tiny.copying().examples))
    trial = make_trial(tmp_path, tiny.planted(), bare, grids={t: np.eye(3, 4) for t in ("Colours", "Numbers")})
    helper = frozenset({tiny.HELPERS["Colours"]})
    outcome = trial.remove("Remove", {"Colours": [INTACT, helper]})["Colours"]
    assert outcome.hit[0].mean() == 1
    assert outcome.hit[1].mean() < 0.5


def test_scaling_and_pushing_begin_with_the_intact_model(tmp_path):
    trial = make_trial(tmp_path)
    examples = trial.context.examples("Colours", SPLIT)
    intact = [plain(trial.context.model, example)[0] for example in examples]
    scaled = trial.scale("Scale", {"Colours": [(frozenset({(1, 2)}), 0.0)]})["Colours"]
    removed = make_trial(tmp_path, baseline="zero").remove("Remove", {"Colours": [frozenset({(1, 2)})]})["Colours"]
    push = np.zeros((3, 4, trial.context.model.head_dim), dtype=np.float32)
    push[1, 2] = 1
    pushed = trial.push("Push", {"Colours": [push]})["Colours"]
    for outcome in (scaled, pushed):
        assert outcome.logprob.shape == (2, len(examples))
        np.testing.assert_allclose(outcome.logprob[0], intact, atol=1e-5)
        assert np.abs(outcome.logprob[1] - outcome.logprob[0]).max() > 0.01
    np.testing.assert_allclose(scaled.logprob[1], removed.logprob[0], atol=1e-5)


def test_the_intact_outcome_of_a_split_is_that_of_removing_nothing(tmp_path):
    trial = make_trial(tmp_path)
    nothing = trial.remove("Remove", {task: [INTACT] for task in trial.tasks})
    for task, outcome in trial.intact("Intact", SPLIT).items():
        np.testing.assert_allclose(outcome.logprob, nothing[task].logprob[0], atol=1e-5)
        np.testing.assert_array_equal(outcome.hit, nothing[task].hit[0])


@pytest.mark.parametrize("name", ["REMOVAL", "SCALING", "PUSHING"])
def test_a_raised_version_recomputes_cells_of_that_kind_alone(tmp_path, name, monkeypatch):
    push = np.ones((3, 4, tiny.model().head_dim), dtype=np.float32)
    intervene = {
        "REMOVAL": lambda trial: trial.remove("Remove", {"Colours": [INTACT]}),
        "SCALING": lambda trial: trial.scale("Scale", {"Colours": [(frozenset({(0, 0)}), 2.0)]}),
        "PUSHING": lambda trial: trial.push("Push", {"Colours": [push]}),
    }

    def computed(names) -> int:
        trial = make_trial(tmp_path)
        for each in names:
            intervene[each](trial)
        return len(trial.context.runner.computed)

    assert computed(intervene) > 3
    assert computed(intervene) == 0
    kind = getattr(trial_module, name)
    monkeypatch.setattr(trial_module, name, kind._replace(version=kind.version + 1))
    assert computed(set(intervene) - {name}) == 0
    assert computed([name]) > 0


def test_neutral_text_is_a_control_unless_it_was_mapped_itself(tmp_path):
    suite = tiny.suite(tasks=("Colours", "Neutral"))
    assert make_trial(tmp_path, suite=suite, tasks=("Colours",)).controls_on_neutral_text == "Neutral"
    assert make_trial(tmp_path, suite=suite, tasks=("Colours", "Neutral")).controls_on_neutral_text is None
    assert make_trial(tmp_path).controls_on_neutral_text is None


def test_a_measure_that_the_method_does_not_have_is_named(tmp_path):
    trial = make_trial(tmp_path)
    trial.maps = {"Colours": {"facilitation": np.eye(3, 4)}}
    np.testing.assert_array_equal(trial.map_of("Colours", "facilitation"), np.eye(3, 4))
    with pytest.raises(HeadAtlasError, match="The method has no 'interference' of 'Colours'"):
        trial.map_of("Colours", "interference")
