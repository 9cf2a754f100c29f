"""Which positions of two prompts correspond."""

from itertools import product

import pytest

from headatlas.run.alignment import NONE, align


@pytest.mark.parametrize(
    ("prompt", "donor", "expected"),
    [
        ([1, 2, 3], [1, 7, 3], [0, 1, 2]),
        ([1, 2, 3], [7, 8, 9], [0, 1, 2]),  # equal lengths line up whatever they hold
        ([1, 2, 3, 9], [1, 7, 9], [0, NONE, 1, 2]),  # of the middle, what is left over has no counterpart
        ([1, 7, 9], [1, 2, 3, 9], [0, 2, 3]),  # the middle lines up at its end
        ([1, 2, 9], [1, 9], None),  # nothing corresponds to the 2
        ([1, 9], [1, 2, 9], None),
        ([5, 5, 5], [5, 5], None),  # a repeated token is not counted at both ends
    ],
)
def test_prompts_line_up_at_their_beginning_and_their_end(prompt, donor, expected):
    assert align(prompt, donor) == expected


def test_whatever_is_shared_corresponds_to_itself():
    prompt, donor = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 30, 6, 7, 8]
    aligned = align(prompt, donor)
    assert [donor[j] for i, j in enumerate(aligned) if i not in (2, 3, 4)] == [1, 2, 6, 7, 8]
    assert aligned[2:5] == [NONE, NONE, 2]


def test_two_prompts_can_be_aligned_either_way_or_not_at_all():
    prompts = [list(tokens) for length in (1, 2, 3, 4) for tokens in product((1, 2), repeat=length)]
    refused = {(*map(tuple, (a, b)),) for a, b in product(prompts, prompts) if align(a, b) is None}
    assert refused and refused == {(b, a) for a, b in refused}
