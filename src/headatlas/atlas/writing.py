"""Writing the tables of an atlas. Every file appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headatlas.atlas.declarations import MethodInfo
from headatlas.atlas.ranking import head_ranks
from headatlas.atlas.records import Competence, Diagnostic, HeadMap
from headatlas.atlas.tables import COMPETENCE, DIAGNOSTICS, EVIDENCE, NOISE, SCORES
from headatlas.files import atomic
from headatlas.stats import q_values


def write_scores(folder: Path, model: str, maps: Iterable[HeadMap], methods: Sequence[MethodInfo]) -> None:
    infos = {info.name: info for info in methods}
    columns: dict[str, list[Any]] = {name: [] for name in SCORES.names}
    for head_map in maps:
        summary = head_map.summary
        q = q_values(summary.p_value)
        ranks = head_ranks(summary.mean, infos[head_map.method], head_map.measure)
        for i, (layer, head) in enumerate(head_map.heads):
            row = (model, head_map.method, head_map.measure, head_map.task, head_map.seed, layer, head,
                   summary.mean[i], summary.stderr[i], summary.p_value[i], q[i], summary.groups, summary.low[i],
                   summary.high[i], ranks[i])  # fmt: skip
            for name, value in zip(SCORES.names, row, strict=True):
                columns[name].append(value)
    _write(folder / "scores.parquet", pa.table(columns, schema=SCORES))


def write_noise(folder: Path, model: str, maps: Iterable[HeadMap]) -> None:
    """The noise of all maps that have one: one row per map, set of examples and head."""
    tables = [_noise_table(model, head_map) for head_map in maps if head_map.noise is not None]
    _write(folder / "noise.parquet", pa.concat_tables([NOISE.empty_table(), *tables]))


def _noise_table(model: str, head_map: HeadMap) -> pa.Table:
    assert head_map.noise is not None
    parts = head_map.noise.parts
    layers, heads = np.array(head_map.heads).T
    same = (model, head_map.method, head_map.measure, head_map.task, head_map.seed, head_map.noise.examples)
    columns: list[Any] = [[value] * parts.size for value in same]
    columns += [np.repeat(np.arange(len(parts)), parts.shape[1]), np.tile(layers, len(parts)),
                np.tile(heads, len(parts)), parts.ravel().astype(np.float32)]  # fmt: skip
    return pa.table(dict(zip(NOISE.names, columns, strict=True)), schema=NOISE)


def write_diagnostics(folder: Path, model: str, diagnostics: Iterable[Diagnostic]) -> None:
    rows = [{"model": model, **asdict(entry)} for entry in diagnostics]
    _write(folder / "diagnostics.parquet", pa.Table.from_pylist(rows, schema=DIAGNOSTICS))


def write_evidence(folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """`rows` are records of `Evidence` with the columns model, method and settings beside them."""
    _write(folder / "evidence.parquet", pa.Table.from_pylist(list(rows), schema=EVIDENCE))


def write_competence(folder: Path, entries: Iterable[Competence]) -> None:
    rows = [asdict(entry) for entry in entries]
    _write(folder / "competence.parquet", pa.Table.from_pylist(rows, schema=COMPETENCE))


def _write(path: Path, table: pa.Table) -> None:
    with atomic(path) as temporary:
        pq.write_table(table, temporary)
