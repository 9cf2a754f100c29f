"""`headatlas.export`: an atlas as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.files import atomic_folder, check_new_folder
from headatlas.progress import Reporter
from headatlas.use.formats import FORMATS
from headatlas.use.formats.request import Request

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel
    from headatlas.suites.suite import Suite


def export(
    atlas: Atlas | str | Path,
    format: str,
    out: str | Path,
    *,
    task: str | None = None,
    method: str | None = None,
    measure: str | None = None,
    model: HeadModel | str | Path | None = None,
    suite: Suite | None = None,
    k: int | None = None,
    sinks: int = 64,
    recent: int = 256,
    reporter: Reporter | None = None,
) -> list[Path]:
    """Write an atlas in a format of other programs into a new folder; returns the files.

    `csv` and `json` hold all maps, or those of one task; `duo` and `retrieval` one map; `safetensors` the steering
    vectors of the first `k` heads of every task, for which the model runs; `hub` a dataset with its card. Nothing is
    uploaded.
    """
    write = FORMATS[format]
    opened = atlas if isinstance(atlas, Atlas) else Atlas(atlas)
    folder = check_new_folder(Path(out))
    if opened.run.pending:
        raise HeadAtlasError(f"The atlas {opened.path} is not finished. {opened.run.still_to_come}")
    for name, number in (("k", k), ("sinks", sinks), ("recent", recent)):
        if number is not None and number < 1:
            raise UsageError(f"`{name}` {number} was asked for; it must be at least 1.")
    method = opened.choose_method(method)
    request = Request(
        opened,
        opened.choose_task(task) if task else None,
        method,
        opened.choose_measure(method, measure),
        reporter or Reporter(),
        model,
        suite,
        k,
        sinks,
        recent,
    )
    with atomic_folder(folder) as temporary:
        write(request, temporary)
    return sorted(path for path in folder.rglob("*") if path.is_file())
