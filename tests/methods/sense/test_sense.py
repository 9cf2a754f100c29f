"""Random masks of models whose heads are known."""

import numpy as np
import pytest
import torch

from benchmarks.null_methods import FIRST, SECOND, independent_heads
from headatlas.atlas.records import Head
from headatlas.errors import UsageError
from headatlas.methods.attribute import plan_tasks
from headatlas.methods.sense.cells import measure_losses
from headatlas.methods.sense.masks import BLOCK, draw_masks
from headatlas.methods.sense.pairs import (
    ALONE,
    BACKS_UP,
    BEYOND,
    BOTH,
    EACH_OTHER,
    PairEffects,
    measure_pairs,
    pair_quantity,
    report_pairs,
)
from headatlas.methods.sense.sense import R2, Sense
from headatlas.model.heads import HeadModel
from headatlas.planted import PLANTED
from headatlas.planted.models.backup import BACKUP, MAIN
from headatlas.planted.record import packaged
from headatlas.planted.tasks import pick
from headatlas.planted.truth import margin
from headatlas.planted.words import tokenizer
from headatlas.run.cells import Runner
from headatlas.stats import q_values
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_quantity import twin_suite

SMALL = {"masks": 80, "examples": 8}


def planted_context(tmp_path, name):
    planted = PLANTED[name]
    return run_context(tmp_path, planted.build(), planted.suite(0))


def q_by_head(head_map) -> dict[Head, float]:
    return dict(zip(head_map.heads, q_values(head_map.summary.p_value), strict=True))


@pytest.fixture(scope="module")
def backup(tmp_path_factory):
    return Sense(**SMALL).measure(planted_context(tmp_path_factory.mktemp("backup"), "backup"))


@pytest.mark.parametrize("suite", [tiny.suite(), twin_suite()], ids=["mean", "twin"])
def test_losses_are_those_of_plain_gates(tmp_path, suite):
    """Without prefixes, shared forwards, or batches of more than one example."""
    context = run_context(tmp_path, suite=suite)
    quantities = plan_tasks(context, ("fit",), None, None)
    masks = {task: draw_masks(context.model.shape, len(q.items), 40, 2, 0) for task, q in quantities.items()}
    losses = measure_losses(quantities, masks)
    task, quantity = next(iter(quantities.items()))
    assert losses[task].shape == (*masks[task].blocks.shape, BLOCK)
    for batch in quantity.batches(1)[:3]:
        (example,) = batch.members
        replaced = quantity.replacement(batch)
        expected = []
        for removed in (np.zeros_like(masks[task].of_example(example)[:1]), masks[task].of_example(example)):
            for mask in removed:
                gates = torch.from_numpy(~mask).float().reshape(1, *context.model.shape).repeat(batch.size, 1, 1)
                with torch.no_grad(), context.model.gate(gates, replaced.values, replaced.where):
                    expected.append(float(batch.quantity(batch.score(context.model)[0])))
        assert losses[task][example].ravel() == pytest.approx(expected[0] - np.array(expected[1:]), abs=1e-4)
        assert np.abs(losses[task][example]).max() > 0.01


def test_heads_that_help_and_hurt_come_first(tmp_path):
    context = planted_context(tmp_path, "harmful")
    measured = Sense(**SMALL, pairs=0).measure(context)
    (head_map,) = measured.maps
    roles = PLANTED["harmful"].roles[head_map.task]
    strongest = np.argsort(-np.abs(head_map.summary.mean))[:3]
    for i in strongest:
        assert roles[head_map.heads[i]] == ("helps" if head_map.summary.mean[i] > 0 else "hurts")
    entries = {entry.metric: entry.value for entry in measured.diagnostics}
    assert entries["masks"] == 80 and entries["heads per mask"] == 3 and entries[R2] > 0.7
    assert measured.doubts == {}


def test_a_backup_head_matters_and_is_paired_with_its_main_head(backup):
    (head_map,) = backup.maps
    q = q_by_head(head_map)
    assert q[MAIN] < 0.05 and max(q, key=lambda head: head_map.summary.mean[head_map.heads.index(head)]) == MAIN
    said = [(e.layer, e.head, e.metric) for e in backup.diagnostics if e.metric.startswith(BACKS_UP)]
    assert said == [(*BACKUP, f"{BACKS_UP}L{MAIN[0]}H{MAIN[1]}")], "not the other way round"


