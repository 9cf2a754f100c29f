"""`make bench`, or `python -m benchmarks forward page` for some of them."""

from __future__ import annotations

import sys

from benchmarks import (
    ablation,
    calibration,
    certificate,
    forward,
    gates,
    kills,
    lanes,
    memory,
    page,
    pairs,
    probe,
    quick,
    race,
    scaling,
    sense,
    sets,
    start,
    workers,
)
from benchmarks.peers import run as peers
from headatlas.model.loading import load
from headatlas.process import reuse_freed_memory

ON_MODEL = {"forward": forward.run, "ablation": ablation.run, "probe": probe.run, "gates": gates.run}
LONG = {
    "certificate": certificate.run,
    "certified-speed": certificate.speed,
    "lanes": lanes.run,
    "pairs": pairs.run,
    "race": race.run,
    "sense": sense.run,
    "gates-plain": gates.against_plain,
    "peers": peers.run,
    "sets": sets.run,
}  # only when asked for by name
ALONE = {"start": start.run, "page": page.run, "quick": quick.run}
LONG_ALONE = {
    "calibration": calibration.run,
    "kills": kills.run,
    "memory": memory.run,
    "scaling": scaling.run,
    "workers": workers.run,
}

if __name__ == "__main__":
    wanted = sys.argv[1:] or [*ON_MODEL, *ALONE]
    known = [*ON_MODEL, *LONG, *ALONE, *LONG_ALONE]
    for unknown in set(wanted) - {*known}:
        sys.exit(f"There is no benchmark {unknown!r}. Known: {', '.join(known)}.")
    reuse_freed_memory()  # as the command line does
    if set(wanted) & {*ON_MODEL, *LONG}:
        model = load("smollm2")
        for name in wanted:
            if name in {**ON_MODEL, **LONG}:
                {**ON_MODEL, **LONG}[name](model)
    for name in wanted:
        if name in {**ALONE, **LONG_ALONE}:
            {**ALONE, **LONG_ALONE}[name]()
