"""Attribution as a method: all heads, from the `fit` split. Its numbers are tested with the interventions."""

import numpy as np
import pytest

from headatlas.atlas.run_record import Quantity
from headatlas.errors import HeadAtlasError
from headatlas.methods.attribute import Attribute, mirrored, plan_tasks
from headatlas.methods.effects import attributed_both_ways
from headatlas.model import memory
from headatlas.model.heads import HeadModel
from headatlas.run.baselines import Baselines
from headatlas.run.cells import Runner
from headatlas.run.interventions import gate_gradient
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_quantity import twin_suite


def test_an_estimate_has_an_error_but_no_p_value(tmp_path):
    """A small p would be about a gradient, not about an effect."""
    context = run_context(tmp_path)
    maps = Attribute(baseline="mean").measure(context).maps
    assert [(head_map.task, head_map.measure) for head_map in maps] == [("Colours", "needed"), ("Numbers", "needed")]
    for head_map in maps:
        assert head_map.heads == context.heads
        assert head_map.summary.groups == len(set(context.groups(head_map.task, "fit")))
        assert np.isnan(head_map.summary.p_value).all()
        assert (head_map.summary.stderr > 0).all()


def test_with_twins_there_are_both_directions(tmp_path):
    maps = Attribute().measure(run_context(tmp_path, suite=twin_suite())).maps
    assert {(m.task, m.measure) for m in maps} == {(t, m) for t in ("Colours", "Numbers") for m in ("needed", "enough")}


def test_the_metric_and_the_baseline_of_every_task_are_reported(tmp_path):
    twins, plain = twin_suite(), run_context(tmp_path / "plain")
    both = Attribute().measure(run_context(tmp_path / "twins", suite=twins)).quantities
    assert both == dict.fromkeys(("Colours", "Numbers"), Quantity(metric="margin", baseline="twin"))
    asked = Attribute("logprob", "zero").measure(plain).quantities
    assert asked["Colours"] == Quantity(metric="logprob", baseline="zero")


@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_a_map_is_the_mean_gradient_over_the_examples_of_fit(tmp_path, baseline):
    context = run_context(tmp_path)
    maps = {head_map.task: head_map for head_map in Attribute("logprob", baseline).measure(context).maps}
    baselines = Baselines(baseline, context)
    for task in context.tasks:
        batches = context.batches(task, "fit")
        effects = [gate_gradient(context.model, b, baselines.for_batch(task, b)) for b in batches]
        assert sum(map(len, effects)) == len(context.examples(task, "fit"))
        np.testing.assert_allclose(maps[task].summary.mean, np.concatenate(effects).mean(0), atol=1e-6)


def test_examples_without_a_usable_twin_are_counted_aloud(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(missing=9))
    missing = {task: sum(e.counterfactual is None for e in context.examples(task, "fit")) for task in context.tasks}
    assert any(missing.values())
    measured = Attribute(baseline="twin").measure(context)
    wanted = [
        f"attribute leaves out {count} of {len(context.examples(task, 'fit'))} examples of {task}: they have no twin "
        "that can be aligned and whose answer can be compared with theirs."
        for task, count in missing.items()
        if count
    ]
    assert context.runner.reporter.said == wanted
    counted = {e.task: e.value for e in measured.diagnostics if e.metric == "examples left out"}
    assert counted == missing


def test_an_unknown_baseline_is_refused():
    with pytest.raises(HeadAtlasError, match=r"Unknown baseline 'men'. Did you mean 'mean'\?"):
        Attribute(baseline="men")


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "gemma2"])
def test_where_memory_is_short_layers_are_computed_again_and_no_number_changes(tmp_path, monkeypatch, kind):
    usual, short = (run_context(tmp_path / name, tiny.model(kind), suite=twin_suite()) for name in ("usual", "short"))
    again, checkpointed = [], HeadModel.checkpointed
    monkeypatch.setattr(HeadModel, "checkpointed", lambda self: again.append(self) or checkpointed(self))
    plain = attributed_both_ways("Attribution", plan_tasks(usual, ("fit",), None, None), {})[0]
    assert not again
    monkeypatch.setattr(memory, "free_memory", lambda device: 1000)
    less = attributed_both_ways("Attribution", plan_tasks(short, ("fit",), None, None), {})[0]
    assert again
    for task, effects in plain.items():
        assert np.abs(effects).max() > 1e-3
        np.testing.assert_allclose(less[task], effects, atol=1e-6, rtol=1e-5)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_both_directions_give_the_files_that_each_gives_alone_with_fewer_forwards(tmp_path, monkeypatch):
    context = run_context(tmp_path / "apart", suite=twin_suite(longer=4))
    context.model.sharing  # noqa: B018 - found out by forwards of its own
    calls, logits = [], HeadModel.logits
    monkeypatch.setattr(HeadModel, "logits", lambda self, ids: calls.append(ids.shape[1]) or logits(self, ids))
    quantities = plan_tasks(context, ("fit",), None, None)
    apart = (
        attributed_both_ways("needed", quantities, {})[0],
        attributed_both_ways("enough", mirrored(quantities), {})[0],
    )
    alone, calls[:] = len(calls), []
    together = plan_tasks(context.with_runner(Runner(tmp_path / "together", tiny.Listener())), ("fit",), None, None)
    effects = attributed_both_ways("both", together, mirrored(together))
    for found, expected in zip(effects, apart, strict=True):
        assert {task: values.tobytes() for task, values in found.items()} == {
            task: values.tobytes() for task, values in expected.items()
        }
    written = files(tmp_path / "together")
    assert written == files(tmp_path / "apart")
    assert len(calls) == alone / 2  # prefix, prompt and twin, in place of these for either direction

    # What an earlier run has left of a pair is used, and the rest of it is the same.
    for direction, cells in enumerate((written, sorted(written)[::2], sorted(written)[1::2])):
        for name in cells:
            (tmp_path / "together" / name).unlink()
        again = attributed_both_ways(f"again {direction}", together, mirrored(together))
        assert files(tmp_path / "together") == written
        assert again[1]["Colours"].tobytes() == apart[1]["Colours"].tobytes()
