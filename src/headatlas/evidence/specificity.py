"""Remove the heads of one task and measure all the others: are they its heads, or everybody's?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.atlas.records import Evidence
from headatlas.evidence.base import SPLIT, EvidenceTest
from headatlas.evidence.choice import INTACT, Heads
from headatlas.intervals import ratio_interval, too_few

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

OTHERS = "other tasks' heads"


class Specificity(EvidenceTest):
    """For all pairs of tasks, the neutral one included: heads chosen for the first, damage on the second.

    Where the map says what each single head takes from the margin of a task, margins are also given as a share of the
    sum of what they take, so that tasks compare.

    Compared with other tasks' heads: on the examples of a task, what its heads do less the mean of what those of the
    other tasks do: paired, so that easy and hard tasks compare. Below zero the task's heads hurt it more. The other
    tasks are a sample too: the interval says whether this set differs from one of theirs.
    """

    info: ClassVar[TestInfo] = TestInfo(
        name="specificity",
        title="Is the damage specific?",
        summary="removes the heads of each task and measures all tasks",
        question="Do the heads of a task hurt that task more than the heads of other tasks do?",
        shape="matrix",
        axis="heads removed",
        controls=(
            Control(name="top", meaning="the first heads of the task's map"),
            Control(name=OTHERS, meaning="as many heads of each other task, on average"),
        ),
        reference=OTHERS,
        figures=("specificity",),
    )

    def run(self, trial: Trial) -> list[Evidence]:
        sets = {task: trial.top(task) for task in trial.tasks}
        neutral = trial.controls_on_neutral_text
        measured = [*trial.tasks, *([neutral] if neutral else [])]
        outcomes = trial.remove("Specificity", {task: [INTACT, *sets.values()] for task in measured})
        planned = [(task, {"control": "top", "k": len(heads)}) for task, heads in sets.items()]
        rows: list[Evidence] = []
        for eval_task, outcome in outcomes.items():
            groups = trial.groups(eval_task)
            outcome = replace(outcome, unit=trial.units.get(eval_task))
            rows += self.level_rows(outcome, groups, eval_task, planned)
            if eval_task in sets and len(sets) > 1:
                index = {task: i for i, task in enumerate(sets, start=1)}
                others = [i for task, i in index.items() if task != eval_task]
                compared = {"control": "top", "compared_with": OTHERS, "k": len(sets[eval_task])}
                rows += self.against_sets(
                    outcome.metrics, groups, index[eval_task], others, None, task=eval_task, eval_task=eval_task,
                    **compared,
                )  # fmt: skip
        if trial.neutral:
            rows += self._perplexity(trial, trial.neutral, sets)
        return rows

    def _perplexity(self, trial: Trial, neutral: str, sets: dict[str, Heads]) -> Iterator[Evidence]:
        """Perplexity of plain text, all its tokens, intact and without the heads of each task."""
        from headatlas.run.encoding import Option

        context = trial.context
        encoded = [context.encoder.encode(example)[0] for example in context.examples(neutral, SPLIT)]
        heads = [INTACT, *sets.values()]
        texts = [[Option(option.tokens, 1)] for option in encoded]
        batches, cells = zip(*trial.removal_cells(neutral, heads, texts, closed=False), strict=True)
        results = context.runner.run("Neutral text", cells)
        logprobs = np.empty((len(heads), len(encoded)))
        for batch, result in zip(batches, results, strict=True):
            logprobs[:, list(batch.members)] = result["logprobs"]
        lengths = np.array([len(option.tokens) - 1 for option in encoded])
        groups = trial.groups(neutral)
        exact = np.exp(-logprobs.sum(1) / lengths.sum())
        # The interval is that of the ratio to the intact model, paired; times the intact perplexity.
        least, most = ratio_interval((logprobs - logprobs[0]).T, lengths[:, None], groups)
        low, high = exact[0] * np.exp(-most), exact[0] * np.exp(-least)
        for i, task in enumerate(sets, start=1):
            yield self.row(
                task, neutral, "top", "perplexity", float(exact[i]), float(exact[0]), float(low[i]), float(high[i]),
                len(sets[task]), groups=len(set(groups)), remark=too_few(groups),
            )  # fmt: skip
