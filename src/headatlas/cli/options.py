"""Options that several commands share, with the same help everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps ...")]
TrustRemoteCode = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")]
Json = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Baseline = Annotated[
    str | None,
    typer.Option(
        help="What replaces a removed head: twin, pair, mean, zero or resample; by default the first of "
        "twin, pair and mean that enough examples allow."
    ),
]
SetBaseline = Annotated[str | None, typer.Option(help="What replaces removed heads: mean (default), zero or resample.")]
Metric = Annotated[
    str | None,
    typer.Option(
        help="What is measured of an answer: margin or logprob; by default the margin where there is something to "
        "compare with."
    ),
]
Level = Annotated[int | None, typer.Option(help="Difficulty of a built-in suite: 1 (default), 2 or 3.")]
