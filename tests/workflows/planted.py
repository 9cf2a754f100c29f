"""A model and a suite whose maps are known, for the tests of verify and of what it is given."""

import functools

from headatlas.workflows.verify import verify
from tests import tiny

CONTEXT = 2048  # room for neutral text, which the small tokenizer spells letter by letter
SUITE = tiny.copying(36)
check = functools.partial(verify, ks=[1], draws=6, limit=8)


@functools.cache
def planted():
    return tiny.planted(CONTEXT)
