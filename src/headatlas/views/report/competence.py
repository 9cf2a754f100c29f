"""What the intact model can do: without that, a map of a task means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.atlas.records import COMPETENT
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.wording import decimal, interval

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def competence_chapter(atlas: Atlas) -> list[str]:
    frame = atlas.competence
    rows = [
        (plain(row.task), row.items, decimal(row.accuracy), interval(row.low, row.high), decimal(row.chance),
         decimal(row.exact), decimal(row.margin), decimal(row.logprob), row.verdict)
        for row in frame.itertuples()
    ]  # fmt: skip
    unable = [
        f"{plain(row.task)} is {row.verdict}: accuracy {decimal(row.accuracy)} ({interval(row.low, row.high)}), chance "
        f"{decimal(row.chance)}. "
        f"{'It is mapped all the same; its map means little.' if row.mapped else 'It is not mapped.'}"
        for row in frame[frame["verdict"] != COMPETENT].itertuples()
    ]
    headings = ("task", "items", "accuracy (share)", "95 % interval", "chance (share)", "exact match (share)",
                "margin (nats)", "log-prob (nats)", "verdict")  # fmt: skip
    return [
        "## What the model can do",
        "The intact model on all examples. Accuracy is forced choice between the answer and its distractors, or exact "
        "match where there are none. The margin is that over the best distractor.",
        table(headings, rows),
        bullets(unable),
    ]
