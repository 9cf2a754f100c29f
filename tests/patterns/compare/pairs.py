"""Two atlases of made-up effects, measured on examples whose noise moves all heads together."""

import numpy as np

from tests.atlases import from_examples

SHAPE = (12, 8)


def examples(effect, rng, groups=24, noise=1.0, together=0.7):
    """Effects of single examples [example, head]: most of the noise is that of three directions that heads share."""
    heads = effect.size
    directions = rng.standard_normal((3, heads)) / np.sqrt(3)
    common = rng.standard_normal((groups, 3)) @ directions
    alone = rng.standard_normal((groups, heads))
    return effect.ravel() + noise * np.sqrt(groups) * (np.sqrt(together) * common + np.sqrt(1 - together) * alone)


def known(effects, **more):
    return from_examples(effects, SHAPE, **{"method": "ablate"} | more)
