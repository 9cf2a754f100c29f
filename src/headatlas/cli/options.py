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
SuiteOption = Annotated[str, typer.Option(help="A built-in suite or a JSONL task file.")]
Methods = Annotated[str | None, typer.Option(help="Methods, separated by commas; see below which run by default.")]
Tasks = Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")]
Preset = Annotated[str, typer.Option(help="How much is measured: quick, standard or paper.")]
Limit = Annotated[int | None, typer.Option(help="Examples per task; the preset's by default.")]
Seeds = Annotated[int | None, typer.Option(help="Repetitions of what is random; the preset's by default.")]
Exact = Annotated[
    str | None,
    typer.Option(help="Examples per task that ablate measures exactly for every head: a number, or all."),
]
Top = Annotated[
    int | None,
    typer.Option(
        help="Let heads race: ablate measures only what settles which heads are the strongest, this many of each task."
    ),
]
Confidence = Annotated[
    float | None, typer.Option(help="How sure --top shall be of them, in each task; 0.95 by default.")
]
Gates = Annotated[
    str | None,
    typer.Option(help="binary: gates that are open or closed, or paper: gates that scale heads, as published."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="METHOD.SETTING=VALUE", help="A setting of a method; may be repeated."),
]
Chat = Annotated[bool, typer.Option("--chat", help="Put prompts into the tokenizer's chat template.")]
Quantize = Annotated[
    str | None, typer.Option(help="Load matrices of the layers in 8 or 4 bits; needs pip install headatlas[quantize].")
]
Dtype = Annotated[str | None, typer.Option(help="float32, bfloat16, float16 or auto.")]
