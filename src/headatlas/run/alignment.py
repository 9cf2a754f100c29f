"""Which position of one prompt corresponds to which of another."""

from __future__ import annotations

from collections.abc import Sequence

from headatlas.run.encoding import common_prefix

NONE = -1  # the position has no counterpart


def align(prompt: Sequence[int], donor: Sequence[int]) -> list[int] | None:
    """For every position of the prompt, the position of the donor that corresponds to it, or NONE.

    Prompts of equal length line up as they are. Others line up at their common beginning and their common end, and
    what differs between those at its end; what is left over in the prompt has no counterpart. None where one of the
    two has nothing between the common parts: then nothing corresponds to what differs.

    >>> align([1, 2, 3, 9], [1, 7, 9]), align([1, 2, 9], [1, 9])
    ([0, -1, 1, 2], None)
    """
    if len(prompt) == len(donor):
        return list(range(len(prompt)))
    begin = common_prefix(prompt, donor)
    end = common_prefix(prompt[begin:][::-1], donor[begin:][::-1])
    middle, donor_middle = len(prompt) - begin - end, len(donor) - begin - end
    if not middle or not donor_middle:
        return None
    shift = len(donor) - len(prompt)
    unmatched = max(middle - donor_middle, 0)
    return [i if i < begin else NONE if i < begin + unmatched else i + shift for i in range(len(prompt))]