def test_pairs_are_those_of_edited_weights(tmp_path):
    """Removed by zero, on all examples of `choose`, with a single distractor."""
    planted = PLANTED["backup"]
    lone = [e.model_copy(update={"distractors": (e.counterfactual.answer,)}) for e in planted.suite(0).examples]
    context = run_context(tmp_path, planted.build(), Suite("lone", tuple(lone)))
    quantity = pair_quantity(Sense(baseline="zero", paired=1000), context, "Pick")
    told = report_pairs("sense", "Pick", measure_pairs(quantity, [MAIN, BACKUP]))
    entries, alone = {e.metric: e for e in told}, {(e.layer, e.head): e.value for e in told if e.metric == ALONE}
    canvas, examples = planted.draw(0), context.splits["choose"].examples
    intact = margin(canvas, examples)
    main, backup, both = (intact - margin(canvas, examples, heads) for heads in ([MAIN], [BACKUP], [MAIN, BACKUP]))
    name = f"L{MAIN[0]}H{MAIN[1]}"
    beyond = entries[BEYOND + name]
    assert beyond.value == pytest.approx(both - main - backup, abs=1e-3)
    assert beyond.low < beyond.value < beyond.high and (beyond.layer, beyond.head) == BACKUP
    assert alone == pytest.approx({MAIN: main, BACKUP: backup}, abs=1e-3)
    assert entries[BOTH + name].value == pytest.approx(both, abs=1e-3)


def test_where_two_heads_cost_the_same_alone_each_backs_up_the_other():
    rng = np.random.default_rng(0)
    single = 0.5 + 0.01 * rng.normal(size=(12, 2))
    effects = PairEffects(((0, 1), (1, 0)), single, 3 + 0.1 * rng.normal(size=(12, 1)), [*map(str, range(12))])
    told = {e.metric: (e.layer, e.head) for e in report_pairs("sense", "A", effects)}
    assert told[f"{EACH_OTHER}L1H0"] == (0, 1) and f"{BACKS_UP}L1H0" not in told


def test_heads_that_add_up_back_nobody_up(tmp_path):
    model = HeadModel(independent_heads(0).module, tokenizer(), name="independent heads")
    measured = Sense(**SMALL).measure(run_context(tmp_path, model, Suite("independent heads", tuple(pick(0)))))
    (head_map,) = measured.maps
    q = q_by_head(head_map)
    assert {head for head in q if q[head] < 0.05} == {FIRST, SECOND}
    metrics = [entry.metric for entry in measured.diagnostics]
    assert any(metric.startswith(BEYOND) for metric in metrics)
    assert not any(metric.startswith(BACKS_UP) for metric in metrics)


def test_where_no_head_matters_nothing_is_discovered_and_the_map_is_doubted(tmp_path):
    measured = Sense(**SMALL).measure(planted_context(tmp_path, "null"))
    (head_map,) = measured.maps
    assert min(q_by_head(head_map).values()) > 0.05
    (doubt,) = measured.doubts.values()
    assert doubt.startswith("which heads are missing says little about what unseen masks cost (held-out R2 ")


def test_a_repeated_run_computes_nothing_and_gives_the_same_bytes(tmp_path):
    context = run_context(tmp_path / "cells", tiny.planted(), tiny.copying())
    first = Sense(**SMALL).measure(context)
    again_runner = Runner(tmp_path / "cells", tiny.Listener())
    again = Sense(**SMALL).measure(context.with_runner(again_runner))
    assert not again_runner.computed and again_runner.reused
    for one, other in zip(first.maps, again.maps, strict=True):
        assert one.heads[int(one.summary.mean.argmax())] == tiny.HELPERS[one.task]
        assert one.summary.mean.tobytes() == other.summary.mean.tobytes()
        assert one.summary.low.tobytes() == other.summary.low.tobytes()
    assert repr(first.diagnostics) == repr(again.diagnostics)  # nan is not equal to itself


def test_impossible_settings_are_refused():
    with pytest.raises(UsageError, match="masks = 39 was asked for; it must be at least 40"):
        Sense(masks=39)
    with pytest.raises(UsageError, match="Unknown baseline 'median'"):
        Sense(baseline="median")


def test_the_self_test_puts_all_or_all_but_one_of_the_planted_heads_first():
    """200 masks, as in the quick preset."""
    scores = [score for score in packaged().scores if score.method == "sense" and score.recall is not None]
    assert len(scores) >= 9
    for score in scores:
        assert score.recall * score.positives >= min(score.positives, 5) - (score.positives > 1), score.model
