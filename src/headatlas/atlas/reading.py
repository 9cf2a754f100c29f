"""Reading a table of an atlas, as pandas."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from headatlas.errors import HeadAtlasError


def read_table(
    path: Path, schema: pa.Schema, command: str, optional: bool = False, later: frozenset[str] = frozenset()
) -> pd.DataFrame:
    """A table of the atlas that `command` makes; where an optional one is missing, an empty one. Columns that came
    `later` may lack."""
    if optional and not path.exists():
        return schema.empty_table().to_pandas()
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise HeadAtlasError(
            f"The atlas {path.parent} is not finished: it has no {path.name}. Continue it with: {command}"
        ) from None
    except (OSError, pa.ArrowInvalid) as error:
        raise HeadAtlasError(f"Cannot read {path}: {error}. Map again to write it anew.") from None
    for column in schema:
        if column.name in later and column.name not in table.schema.names:
            table = table.append_column(column, pa.nulls(len(table), column.type))
    if table.schema.names != schema.names:
        missing = set(schema.names) ^ set(table.schema.names)
        raise HeadAtlasError(
            f"Cannot read {path}: its columns are not those of this version of headatlas (it differs in "
            f"{', '.join(sorted(missing))}). Map again to write it anew."
        )
    return table.to_pandas()
