"""95 % intervals of what interventions do to examples that come in groups, and of sets of heads against random sets.

All are NaN with fewer than FEWEST_GROUPS groups (`stats.py`), or FEWEST_SETS random sets: from so few nothing can be
said. How often each of them covers the truth is simulated by `python -m benchmarks calibration`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headatlas.stats import Array, clustered_moments, proportion_interval, summarise, too_few_groups

FEWEST_SETS = 5  # of heads; the spread of fewer is hardly known

Interval = tuple[Array, Array]


def too_few(groups: Sequence[str], sets: int | None = None) -> str | None:
    """Why there is no interval, in words; None where there is one."""
    if reason := too_few_groups(len(set(groups))):
        return reason
    if sets is not None and sets < FEWEST_SETS:
        return f"only {sets} {'set' if sets == 1 else 'sets'} of heads to compare with; an interval needs {FEWEST_SETS}"
    return None


def mean_interval(values: Array, groups: Sequence[str]) -> Interval:
    """Of the mean over examples [example, ...]: the wider of Student's and one corrected for skewness."""
    summary = summarise(values.reshape(len(values), -1), groups)
    return summary.low.reshape(values.shape[1:]), summary.high.reshape(values.shape[1:])


def ratio_interval(values: Array, sizes: Array, groups: Sequence[str]) -> Interval:
    """Of sum of values over sum of sizes, both [example, ...]: that of the mean of its linear approximation."""
    ratio = values.sum(0) / sizes.sum(0)
    return mean_interval(ratio + (values - ratio * sizes) / sizes.mean(0), groups)


def change_interval(before: Array, after: Array, groups: Sequence[str]) -> Interval:
    """Of the change of a share of hits (0 or 1) from [example] to [example, ...], paired by example.

    The change is the share of examples gained less the share lost. Each of the two has Wilson's interval, which does
    not collapse when nothing flips; they are joined as Newcombe joins two proportions, with their correlation.
    """
    if too_few(groups):
        return _unknown(after.shape[1:])
    columns = [_change(before, column, groups) for column in after.reshape(len(after), -1).T]
    low, high = np.array(columns).T.reshape(2, *after.shape[1:])
    return low, high


def _change(before: Array, after: Array, groups: Sequence[str]) -> tuple[float, float]:
    gained, lost = (after > before).astype(float), (after < before).astype(float)
    gain, loss = float(gained.mean()), float(lost.mean())
    gain_low, gain_high = proportion_interval(gained, groups)
    loss_low, loss_high = proportion_interval(lost, groups)
    together = np.sqrt(gain * loss / ((1 - gain) * (1 - loss))) if gain * loss else 0.0  # an example cannot do both

    def reach(one: float, other: float) -> float:
        return float(np.sqrt(one**2 + other**2 + 2 * together * one * other))

    change = gain - loss
    low, high = change - reach(gain - gain_low, loss_high - loss), change + reach(gain_high - gain, loss - loss_low)
    return max(low, -1.0), min(high, 1.0)


def set_interval(chosen: Array, drawn: Array, groups: Sequence[str], is_share: bool = False) -> tuple[float, float]:
    """Of the difference between a set of heads [example] and random sets [set, example], which are drawn anew with it.

    Both examples and sets are samples: the variance is that of the paired difference over groups of examples, plus
    (1 + 1 / sets) times that between sets, since the chosen set would be one of them if it were a random one. Degrees
    of freedom are those of Welch and Satterthwaite; the sets count for half of theirs, because few heads matter much
    and the spread of a few sets is known less well than that of normal numbers. Without that, `chosen` and `drawn` that
    come from the same distribution are called different in up to 8 % of cases.

    With `is_share` values are shares of hits, and at least one group counts as flipped.
    """
    from scipy import stats

    sets = len(drawn)
    if too_few(groups, sets):
        return float("nan"), float("nan")
    difference = chosen - drawn.mean(0)
    clusters = len(set(groups))
    of_examples = float(clustered_moments(difference[:, None], groups)[0][0])
    if is_share:
        of_examples = max(of_examples, 1 / (clusters + 2) ** 2)
    of_sets = float(drawn.mean(1).var(ddof=1)) * (1 + 1 / sets)
    parts = of_examples**2 / (clusters - 1) + of_sets**2 / ((sets - 1) / 2)
    if parts == 0:  # nothing differs anywhere
        return float(difference.mean()), float(difference.mean())
    variance = of_examples + of_sets
    reach = float(stats.t.ppf(0.975, variance**2 / parts)) * np.sqrt(variance)
    return float(difference.mean() - reach), float(difference.mean() + reach)


def _unknown(shape: tuple[int, ...]) -> Interval:
    return np.full(shape, np.nan), np.full(shape, np.nan)
