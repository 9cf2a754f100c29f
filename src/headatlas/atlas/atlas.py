"""Reading an atlas: its maps, its tables, and how its heads are ranked."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from headatlas.atlas.declarations import MethodInfo
from headatlas.atlas.heads import choose_heads
from headatlas.atlas.portraits import Graph, Portrait, portraits, read_graphs, read_portrait
from headatlas.atlas.ranking import head_order
from headatlas.atlas.reading import read_table
from headatlas.atlas.records import COMPETENT, Head
from headatlas.atlas.run_record import RunRecord, read_run
from headatlas.atlas.tables import COMPETENCE, DIAGNOSTICS, EVIDENCE, LATER, NOISE, SCORES
from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.stats import Array
from headatlas.wording import head_name

if TYPE_CHECKING:
    from headatlas.patterns import Finding
    from headatlas.use.steering import Steering

MAP = ("method", "measure", "task")  # what a map is of


class Atlas:
    """Read access to an atlas folder. Tables are pandas frames, loaded when first used.

    A map in progress can be read as well: what the methods that are done have written. `run.pending` names the others.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.run: RunRecord = read_run(self.path)

    @cached_property
    def scores(self) -> pd.DataFrame:
        return self._of_declared(self._table("scores.parquet", SCORES))

    @cached_property
    def maps(self) -> dict[tuple[str, str, str], pd.DataFrame]:
        """The rows of `scores` by method, measure and task, without the columns that say these: asking for one map
        does not look through all of them."""
        columns = [name for name in SCORES.names if name not in ("model", *MAP)]
        return dict(iter(self.scores.groupby(list(MAP), sort=False)[columns]))

    @cached_property
    def competence(self) -> pd.DataFrame:
        return self._table("competence.parquet", COMPETENCE)

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """What the methods report beside their maps: accuracies, controls, curves."""
        return self._of_declared(self._table("diagnostics.parquet", DIAGNOSTICS, optional=True))

    @cached_property
    def noise(self) -> pd.DataFrame:
        """How sets of examples move the maps, all heads together; empty for atlases that were made without it."""
        return self._of_declared(self._table("noise.parquet", NOISE, optional=True))

    @cached_property
    def evidence(self) -> pd.DataFrame:
        """The outcomes of interventions; empty before `verify`, and as long as maps are still to come."""
        if self.run.pending:  # what is there was about the maps of an earlier run
            return EVIDENCE.empty_table().to_pandas()
        return self._table("evidence.parquet", EVIDENCE, optional=True, later=LATER)

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads) of the model."""
        return self.run.model.layers, self.run.model.heads

    @cached_property
    def tasks(self) -> list[str]:
        """The tasks that were mapped."""
        return self.scores["task"].unique().tolist()

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Every task of the suite, mapped or not, with its verdict of competence."""
        return dict(zip(self.competence["task"], self.competence["verdict"], strict=True))

    def why_not_read(self, task: str, method: str) -> str | None:
        """Why a map is not to be read, in a few words: the intact model cannot do the task, or the map failed its
        method's own check; None where neither is so."""
        verdict = self.verdicts.get(task, COMPETENT)
        return verdict if verdict != COMPETENT else self.run.doubts.get(method, {}).get(task)

    @cached_property
    def methods(self) -> list[str]:
        """The methods that made maps."""
        return self.scores["method"].unique().tolist()

    def info(self, method: str) -> MethodInfo:
        """What a method says about itself."""
        return self.run.method(method)

    def choose_method(self, name: str | None = None) -> str:
        """The method asked for, or the default one of the atlas."""
        if not self.methods:
            raise self._without_maps()
        if name is None:
            return self.run.default_method or self.methods[-1]
        if name not in self.methods:
            raise unknown("method in this atlas", name, self.methods)
        return name

    def choose_task(self, name: str | None = None) -> str:
        """A task by its name, whose case does not matter where that leaves no doubt; the only one without a name."""
        if not self.tasks:
            raise self._without_maps()
        if name is None:
            if len(self.tasks) == 1:
                return self.tasks[0]
            raise HeadAtlasError(
                f"This atlas has maps of {len(self.tasks)} tasks: {', '.join(self.tasks)}. Say which with `task`."
            )
        if name in self.tasks:
            return name
        folded = {task.casefold(): task for task in self.tasks}
        if name.casefold() not in folded:
            raise unknown("task in this atlas", name, self.tasks)
        return folded[name.casefold()]

    def tasks_of(self, method: str) -> list[str]:
        """The tasks that a method mapped; it may have mapped some only."""
        return list(dict.fromkeys(task for name, _, task in self.maps if name == method))

    def measures_of(self, method: str) -> list[str]:
        """The measures that the maps of a method have."""
        return list(dict.fromkeys(measure for name, measure, _ in self.maps if name == method))

    def rows_of(self, method: str, measure: str, task: str) -> pd.DataFrame:
        """The rows of one map, all seeds; none where there is no such map."""
        return self.maps.get((method, measure, task), self.scores.iloc[:0])

    def choose_measure(self, method: str, name: str | None = None) -> str:
        """The measure asked for, or the method's primary one."""
        if name is None:
            return self.info(method).primary
        if name not in self.measures_of(method):
            raise unknown(f"measure of {method}", name, self.measures_of(method))
        return name

    def table(
        self,
        task: str | None = None,
        method: str | None = None,
        measure: str | None = None,
        seed: int | None = None,
    ) -> pd.DataFrame:
        """One row per measured head in the order of its rank: value, stderr, p, q and the 95 % interval.

        Without a seed it is the mean over all of them. Of several seeds no error is known, but `least` and `most` say
        between what values they lie. The rule behind `rank` is `atlas.info(method).ranking`.
        """
        task, method = self.choose_task(task), self.choose_method(method)
        if task not in self.tasks_of(method):
            raise unknown(f"task mapped by {method}", task, self.tasks_of(method))
        measure = self.choose_measure(method, measure)
        chosen = self.rows_of(method, measure, task)
        if seed is not None:
            seeds = sorted(chosen["seed"].unique().tolist())
            if seed not in seeds:
                raise HeadAtlasError(f"The maps of {task} by {method} have the seeds {seeds}, not {seed}.")
            chosen = chosen[chosen["seed"] == seed]
        if chosen["seed"].nunique() == 1:
            rows = chosen.sort_values(["layer", "head"]).assign(
                least=lambda one: one["value"], most=lambda one: one["value"]
            )
        else:
            rows = chosen.groupby(["layer", "head"], as_index=False).agg(
                value=("value", "mean"), least=("value", "min"), most=("value", "max")
            )
            rows[["stderr", "p_value", "q_value", "low", "high"]] = np.nan
        rows = rows.iloc[head_order(rows["value"].to_numpy(), self.info(method), measure)].reset_index(drop=True)
        rows["rank"] = np.arange(1, len(rows) + 1)
        return rows[["rank", "layer", "head", "value", "low", "high", "stderr", "p_value", "q_value", "least", "most"]]

    def ranking(self, task: str | None = None, method: str | None = None, measure: str | None = None) -> list[Head]:
        """The measured heads of a task, first in rank first: the one order that `top`, report, page and tests use."""
        rows = self.table(task, method, measure)
        return list(zip(rows["layer"].tolist(), rows["head"].tolist(), strict=True))

    def grid(
        self,
        task: str | None = None,
        method: str | None = None,
        measure: str | None = None,
        seed: int | None = None,
    ) -> Array:
        """The map of a task as [layer, head]; NaN where a head was not measured; the mean over seeds without one."""
        grid = np.full(self.shape, np.nan)
        rows = self.table(task, method, measure, seed)
        grid[rows["layer"], rows["head"]] = rows["value"]
        return grid

    @cached_property
    def findings(self) -> list[Finding]:
        """What the maps show beyond chance, and what they do not: `find_patterns` of the default method.

        Empty without maps, and as long as some are still to come: p-values hold for one look at all of them.
        """
        from headatlas.patterns import find_patterns

        return find_patterns(self) if self.methods and not self.run.pending else []

    def consensus(self, task: str | None = None, k: int | None = None) -> pd.DataFrame:
        """The first `k` heads of a task, or all, that at least two independent causal methods support.

        Most methods first, then in the order of the default method. For every method its value, rank and q, and whether
        it supports the head by its own rule; `headatlas.patterns.find_consensus` says what those rules are.
        """
        from headatlas.patterns import find_consensus

        return find_consensus(self, task).rows(k)

    def head(self, name: str) -> Portrait:
        """What `headatlas head` (or `headatlas.look`) has measured of a head, by its name:

        >>> atlas.head("L17H4").tasks[0].total
        """
        (head, *more) = choose_heads(name, self.shape, self.run.model.kv_heads)
        if more:
            raise UsageError(f"{name!r} names {1 + len(more)} heads; ask for one at a time.")
        path = portraits(self.path).get(head)
        if path is None:
            raise HeadAtlasError(
                f"Nobody has looked at {head_name(*head)} in {self.path} yet. Look at it with: "
                f"headatlas head {self.path} {head_name(*head)}"
            )
        return read_portrait(path)

    @property
    def heads(self) -> list[Head]:
        """The heads that have a portrait, which `head` gives."""
        return list(portraits(self.path))

    @property
    def graphs(self) -> list[Graph]:
        """How the strongest heads of tasks depend on each other; none before `headatlas head`."""
        return read_graphs(self.path)

    def plot(self, figure: str = "importance", method: str | None = None, path: str | Path | None = None) -> Any:
        """Draw a figure; returns the matplotlib figure, and writes it where a path is given."""
        from headatlas.views.figures import draw

        return draw(self, figure, method=method, path=path)

    def steering(self, task: str | None = None, strength: float | None = None, **options: Any) -> Steering:
        """A context in which the heads of a task are pushed towards right answers, around any generation:

        >>> with atlas.steering("Retrieval", strength=2.0, model=model):
        ...     model.module.generate(...)

        Without a strength it is the one that `verify` chose in its test `steer`, whose outcome is said on entering. The
        model is that of the atlas, loaded again unless given. Further options are those of
        `headatlas.use.steering.steering`.
        """
        from headatlas.use.steering import steering

        return steering(self, task, strength, **options)

    def _repr_png_(self) -> bytes:
        """What a notebook shows of an atlas: its importance figure."""
        import io

        picture = io.BytesIO()
        self.plot().savefig(picture, format="png", dpi=110, bbox_inches="tight")
        return picture.getvalue()

    def _of_declared(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of methods that run.json declares: tables are written first, so they may be one method ahead."""
        return table[table["method"].isin([info.name for info in self.run.methods])].reset_index(drop=True)

    def _without_maps(self) -> HeadAtlasError:
        if not self.run.pending:
            return HeadAtlasError(f"The atlas {self.path} has no maps. Map again with a method that makes some.")
        return HeadAtlasError(
            f"The atlas {self.path} has no maps yet. {self.run.still_to_come} If nothing is writing it, continue it "
            f"with: {self._command}"
        )

    @property
    def _command(self) -> str:
        return self.run.asked.command or "headatlas.map"

    def _table(
        self, name: str, schema: pa.Schema, optional: bool = False, later: frozenset[str] = frozenset()
    ) -> pd.DataFrame:
        return read_table(self.path / name, schema, self._command, optional, later)
