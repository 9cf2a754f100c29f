"""The folder of a run: its maps, its figures, and what is needed to repeat it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from headatlas.errors import HeadAtlasError, unknown
from headatlas.files import atomic, write_bytes
from headatlas.stats import Array, half_width, q_values

if TYPE_CHECKING:
    from headatlas.patterns import Finding
    from headatlas.run.competence import Competence
    from headatlas.run.context import Diagnostic, HeadMap

SCHEMA = 1

SCORES = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),
        ("measure", pa.string()),  # `importance`: what the answer's log-probability loses without the head;
        # of `gate`: facilitation, interference, irrelevance, gate_plus, gate_minus; of `contrast`: gate
        ("task", pa.string()),
        ("seed", pa.int32()),
        ("layer", pa.int32()),
        ("head", pa.int32()),
        ("value", pa.float64()),
        ("stderr", pa.float64()),  # clustered by group
        ("p_value", pa.float64()),  # of "no effect", two-sided
        ("q_value", pa.float64()),  # Benjamini-Hochberg over all measured heads of the map
    ]
)
# What a method reports beside its maps: how well a probe does, its controls, its curves. Names are in docs/methods.md.
DIAGNOSTICS = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),
        ("metric", pa.string()),
        ("task", pa.string()),  # null where it is about all tasks together
        ("seed", pa.int32()),
        ("place", pa.int32()),  # the place on a curve (a rank, a step); null for single numbers
        ("value", pa.float64()),
        ("low", pa.float64()),  # 95 % interval; of a curve with a null, the null's band
        ("high", pa.float64()),
    ]
)
EVIDENCE = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),  # the method whose map chose the heads
        ("test", pa.string()),  # mask, keep, specificity, hierarchy, steer
        ("task", pa.string()),  # the task whose heads were chosen
        ("eval_task", pa.string()),  # the task that was measured; null where it is about all of them
        ("control", pa.string()),  # which heads, or what was done to them: top, lowest, random, ...
        ("k", pa.int32()),  # number of heads
        ("draw", pa.int32()),  # number of the random draw; null where nothing was drawn
        ("metric", pa.string()),
        ("value", pa.float64()),  # the metric with the intervention
        ("baseline", pa.float64()),  # the metric of the intact model on the same examples
        ("low", pa.float64()),  # 95 % interval of `value`: that of its change from the baseline, clustered by group
        ("high", pa.float64()),
    ]
)
COMPETENCE = pa.schema(
    [
        ("task", pa.string()),
        ("items", pa.int32()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("chance", pa.float64()),
        ("logprob", pa.float64()),
        ("margin", pa.float64()),  # null for tasks without distractors
        ("exact", pa.float64()),
        ("kept", pa.int32()),
        ("verdict", pa.string()),
    ]
)


class Atlas:
    """Read access to an atlas folder. Tables are pandas frames, loaded when first used."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.run: dict[str, Any] = _read_run(self.path)

    @cached_property
    def scores(self) -> pd.DataFrame:
        return self._table("scores.parquet")

    @cached_property
    def competence(self) -> pd.DataFrame:
        return self._table("competence.parquet")

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """What the methods report beside their maps: accuracies, controls, curves; empty where nothing was reported."""
        return self._table("diagnostics.parquet", DIAGNOSTICS)

    @cached_property
    def evidence(self) -> pd.DataFrame:
        """The outcomes of interventions; empty before `verify`."""
        return self._table("evidence.parquet", EVIDENCE)

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads) of the model."""
        return self.run["model"]["layers"], self.run["model"]["heads"]

    @cached_property
    def tasks(self) -> list[str]:
        """The tasks that were mapped."""
        return self.scores["task"].unique().tolist()

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Every task of the suite, mapped or not, with its verdict of competence."""
        return dict(zip(self.competence["task"], self.competence["verdict"], strict=True))

    @cached_property
    def methods(self) -> list[str]:
        return self.scores["method"].unique().tolist()

    def choose_method(self, name: str | None = None) -> str:
        """The method asked for; without one, the last that measured the importance of every head."""
        if name is not None:
            if name not in self.methods:
                raise unknown("method in this atlas", name, self.methods)
            return name
        layers, heads = self.shape
        importance = self.scores[self.scores["measure"] == "importance"]
        measured = importance.groupby(["method", "task", "seed"], sort=False).size()
        smallest = measured.groupby("method", sort=False).min()
        complete = [method for method in smallest.index if smallest[method] == layers * heads]
        return (complete or list(smallest.index) or self.methods)[-1]

    def choose_task(self, name: str) -> str:
        """A task by its name; case does not matter where that leaves no doubt."""
        if name in self.tasks:
            return name
        folded = {task.casefold(): task for task in self.tasks}
        if name.casefold() not in folded:
            raise unknown("task in this atlas", name, self.tasks)
        return folded[name.casefold()]

    def tasks_of(self, method: str) -> list[str]:
        """The tasks that a method mapped; gates may be fitted to some only."""
        return list(dict.fromkeys(self.scores.loc[self.scores["method"] == method, "task"]))

    def choose_measure(self, method: str, name: str | None = None) -> str:
        """The measure asked for; without one the method's importance, or of gates the facilitation."""
        known = list(dict.fromkeys(self.scores.loc[self.scores["method"] == method, "measure"]))
        if name is None:
            return "importance" if "importance" in known else known[0]
        if name not in known:
            raise unknown(f"measure of {method}", name, known)
        return name

    def table(
        self, task: str, method: str | None = None, measure: str | None = None, seed: int | None = 0
    ) -> pd.DataFrame:
        """One row a measured head, strongest first: value, stderr, p, q and the 95 % interval.

        Without a seed it is the mean over all of them, for which no error is known.
        """
        task, method = self.choose_task(task), self.choose_method(method)
        if task not in self.tasks_of(method):
            raise unknown(f"task mapped by {method}", task, self.tasks_of(method))
        wanted = {"task": task, "method": method, "measure": self.choose_measure(method, measure)}
        chosen = self.scores
        for column, value in wanted.items():
            chosen = chosen[chosen[column] == value]
        columns = ["layer", "head", "value", "stderr", "p_value", "q_value"]
        if seed is None and chosen["seed"].nunique() > 1:
            rows = chosen.groupby(["layer", "head"], as_index=False)["value"].mean().reindex(columns=columns)
        else:
            rows = chosen.loc[chosen["seed"] == (seed or 0), columns].copy()
        reach = half_width(self.run["groups"][method][task]) * rows["stderr"]
        rows["low"], rows["high"] = rows["value"] - reach, rows["value"] + reach
        order = rows["value"].abs().sort_values(ascending=False, kind="stable").index
        return rows.loc[order].reset_index(drop=True)

    def grid(self, task: str, method: str | None = None, measure: str | None = None, seed: int | None = 0) -> Array:
        """The map of a task as [layer, head]; NaN where a head was not measured; the mean over seeds without one."""
        grid = np.full(self.shape, np.nan)
        rows = self.table(task, method, measure, seed)
        grid[rows["layer"], rows["head"]] = rows["value"]
        return grid

    @cached_property
    def findings(self) -> list[Finding]:
        """What the maps show beyond chance, and what they do not: `find_patterns` of the default method."""
        from headatlas.patterns import find_patterns

        return find_patterns(self)

    def plot(self, figure: str = "importance", method: str | None = None, path: str | Path | None = None) -> Any:
        """Draw a figure; returns the matplotlib figure, and writes it where a path is given."""
        from headatlas.views.figures import draw

        return draw(self, figure, method=method, path=path)

    def _repr_png_(self) -> bytes:
        """What a notebook shows of an atlas: its importance figure."""
        import io

        picture = io.BytesIO()
        self.plot().savefig(picture, format="png", dpi=110, bbox_inches="tight")
        return picture.getvalue()

    def _table(self, name: str, otherwise: pa.Schema | None = None) -> pd.DataFrame:
        """A table of the atlas; where it is missing, an empty one if it need not be there."""
        if otherwise is not None and not (self.path / name).exists():
            return otherwise.empty_table().to_pandas()
        try:
            return pq.read_table(self.path / name).to_pandas()
        except FileNotFoundError:
            command = self.run.get("asked", {}).get("command") or "headatlas.map"
            raise HeadAtlasError(
                f"The atlas {self.path} is not finished: it has no {name}. Continue it with: {command}"
            ) from None
        except (OSError, pa.ArrowInvalid) as error:
            raise HeadAtlasError(f"Cannot read {self.path / name}: {error}. Map again to write it anew.") from None


