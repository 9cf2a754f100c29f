"""The page of atlas folders as they are now: rendered again when they change, and waiting for what is not there."""

from __future__ import annotations

import asyncio
import shlex
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.portraits import FOLDER
from headatlas.errors import HeadAtlasError
from headatlas.views.page.page import render, render_waiting

TABLES = ("scores", "competence", "diagnostics", "noise", "evidence")
PAUSE = 0.5  # seconds between two looks at the folders
SILENCE = 15  # seconds after which a word is sent all the same: else nobody would notice that a reader has gone


def offered(folder: Path) -> dict[str, Path]:
    """The files of an atlas that may be fetched, by name. Links that lead out of its folder are left out."""
    names = ["run.json", *(f"{name}.parquet" for name in TABLES), "report.md"]
    kinds = (".png", ".svg", ".pdf")
    figures = sorted(path for path in (folder / "figures").glob("*") if path.suffix in kinds)
    heads = sorted((folder / FOLDER).glob("*.json"))
    paths = [folder / name for name in names] + figures + heads
    home = folder.resolve()
    return {
        path.relative_to(folder).as_posix(): path
        for path in paths
        if path.is_file() and path.resolve().is_relative_to(home)
    }


def _listed(folder: Path) -> list[str]:
    """What the page names as files; portraits of heads it fetches by itself."""
    return [name for name in offered(folder) if not name.startswith(f"{FOLDER}/")]


class LivePage:
    """The page of one atlas, or of two side by side. It reads files and never runs a model."""

    def __init__(self, folders: Sequence[Path]):
        self.folders = tuple(folders)
        self._lock = threading.Lock()
        self._stamp, self._page = "", ""

    def stamp(self) -> str:
        """Another word whenever the atlases have changed: report.html is written last, run.json where there is none."""
        return "-".join(_stamp(folder) for folder in self.folders)

    def page(self) -> str:
        with self._lock:
            stamp = self.stamp()  # first: what is written meanwhile gives another one
            if stamp != self._stamp:
                self._page, self._stamp = self._render(stamp), stamp
            return self._page

    def _render(self, stamp: str) -> str:
        try:
            atlases = [Atlas(folder) for folder in self.folders]
            findings = [atlas.findings for atlas in atlases]
            return render(atlases, findings, [_listed(folder) for folder in self.folders], live=stamp)
        except HeadAtlasError as error:
            missing = [sentence for folder in self.folders if (sentence := _missing(folder))]
            return render_waiting(" ".join(missing) or str(error), stamp)

    async def events(self, is_over: Callable[[], bool]) -> AsyncIterator[str]:
        """Server-sent events: the stamp at once, and again whenever it changes."""
        sent, silent = "", 0.0
        while not is_over():
            stamp = self.stamp()
            if stamp != sent:
                yield f"event: atlas\ndata: {stamp}\n\n"
                sent, silent = stamp, 0.0
            elif silent >= SILENCE:
                yield ": nothing new\n\n"
                silent = 0.0
            await asyncio.sleep(PAUSE)
            silent += PAUSE


def _stamp(folder: Path) -> str:
    for name in ("report.html", "run.json"):
        try:
            status = (folder / name).stat()
        except OSError:
            continue
        return f"{status.st_mtime_ns:x}.{status.st_size:x}"
    return "none"


def _missing(folder: Path) -> str:
    """Why there is nothing to show yet; empty where there is something."""
    if not (folder / "run.json").exists():
        command = shlex.join(["headatlas", "map", "--out", str(folder)])
        return (
            f"There is no atlas in {folder} yet. This page shows its first results by itself. Make it with: {command}"
        )
    if not (folder / "competence.parquet").exists():
        return f"The atlas {folder} has no results yet: what the model can do is measured first, then come the maps."
    return ""
