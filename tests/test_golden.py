"""Maps must keep the numbers they had: four small models and the bundled one, against tables in tests/golden.

A change that is meant to change numbers writes the tables anew, and says why: python -m tests.test_golden
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headatlas as ha
from headatlas.methods import attribute
from headatlas.methods.effects import exact_effects, single_heads
from headatlas.methods.probe import paper
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import plan_quantity
from headatlas.run.selection import split_examples
from headatlas.workflows.presets import split_limits
from tests import tiny

GOLDEN = Path(__file__).parent / "golden"
FAMILIES = ("llama-grouped", "gpt2", "gemma2", "gpt_neox")

# The settings behind the tables, all in one place. Each entry: the name in the table, the methods, their settings.
PAPER = {"kind": "paper", "shuffles": 10}
PLAIN = {"metric": "logprob", "baseline": "mean"}  # what effects were before there were margins and twins
# Gates as published: binary ones have a threshold, where rounding could decide.
SOFT = {"gates": "paper", "schedule": "cooldown", "cooldown": 5, "check": 3, "tasks": ()}
TINY = (
    (None, ["attribute", "ablate", "probe", "gate"], {
        "attribute": PLAIN,
        "ablate": {**PLAIN, "exact": "all"},
        "gate": {**SOFT, "seeds": 2, "steps": 6, "batch": 8},
    }),
    ("probe paper", ["probe"], {"probe": PAPER}),
)  # fmt: skip
BUNDLED = (
    (None, ["attribute", "probe", "gate"], {
        "attribute": PLAIN,
        "gate": {**SOFT, "tasks": ("Retrieval",), "seeds": 1, "steps": 3, "batch": 4},
    }),
    ("probe paper", ["probe"], {"probe": PAPER}),
)  # fmt: skip
BUNDLED_SUITE = {"suite": "cognitive", "tasks": ["Retrieval", "Syntactic Understanding"], "limit": 14}
BUNDLED_EPOCHS = 6  # of the paper's probe, which has nine million weights for this model

EFFECTS = ("attribute", "ablate")
KEYS = ["model", "method", "measure", "task", "seed", "layer", "head"]
NUMBERS = ["value", "stderr", "p_value", "q_value"]
# The roles of gates follow from the two gates; the small models test that they do.
DERIVED = ("facilitation", "irrelevance", "interference")

# How far apart AVX-512 and SSE4 were (the largest difference in a table). About 20 to 50 times that is allowed.
#                     small models                     bundled model
#                     value, stderr    p, q            value, stderr    p, q
# attribute, ablate   5.5e-7           1.7e-5          8.6e-6           1.1e-4
# probe importance    4.4e-6           1.6e-5          4.5e-7           8.4e-6
# probe alone         5.5e-6           1.0e-5          2.0e-4           2.1e-5
# probe paper         4.1e-9           9.1e-6          5.1e-8           2.2e-4
# gate                3.1e-6           none            3.1e-4           none
SMALL_TOLERANCES = {
    "attribute": (1e-5, 5e-4),
    "ablate": (1e-5, 5e-4),
    "probe": (1e-4, 5e-4),
    # A fit ends at a share of its first gradient: where rounding decides between two steps, they are 2.6e-4 apart.
    "probe information": (1e-3, 5e-4),
    "probe paper": (1e-7, 5e-4),
    "gate": (1e-4, 0.0),
}
BUNDLED_TOLERANCES = {
    "attribute": (2e-4, 2e-3),
    "ablate": (2e-4, 2e-3),
    "probe information": (1e-5, 5e-4),
    "probe alone": (4e-3, 5e-4),
    "probe paper": (2e-6, 5e-3),
    "gate": (6e-3, 0.0),
}


@pytest.fixture(autouse=True)
def nothing_published(monkeypatch) -> None:
    """Only numbers are compared: no figures, no report."""
    monkeypatch.setattr("headatlas.workflows.map.publish", lambda *_, **__: None)


def mapped(name: str, model: object, maps: tuple, folder: Path, **settings: object) -> pd.DataFrame:
    """The scores of several maps of one model as one table."""
    tables = []
    for renamed, methods, method_settings in maps:
        atlas = ha.map(
            model, methods=methods, settings=method_settings, out=folder / name, at_chance=True,
            reporter=Reporter(quiet=True), **settings,
        )  # fmt: skip
        table = atlas.scores.assign(model=name)
        tables.append(table.assign(method=renamed) if renamed else table)
    return as_it_was(pd.concat(tables)[KEYS + NUMBERS])


def as_it_was(table: pd.DataFrame) -> pd.DataFrame:
    """The effects under the name they had; their p-values have another definition now and are not compared."""
    effects = table["method"].isin(EFFECTS)
    table = table[~effects | (table["measure"] == "needed")].copy()
    table.loc[table["method"].isin(EFFECTS), "measure"] = "importance"
    return table


def small(kind: str, folder: Path) -> pd.DataFrame:
    return mapped(kind, tiny.model(kind), TINY, folder, suite=tiny.suite())


def bundled(folder: Path) -> pd.DataFrame:
    model = ha.load("smollm2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "EPOCHS", BUNDLED_EPOCHS)
        patch.setattr(attribute, "check_signs", lambda *_: [])  # gives no scores
        scores = mapped("smollm2", model, BUNDLED, folder, **BUNDLED_SUITE)
    sizes = (scores["method"] == "probe paper") & (scores["measure"] == "information")  # of the signed measure
    scores = scores[~scores["measure"].isin(DERIVED) & ~sizes].drop(columns=["stderr", "q_value"])
    return pd.concat([scores, ablated(model, folder)])


def ablated(model: ha.HeadModel, folder: Path) -> pd.DataFrame:
    """Exact effects of the heads of the bundled model that were ablated when the table was written: a few of 270."""
    suite = ha.load_suite(BUNDLED_SUITE["suite"]).only(BUNDLED_SUITE["tasks"])
    splits = split_examples(suite, split_limits("quick", BUNDLED_SUITE["limit"]), 0)
    context = ha.RunContext(model, splits, Runner(folder / "cells", Reporter(quiet=True)), Encoder(model))
    golden = pd.read_csv(GOLDEN / "bundled.csv").query("method == 'ablate'")
    tables = []
    for task, rows in golden.groupby("task"):
        heads = list(zip(rows["layer"], rows["head"], strict=True))
        quantity = plan_quantity(context, task, ("choose",), **PLAIN)
        effects = exact_effects("Ablation", {task: quantity}, {task: single_heads(heads)})[task]
        tables.append(rows.assign(value=effects.mean(0), p_value=np.nan))
    return pd.concat(tables)


def differences(table: pd.DataFrame, golden: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """By method, measure and column: rows with the keys and both numbers. Both tables must be about the same heads."""
    pairs = golden.merge(table, on=KEYS, how="outer", suffixes=(" golden", ""), indicator=True)
    unpaired = pairs[pairs["_merge"] != "both"]
    assert unpaired.empty, f"not in both tables:\n{unpaired[[*KEYS, '_merge']].head(12).to_string()}"
    for (method, measure), rows in pairs.groupby(["method", "measure"]):
        for column in set(NUMBERS[:2] if method in EFFECTS or measure == "alone" else NUMBERS) & set(golden.columns):
            yield method, measure, column, rows[[*KEYS, f"{column} golden", column]]


def compare(table: pd.DataFrame, golden: pd.DataFrame, tolerances: dict[str, tuple[float, float]]) -> None:
    assert len(golden) > 0
    for method, measure, column, rows in differences(table, golden):
        expected, found = rows[f"{column} golden"].to_numpy(), rows[column].to_numpy()
        allowed = tolerances.get(f"{method} {measure}") or tolerances[method]
        tolerance = allowed[column in ("p_value", "q_value")]
        wrong = ~np.isclose(found, expected, rtol=1e-6, atol=tolerance, equal_nan=True)
        assert not wrong.any(), (
            f"{method} {measure}: {wrong.sum()} of {len(rows)} numbers of {column} differ from tests/golden by more "
            f"than {tolerance:g}:\n{rows[wrong].head(12).to_string(index=False)}"
        )


@pytest.mark.parametrize("kind", FAMILIES)
def test_small_models_keep_their_numbers(kind, tmp_path):
    golden = pd.read_csv(GOLDEN / "tiny.csv").query("model == @kind")
    compare(small(kind, tmp_path), golden, SMALL_TOLERANCES)


@pytest.mark.model
@pytest.mark.slow
def test_the_bundled_model_keeps_its_numbers(tmp_path):
    compare(bundled(tmp_path), pd.read_csv(GOLDEN / "bundled.csv"), BUNDLED_TOLERANCES)


def test_a_number_that_moved_and_a_head_that_is_missing_are_noticed():
    golden = pd.read_csv(GOLDEN / "tiny.csv")
    compare(golden, golden, SMALL_TOLERANCES)
    measures = golden["method"] + " " + golden["measure"]
    for name, (tolerance, _) in SMALL_TOLERANCES.items():
        moved = golden.copy()
        named = (measures == name) | ((golden["method"] == name) & ~measures.isin(SMALL_TOLERANCES))
        moved.loc[moved.index[named][7], "value"] += 2 * tolerance
        with pytest.raises(AssertionError, match=f"{name}.*: 1 of .* numbers of value differ"):
            compare(moved, golden, SMALL_TOLERANCES)
    with pytest.raises(AssertionError, match="not in both tables"):
        compare(golden.drop(index=30), golden, SMALL_TOLERANCES)


def write(table: pd.DataFrame, name: str) -> None:
    table.to_csv(GOLDEN / name, index=False, float_format="%.8g", lineterminator="\n")


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        write(pd.concat(small(kind, Path(scratch)) for kind in FAMILIES), "tiny.csv")
        write(bundled(Path(scratch)), "bundled.csv")
