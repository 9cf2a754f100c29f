"""What a forward or a backward holds in memory, from the sizes of a model: every term with what it is.

Terms were read off what torch holds for Llama-shaped models; other architectures hold about as much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from headatlas.model.free_memory import free_memory
from headatlas.model.heads import HeadModel
from headatlas.model.sizes import Sizes, sizes
from headatlas.wording import gigabytes

STREAM = 5  # copies of the residual stream in a forward: embedding, recorded input, residual, its norm, their sum
EDITED = 5  # of what the heads of a layer write: as attention gives it, scaled, its baseline, that scaled, and the sum
SCORED = 8  # bytes of a logit and its log-probability, which are float32 whatever the model is
SAFE = 0.9  # of the free memory may be planned for
GRADED = 12  # the same in a backward: log-probability, its gradient, and that of the logit


@dataclass(frozen=True)
class Memory:
    """Bytes at the peak: the weights; what a backward holds, and what it holds where memory is short and layers are
    computed again in it; what everything else holds. Beside that, what the process held before it loaded weights; None
    where nobody says."""

    weights: int
    backward: int
    checkpointed: int
    forward: int
    process: int | None = None

    @property
    def peak(self) -> int:
        return self.weights + max(self.backward, self.forward)

    @property
    def beside(self) -> str:
        """What comes on top of the peak, in a sentence; empty where nobody says."""
        if self.process is None:
            return ""
        return (
            f"Python and its libraries take {gigabytes(self.process)} beside that before the model is loaded, and then "
            "some more: a map loads further libraries, and the allocator keeps part of what is freed."
        )


@dataclass(frozen=True)
class Load:
    """The largest forward of some cells: `copies` of a batch of `tokens` (with padding), of which `places` get logits.

    The batch goes on after `past` tokens whose keys and values are held. While copies run, what entered so many layers
    is held (`recorded`), and what replaces the heads of so many layers by those of other texts (`replaced`), or what is
    as large: z of a text for so many layers, or its gradient.
    """

    tokens: int
    copies: int = 1
    places: int = 0
    past: int = 0
    recorded: int = 0
    replaced: int = 0
    backward: bool = False


def held_bytes(size: Sizes, load: Load, checkpoint: bool = False) -> int:
    """Bytes at the peak of a load, besides the weights; with `checkpoint` only the inputs of layers are held for a
    backward, and one layer at a time is computed again."""
    kept = load.recorded * size.width + load.replaced * size.written
    beside = (load.tokens * kept + size.unpacked) * size.item + load.past * size.key_values
    run, places = load.tokens * load.copies, load.places * load.copies
    layer = _one_layer(size, load)
    if not load.backward:
        return beside + layer + SCORED * places * size.vocabulary
    graph = _graph_of_layer(size, load)
    held = run * size.layers * size.width * size.item + graph if checkpoint else size.layers * graph
    return beside + held + max(layer, GRADED * places * size.vocabulary)


@contextmanager
def within_memory(model: HeadModel, load: Load, checkpoint: bool = False) -> Iterator[None]:
    """A forward and its backward, in which layers are computed again where memory is short or `checkpoint` asks for it;
    inside the `gate` that is differentiated. No number depends on it. Every body of the model may have one at once."""
    if checkpoint or not backward_fits(model, len(model.bodies) * held_bytes(sizes(model), load)):
        with model.checkpointed():
            yield
    else:
        yield


def backward_fits(model: HeadModel, held: int) -> bool:
    """Whether so many bytes can be held for a backward, each layer's on its device. Of weights that are brought from
    main memory or disk a graph would hold all at once, so these never fit."""
    layers = Counter(projection.weight.device for projection in model.out_projections)
    if torch.device("meta") in layers:
        return False
    free = {device: free_memory(device) for device in layers}
    return all(size is None or held * layers[device] / model.n_layers <= SAFE * size for device, size in free.items())


def _one_layer(size: Sizes, load: Load) -> int:
    """A forward without a backward holds one layer at a time: its attention, or its MLP."""
    run = load.tokens * load.copies
    attention = run * (EDITED + 1) * size.written + _keys_and_values(size, load)
    return (run * STREAM * size.width + max(attention, run * size.mlp)) * size.item


def _graph_of_layer(size: Sizes, load: Load) -> int:
    """What the forward of one layer leaves for its backward. Weights are frozen, so matrices leave nothing: queries and
    what attention gives, keys and values, the inside of the MLP, and what enters the norms, which work in float32."""
    run = load.tokens * load.copies
    norms = run * size.norms * size.width * max(4, size.item)
    return norms + (run * (2 * size.written + size.mlp) + _keys_and_values(size, load)) * size.item


def _keys_and_values(size: Sizes, load: Load) -> int:
    """Numbers. After a prefix attention needs a mask, and its kernel keys and values of every head, for all positions;
    else heads share them."""
    run = load.tokens * load.copies
    return 2 * (size.written * (run + load.past * load.copies) if load.past else size.shared * run)
