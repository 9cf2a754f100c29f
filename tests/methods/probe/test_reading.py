"""Which positions z is read at: what is refused."""

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.methods.probe.reading import Reading


def test_readings_that_mean_nothing_are_refused():
    with pytest.raises(HeadAtlasError, match=r"Unknown choice of answer tokens 'importnt'. Did you mean 'important'\?"):
        Reading("importnt")
    with pytest.raises(HeadAtlasError, match="The 0 most important answer tokens were asked for; take at least 1"):
        Reading(k=0)
