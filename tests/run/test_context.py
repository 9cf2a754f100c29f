"""The context of a run: batches once, keys that hold everything numbers depend on, examples back in their order."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors import safe_open

from headatlas.evidence import hierarchy, trial
from headatlas.methods import ablate, attention, attribute, effects
from headatlas.methods.gate import cells as gate_cells
from headatlas.methods.gate import contrast_fit, stages
from headatlas.methods.gate.contrast import Contrast
from headatlas.methods.gate.gate import Gate
from headatlas.methods.probe import features, linear, paper
from headatlas.methods.probe.probe import Probe
from headatlas.run import baselines, competence, generation, intact
from headatlas.run import context as context_module
from headatlas.run.cells import CellKind
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context

# Every kind of cell: the module and the name of its constant.
KINDS = [
    (intact, "INTACT"),
    (baselines, "MEAN"),
    (generation, "ANSWERS"),
    (effects, "ATTRIBUTION"),
    (effects, "EXACT"),
    (attention, "ATTENTION"),
    (features, "FEATURES"),
    (linear, "LINEAR"),
    (paper, "EPOCHS_CHOSEN"),
    (paper, "PAPER"),
    (stages, "FIT"),
    (contrast_fit, "FIT"),
    (gate_cells, "GATED"),
    (trial, "REMOVAL"),
    (trial, "SCALING"),
    (trial, "PUSHING"),
    (hierarchy, "WALK"),
]
# Cells whose numbers depend on those of another kind through its key, and must follow it.
FOLLOWERS = {
    "mean of heads": {"attribution", "exact effects"},
    "gate fit": {"gated likelihood"},
    "contrast fit": {"gated likelihood"},
}
QUICK = {"steps": 4, "batch": 8, "check": 2}


def kind_of(module, name: str) -> CellKind:
    return getattr(module, name)


def cell_kinds(runner) -> set[str]:
    """The kinds of the cells that a runner has computed."""
    kinds = set()
    for key in runner.computed:
        with safe_open(runner.folder / f"{key}.safetensors", framework="np") as file:
            kinds.add(json.loads(file.metadata()["inputs"])["kind"][0])
    return kinds


def measure_everything(folder) -> set[str]:
    """Run all methods; the kinds of the cells that were not there yet."""
    context = run_context(folder)
    competence.competence(context)
    methods = (
        attribute.Attribute(baseline="mean"),
        ablate.Ablate(baseline="mean", exact=4),
        attention.Attention(),
        Probe(shuffles=10),
        Probe(shuffles=10, kind="paper"),
        Gate(tasks=("Colours",), **QUICK),
        Contrast(keep="Colours", forget="Numbers", **QUICK),
    )
    for method in methods:
        method.measure(context)
    generation.with_generated_answers(context, longest=4)
    return cell_kinds(context.runner)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "EPOCHS", 1)
        yield folder, measure_everything(folder)


def test_every_kind_of_cell_has_a_name_and_a_version_of_its_own():
    kinds = [kind_of(*kind) for kind in KINDS]
    assert len({kind.name for kind in kinds}) == len(KINDS)
    assert all(kind.version >= 1 for kind in kinds)


def test_the_methods_compute_only_kinds_that_are_listed_here(measured):
    _, computed = measured
    tested = {kind_of(*kind).name for kind in KINDS if kind[0] not in (trial, hierarchy)}
    assert computed == tested


@pytest.mark.parametrize(
    ("module", "name"),
    [kind for kind in KINDS if kind[0] not in (trial, hierarchy)],  # those are tested with the trials
    ids=lambda part: getattr(part, "__name__", part).split(".")[-1],
)
def test_a_raised_version_recomputes_that_kind_and_what_is_made_from_it(measured, module, name, monkeypatch):
    folder, _ = measured
    assert measure_everything(folder) == set(), "nothing has changed yet"
    kind = kind_of(module, name)
    monkeypatch.setattr(module, name, kind._replace(version=kind.version + 1000))
    assert measure_everything(folder) == {kind.name} | FOLLOWERS.get(kind.name, set())


# Keys


def key(context, **inputs) -> str:
    return context.cell(CellKind("x"), dict, 1, **inputs).key


def test_the_key_of_every_cell_holds_model_dtype_device_kernel_and_library_versions(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    cell = context.cell(CellKind("x", 3), dict, 12.6, batch="abc")
    assert cell.identity == {
        "kind": ["x", 3],
        "batch": "abc",
        "environment": {
            "model": context.model.fingerprint(),
            "dtype": "torch.float32",
            "device": "cpu",
            "kernel": "sdpa",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
    }
    assert cell.tokens == 13
    usual = key(context)
    assert key(run_context(tmp_path)) == usual
    assert key(run_context(tmp_path, tiny.model(seed=1))) != usual
    eager = tiny.model()
    eager.module.set_attn_implementation("eager")
    assert eager.fingerprint() == context.model.fingerprint()
    half = tiny.model()
    half.module.to(torch.bfloat16)
    keys = {usual, key(run_context(tmp_path, eager)), key(run_context(tmp_path, half))}
    for library in (context_module.torch, context_module.transformers):  # as the module under test knows them
        with monkeypatch.context() as patch:
            patch.setattr(library, "__version__", "0.0.1")
            keys.add(key(run_context(tmp_path)))
    assert len(keys) == 5


def test_where_positions_turn_by_length_the_key_says_so(tmp_path):
    """Cells of a version that shared beginnings of such models were wrong, and are not used again."""
    turning = tiny.model("llama")
    turning.module.config.rope_parameters = {"rope_type": "dynamic", "factor": 2.0}
    assert run_context(tmp_path, turning).environment["positions"] == "by length"
    assert "positions" not in run_context(tmp_path, tiny.model("llama")).environment


# Examples and batches


def test_batches_are_made_once_and_hold_answers_alone_or_all_options(tmp_path):
    context = run_context(tmp_path)
    answers = context.batches("Colours", "fit")
    options = context.batches("Colours", "fit", with_distractors=True)
    assert context.batches("Colours", "fit") is answers
    count = len(context.examples("Colours", "fit"))
    assert sum(len(batch.owners) for batch in answers) == sum(batch.size for batch in answers) == count
    assert sum(len(batch.owners) for batch in options) == 3 * count


def test_other_splits_share_model_and_runner_but_no_batch(tmp_path):
    context = run_context(tmp_path)
    before = context.batches("Colours", "fit")
    numbers = context.with_splits({split: suite.only(["Numbers"]) for split, suite in context.splits.items()})
    assert numbers.tasks == ("Numbers",) and context.tasks == ("Colours", "Numbers")
    assert numbers.runner is context.runner and numbers.model is context.model
    assert [batch.key for batch in numbers.batches("Numbers", "fit")] == [
        batch.key for batch in context.batches("Numbers", "fit")
    ]
    fewer = context.with_splits({split: suite.limit(3) for split, suite in context.splits.items()})
    assert sum(batch.size for batch in fewer.batches("Colours", "fit")) == 3
    assert context.batches("Colours", "fit") is before


def test_heads_examples_and_groups_are_in_order(tmp_path):
    context = run_context(tmp_path)
    assert context.heads == tuple((layer, head) for layer in range(3) for head in range(4))
    examples = context.examples("Numbers", "choose")
    assert context.groups("Numbers", "choose") == [example.group for example in examples]
    assert {example.task for example in examples} == {"Numbers"}


def test_results_of_batches_come_back_in_the_order_of_the_examples(tmp_path):
    """Several batches, sorted by length: the lengths of the examples, read from the rows, are put back in order."""
    examples = [
        e.model_copy(update={"prompt": f"{'the key is in the box and ' * (i * 7 % 5)}{e.prompt}"})
        for i, e in enumerate(tiny.suite(48).examples)
    ]
    context = run_context(tmp_path, tiny.model(), Suite("lengths", tuple(examples)))
    batches = {task: context.batches(task, "fit") for task in context.tasks}
    assert len(batches["Colours"]) > 1

    def cell(batch):
        return context.cell(CellKind("lengths"), lambda: {"length": batch.lengths.numpy()}, 1, batch=batch.key)

    cells = {task: [cell(batch) for batch in batches[task]] for task in context.tasks}
    lengths = context.run_by_batch("Lengths", "fit", cells, "length")
    for task in context.tasks:
        expected = [len(context.encoder.encode(example)[0].tokens) - 1 for example in context.examples(task, "fit")]
        np.testing.assert_array_equal(lengths[task], expected)
        assert expected != sorted(expected)


def test_remarks_go_to_the_reporter(tmp_path):
    context = run_context(tmp_path)
    context.say("one remark")
    assert context.runner.reporter.said == ["one remark"]
