"""A method and an evidence test of a user: one class each, and everything else picks them up from their declaration."""

from dataclasses import dataclass

import numpy as np
import pytest

import headatlas as ha
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
from tests import tiny

NOTHING = frozenset()


@dataclass(frozen=True)
class Loudness(ha.Method):
    """How much each head writes where answers are predicted: a method that someone might want to add."""

    info = ha.MethodInfo(
        name="loudness",
        title="Loudness",
        summary="measures how much each head writes",
        meaning="The length of what a head writes, which says nothing about its use.",
        kind="importance",
        measures=(ha.Measure(name="length", meaning="the head writes much", unit="units"),),
        primary="length",
        priority=99,
    )
    power: float = 1.0

    def measure(self, context):
        import torch

        maps = []
        for task in context.tasks:
            lengths = []
            for batch in context.batches(task, "choose"):
                with torch.no_grad(), context.model.capture(reduce=lambda _, z: z.norm(dim=-1).mean(1)) as norms:
                    context.model.logits(batch.ids)
                layers = [norms[layer] for layer in range(context.model.n_layers)]
                lengths.append(torch.stack(layers, 1).flatten(1).numpy() ** self.power)
            effects = context.per_example(task, "choose", lengths).astype(float)
            maps.append(ha.effect_map(self.info, task, context.heads, effects, context.groups(task, "choose")))
        return ha.Measured(maps)


class Silence(ha.EvidenceTest):
    """Remove the first head, then the first two: a test that someone might want to add."""

    info = ha.TestInfo(
        name="silence",
        title="Silencing the loudest",
        summary="removes the first heads one after another",
        question="Does the answer notice?",
        shape="curve",
        axis="heads silenced",
        controls=(ha.Control(name="top", meaning="the first heads of the map"),),
        reference=None,
    )

    def run(self, trial):
        sets = {task: [NOTHING, trial.rankings[task].top(1), trial.rankings[task].top(2)] for task in trial.tasks}
        rows = []
        for task, outcome in trial.remove("Silence", sets).items():
            planned = [(task, {"control": "top", "k": k}) for k in (1, 2)]
            rows += self.level_rows(outcome, trial.groups(task), task, planned)
        return rows


@pytest.fixture(scope="module", autouse=True)
def registered():
    ha.register_method(Loudness)
    ha.register_test(Silence)
    yield
    METHODS.remove("loudness")
    TESTS.remove("silence")


@pytest.fixture(scope="module")
def atlas(registered, tmp_path_factory):
    out = tmp_path_factory.mktemp("registered") / "atlas"
    quiet = tiny.Listener()
    model, suite = tiny.model(context=2048), tiny.suite()
    ha.map(model, suite, ["attribute", "loudness"], out=out, settings={"loudness": {"power": 2.0}}, at_chance=True,
           reporter=quiet)  # fmt: skip
    return ha.verify(out, model, suite, tests=["mask", "silence"], ks=[2], draws=4, limit=6, reporter=quiet)


def test_the_method_maps_and_is_the_default_because_it_says_so(atlas):
    assert atlas.methods == ["attribute", "loudness"]
    assert atlas.run.default_method == "loudness"
    assert atlas.run.settings.methods["loudness"] == {"power": 2.0}
    table = atlas.table("colours")
    assert (np.diff(table["value"]) <= 0).all() and (table["value"] > 0).all()
    assert atlas.info("loudness").ranking == "largest length first"


def test_the_test_leaves_evidence_about_the_heads_it_removed(atlas):
    rows = atlas.evidence.query("test == 'silence' and metric == 'logprob'")
    assert rows.groupby("task")["k"].apply(list).to_dict() == {"Colours": [1, 2], "Numbers": [1, 2]}
    assert (rows["value"] != rows["intact"]).all()
    assert {entry.test for entry in atlas.run.verifications} == {"mask", "silence"}


def test_top_names_the_measure_and_its_rule(atlas, command):
    top = command("top", atlas.path, "--task", "colours", "-k", 2)
    assert top.returncode == 0, top.stderr
    words = " ".join(top.stdout.split())  # titles are wrapped
    assert "largest length first" in words
    assert "length (units)" in words


def test_the_report_tells_of_both(atlas):
    text = (atlas.path / "report.md").read_text()
    assert "which says nothing about its use" in text
    assert "Silencing the loudest" in text


def test_the_page_tells_of_both(atlas):
    page = (atlas.path / "report.html").read_text()
    assert "which says nothing about its use" in page
    assert "Silencing the loudest" in page
    assert "heads silenced" in page


def test_a_figure_is_drawn_for_both(atlas):
    names = {path.name for path in (atlas.path / "figures").iterdir()}
    assert {"importance.png", "silence.png"} <= names


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("map", "loudness   measures how much each head writes"),
        ("map", "loudness   power"),
        ("verify", "silence      removes the first heads one after another"),
    ],
)
def test_help_lists_both(name, line, command):
    assert line in command(name, "--help").stdout


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ha.HeadAtlasError, match="There already is a method called 'loudness'"):
        ha.register_method(Loudness)
