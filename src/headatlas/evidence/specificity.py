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
from headatlas.stats import Array, bootstrap_mean, expanded_percentiles, resamples

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

OTHERS = "other tasks' heads"


class Specificity(EvidenceTest):
    """For all pairs of tasks, the neutral one included: heads chosen for the first, damage on the second.

    Where the map says what each single head takes from the margin of a task, margins are also given as a share of the
    sum of what they take, so that tasks compare.

    Compared with other tasks' heads: on the examples of a task, what its heads do less the mean of what those of the
    other tasks do: paired, so that easy and hard tasks compare. Below zero the task's heads hurt it more.
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
                index = list(sets).index(eval_task) + 1
                rows += self._against_others(eval_task, index, outcome.metrics, groups, len(sets[eval_task]))
        if trial.neutral:
            rows += self._perplexity(trial, trial.neutral, sets)
        return rows

    def _against_others(
        self, task: str, index: int, metrics: dict[str, Array], groups: list[str], k: int
    ) -> Iterator[Evidence]:
        for metric, values in metrics.items():
            difference = values[index] - np.delete(values, [0, index], axis=0).mean(0)
            low, high = bootstrap_mean(difference, groups)
            yield self.row(
                task, task, "top", metric, float(difference.mean()), 0.0, float(low), float(high), k,
                compared_with=OTHERS,
            )  # fmt: skip

    def _perplexity(self, trial: Trial, neutral: str, sets: dict[str, Heads]) -> Iterator[Evidence]:
        """Perplexity of plain text, all its tokens, intact and without the heads of each task."""
        from headatlas.run.batches import make_batches
        from headatlas.run.encoding import Option

        context = trial.context
        encoded = [context.encoder.encode(example)[0] for example in context.examples(neutral, SPLIT)]
        batches = make_batches([[Option(option.tokens, 1)] for option in encoded])
        heads = [INTACT, *sets.values()]
        results = context.runner.run("Neutral text", [trial.removal_cell(neutral, heads, batch) for batch in batches])
        logprobs = np.empty((len(heads), len(encoded)))
        for batch, result in zip(batches, results, strict=True):
            logprobs[:, list(batch.members)] = result["logprobs"]
        lengths = np.array([len(option.tokens) - 1 for option in encoded])
        groups = trial.groups(neutral)
        weights = resamples(groups)
        exact = np.exp(-logprobs.sum(1) / lengths.sum())
        # The interval is that of the ratio to the intact model, paired; times the intact perplexity.
        resampled = np.exp(-(weights @ (logprobs - logprobs[0]).T) / (weights @ lengths)[:, None])
        low, high = expanded_percentiles(resampled * exact[0], len(set(groups)))
        for i, task in enumerate(sets, start=1):
            yield self.row(
                task, neutral, "top", "perplexity", float(exact[i]), float(exact[0]), float(low[i]), float(high[i]),
                len(sets[task]),
            )  # fmt: skip
