"""Forwards of the intact model that several read: one for all, with the bits of each alone."""

import numpy as np
import pytest

from headatlas.methods.probe.features import collect, feature_cells, feature_reader
from headatlas.methods.probe.reading import TOKENS, Reading
from headatlas.run.cells import CellKind, CellsFailed, encode
from headatlas.run.competence import competence, competence_step
from headatlas.run.intact import Reader, intact_cell, intact_cells, reader_cell
from headatlas.suites.suite import SPLITS
from tests import tiny
from tests.methods.probe.test_features import long_answers
from tests.run.contexts import run_context


def long_context(folder, kind: str = "llama-grouped"):
    context = run_context(folder, tiny.model(kind), long_answers())
    assert context.model.sharing  # tried once, with forwards of its own
    return context


def forwards(context) -> list[int]:
    """The tokens of each forward of the model from now on."""
    ran, plain = [], context.model.logits

    def logits(ids):
        ran.append(ids.numel())
        return plain(ids)

    context.model.logits = logits
    return ran


def features(context, reading=None):
    return lambda batch: [feature_reader(context, batch, reading or Reading())]


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2"])
@pytest.mark.parametrize("tokens", TOKENS)
def test_scores_and_features_have_the_same_bits_together_and_alone(tmp_path, kind, tokens):
    context = long_context(tmp_path, kind)
    for batch in context.intact_batches("Colours", "fit"):
        reader = feature_reader(context, batch, Reading(tokens, k=3))
        alone = [intact_cell(context, batch), reader_cell(context, batch, reader)]
        together = intact_cells(context, batch, [reader])
        assert [cell.key for cell in together] == [cell.key for cell in alone]
        assert {cell.group for cell in together} == {alone[0].key}
        for one, other in zip(together, alone, strict=True):
            assert encode(one, one.result()) == encode(other, other.result())


def test_one_forward_serves_competence_and_features(tmp_path):
    context = long_context(tmp_path)
    batches = [batch for task in context.tasks for split in SPLITS for batch in context.intact_batches(task, split)]
    ran = forwards(context)
    competence(context, features(context, Reading("all")))
    assert sorted(ran) == sorted(batch.ids.numel() for batch in batches)
    read = {split: collect(context, split, Reading("all")) for split in SPLITS}
    assert len(ran) == len(batches), "they were there"
    assert all(np.abs(values).max() > 0 for split in SPLITS for values in read[split].values())


def test_tokens_and_forwards_are_counted_once(tmp_path):
    """Those of the batch with the scores, those of the second prompt with the features."""
    context = long_context(tmp_path)
    for reading in (Reading("all"), Reading("important", k=2)):
        step = competence_step(context, features(context, reading))
        ran = forwards(context)
        for cell in step.cells:
            cell.result()
        assert (sum(cell.forwards for cell in step.cells), sum(cell.tokens for cell in step.cells)) == (
            len(ran),
            sum(ran),
        )
        alone = competence_step(context)
        assert len(step.cells) == 2 * len(alone.cells) and alone.beside == 0
        examples = sum(len(part.examples) for part in context.splits.values())
        assert step.beside == 4 * examples * len(context.heads) * context.model.head_dim


def test_features_that_come_later_are_those_that_are_read_at_once(tmp_path):
    """Where scores are there already nothing is read with them: the tasks that are mapped are read later, alone."""
    contexts = {name: long_context(tmp_path / name) for name in ("at once", "later", "without")}
    for name, readers in (("at once", features), ("later", None)):
        competence(contexts[name], readers and readers(contexts[name]))
    later = contexts["later"]
    ran = forwards(later)
    assert competence(later, features(later)) == competence(contexts["at once"])
    assert not ran
    for context in contexts.values():
        for split in SPLITS:
            collect(context, split, Reading())
    assert len(ran) > 0
    assert contents(tmp_path / "at once") == contents(tmp_path / "later")
    assert contents(tmp_path / "without").items() < contents(tmp_path / "later").items()


def no_luck(*_):
    raise RuntimeError("cannot read this")


@pytest.mark.parametrize("steps", [(no_luck, dict), (lambda *_: None, no_luck)], ids=["while it runs", "at the end"])
def test_what_cannot_be_read_fails_where_it_is_needed_and_not_in_competence(tmp_path, steps):
    context, broken = long_context(tmp_path), Reader(CellKind("broken"), *steps)
    expected = competence(long_context(tmp_path / "alone"))
    assert competence(context, lambda _: [broken]) == expected
    assert contents(tmp_path / "alone") == contents(tmp_path)
    cell = reader_cell(context, context.intact_batches("Colours", "fit")[0], broken)
    with pytest.raises(CellsFailed, match="1 of 1 cells of Broken failed.*broken of Colours.*cannot read this"):
        context.runner.run("Broken", [cell])


def test_a_model_that_cannot_be_scored_fails_with_its_scores(tmp_path):
    context = long_context(tmp_path)

    def logits(ids):
        raise RuntimeError("no forward")

    context.model.logits = logits
    batches = sum(len(context.intact_batches(task, split)) for task in context.tasks for split in SPLITS)
    with pytest.raises(CellsFailed, match=f"{batches} of {batches} cells of Competence failed.*intact scores"):
        competence(context, features(context))


def test_features_are_addressed_by_batches_with_all_options(tmp_path):
    context = long_context(tmp_path)
    for task, cells in feature_cells(context, "fit", Reading()).items():
        batches = context.batches(task, "fit", with_distractors=True, closed=True)
        assert [cell.inputs["batch"] for cell in cells] == [batch.key for batch in batches]