def _read_run(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise HeadAtlasError(f"There is no folder {path}. Make an atlas with: headatlas map --out {path}")
    try:
        run = json.loads((path / "run.json").read_text())
        version = run["schema"]
    except FileNotFoundError:
        raise HeadAtlasError(f"The folder {path} is not an atlas: there is no run.json in it.") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise HeadAtlasError(f"{path / 'run.json'} cannot be read as the description of an atlas.") from None
    if version != SCHEMA:
        raise HeadAtlasError(
            f"The atlas {path} has schema version {version}; this headatlas reads version {SCHEMA}. Use the version of "
            "headatlas that wrote it, or map again."
        )
    return run


def write_run(path: Path, run: dict[str, Any]) -> None:
    write_bytes(path / "run.json", (json.dumps({"schema": SCHEMA, **run}, indent=2) + "\n").encode())


def write_scores(path: Path, model: str, maps: Iterable[HeadMap]) -> None:
    columns: dict[str, list[Any]] = {name: [] for name in SCORES.names}
    for found in maps:
        summary = found.summary
        q = q_values(summary.p_value)
        for i, (layer, head) in enumerate(found.heads):
            row = (model, found.method, found.measure, found.task, found.seed, layer, head,
                   summary.mean[i], summary.stderr[i], summary.p_value[i], q[i])  # fmt: skip
            for name, value in zip(SCORES.names, row, strict=True):
                columns[name].append(value)
    _write_table(path / "scores.parquet", pa.table(columns, schema=SCORES))


def write_diagnostics(path: Path, model: str, found: Iterable[Diagnostic]) -> None:
    rows = [{"model": model, **asdict(entry)} for entry in found]
    _write_table(path / "diagnostics.parquet", pa.Table.from_pylist(rows, schema=DIAGNOSTICS))


def write_evidence(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    _write_table(path / "evidence.parquet", pa.Table.from_pylist(list(rows), schema=EVIDENCE))


def write_competence(path: Path, found: Iterable[Competence]) -> None:
    rows = [asdict(entry) for entry in found]
    _write_table(path / "competence.parquet", pa.Table.from_pylist(rows, schema=COMPETENCE))


def _write_table(path: Path, table: pa.Table) -> None:
    with atomic(path) as temporary:
        pq.write_table(table, temporary)
