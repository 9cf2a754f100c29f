"""Forwards of a model that begin late, end early, or leave out what nobody reads, with the numbers of whole ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache

from headatlas.errors import HeadAtlasError
from headatlas.model.body import Bodies, hooked
from headatlas.model.forwards import only_at, position_wise, restore
from headatlas.model.past import read_only_cache


class LayerInputs:
    """What entered layers of one forward: `hidden[layer]` is [batch, pos, d_model], from position `prefix` on;
    `hidden[n_layers]` is what left the last one, where that was asked for.

    `past` holds the keys and values of each layer before that, [batch, kv_head, prefix, head_dim]; none without prefix.
    A `past` of one row is that of every row. `copies` are those of a batch that `hidden` holds, one below the other.
    """

    def __init__(self, prefix: int = 0, past: Sequence[tuple[Tensor, Tensor]] = ()) -> None:
        self.prefix, self.past = prefix, past
        self.copies, self.hidden = 1, dict[int, Tensor]()
        self.tuples: list[int] = []  # length of the tuple a layer returns, 0 for a bare tensor

    def with_past(self, past: Sequence[tuple[Tensor, Tensor]]) -> LayerInputs:
        """The same inputs after other keys and values of the prefix."""
        other = LayerInputs(self.prefix, past)
        other.copies, other.hidden, other.tuples = self.copies, self.hidden, self.tuples
        return other

    def of_rows(self, rows: Tensor, layer: int) -> LayerInputs:
        """What entered one layer, of some of the rows, each as often as it is named. Of the layers below it only the
        length of the prefix is kept."""

        def taken(number: int, part: Tensor) -> Tensor:
            return part[:1] if number < layer or len(part) == 1 else part[rows]

        other = LayerInputs(self.prefix, [(taken(i, k), taken(i, v)) for i, (k, v) in enumerate(self.past)])
        other.hidden, other.tuples = {layer: self.hidden[layer][rows]}, self.tuples
        return other

    def at(self, layer: int, hidden: Tensor, copies: int) -> LayerInputs:
        """Other hidden states for one layer, of several copies of the batch."""
        other = self.with_past(self.past)
        other.copies, other.hidden = copies, {layer: hidden}
        return other


class _Reached(Exception):
    """Ends a forward at a module of which only what enters it is wanted."""

    def __init__(self, entering: Tensor) -> None:
        super().__init__()
        self.entering = entering


class PartialForwards:
    """The forwards of a `HeadModel`."""

    bodies: Bodies
    name: str
    n_layers: int
    n_heads: int
    head_dim: int

    @property
    def module(self) -> Any:
        """The causal language model, as this thread runs it."""
        return self.bodies.here.module

    @property
    def layers(self) -> list[Any]:
        return self.bodies.here.layers

    @property
    def out_projections(self) -> list[Any]:
        return self.bodies.here.out_projections

    @property
    def device(self) -> torch.device:
        """Where input ids go; a dispatched model moves everything after that itself."""
        embeddings = self.module.get_input_embeddings()
        if embeddings.weight.is_meta:  # offloaded between calls; accelerate brings it to where it runs
            return torch.device(embeddings._hf_hook.execution_device)
        return embeddings.weight.device

    def logits(self, ids: Tensor) -> Tensor:
        """Logits for token ids [batch, pos]. Pad on the right: causal attention then never sees the padding."""
        body = self.bodies.here
        if body.stop is not None and body.stop.is_set():
            raise KeyboardInterrupt
        past = {"use_cache": False} if body.past is None else {"use_cache": True, "past_key_values": body.past}
        return body.module(input_ids=ids.to(self.device), **past).logits

    @contextmanager
    def only_logits(self, rows: Tensor, positions: Tensor) -> Iterator[None]:
        """Compute logits only at the given (row, position) pairs: `logits` then returns [pair, vocabulary]."""

        def pick(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            hidden = args[0]
            return (hidden[rows.to(hidden.device), positions.to(hidden.device)], *args[1:])

        picked = hooked([partial(self.module.get_output_embeddings().register_forward_pre_hook, pick)])
        last = position_wise(self.layers[-1], self.out_projections[-1])
        with picked, only_at(last, rows, positions) if self.bodies.here.short else nullcontext():
            yield

    def some_logits(self, ids: Tensor, whole: Tensor, single: Tensor) -> tuple[Tensor, Tensor]:
        """Run ids [batch, pos]: logits [place, vocabulary] at `whole` [place, 2], each a row and a position, and logits
        [n] of `single` tokens [n, 3], each a row, a position and a token. `sharing.tokens` says whether the latter are
        those of a whole forward: rows of the unembedding are multiplied with the hidden states, and nothing else.
        """
        unembedding = self.module.get_output_embeddings()
        plain, before = unembedding.forward, unembedding.__dict__.get("forward")

        def read(hidden: Tensor) -> Tensor:
            # One flat tensor, because what the model does to logits after this (scale, cap) it does to each by itself.
            parts = [] if not len(whole) else [plain(hidden[tuple(whole.T.to(hidden.device))]).flatten()]
            if len(single):
                rows, positions, tokens = single.T.to(hidden.device)
                logits = (hidden[rows, positions].float() * unembedding.weight[tokens].float()).sum(-1)
                bias = getattr(unembedding, "bias", None)
                parts.append(logits if bias is None else logits + bias[tokens].float())
            return torch.cat(parts)

        places = torch.cat([whole, single[:, :2]])
        last = position_wise(self.layers[-1], self.out_projections[-1])
        with only_at(last, *places.T) if self.bodies.here.short else nullcontext():
            try:
                unembedding.forward = read
                flat = self.logits(ids)
            finally:
                restore([unembedding], [before])
        of_whole, of_single = flat.split([flat.numel() - len(single), len(single)])
        return of_whole.view(len(whole), -1 if len(whole) else 1), of_single

    @contextmanager
    def last_layer_where_scored(self) -> Iterator[None]:
        """Nothing reads the last layer but the logits: `only_logits` then runs its out-projection and its MLP only at
        the positions that it is given. `sharing.last_layer` says whether that gives the same logits."""
        body = self.bodies.here
        before, body.short = body.short, True
        try:
            yield
        finally:
            body.short = before

    @contextmanager
    def record_inputs(
        self, after: LayerInputs | None = None, layers: Collection[int] | None = None
    ) -> Iterator[LayerInputs]:
        """Record the hidden states that enter each layer, or some of the `layers`, for `start_at`; of the tokens after
        a recorded prefix where one is given. What leaves the last layer is recorded where `layers` has `n_layers`."""
        inputs = LayerInputs() if after is None else LayerInputs(after.prefix, after.past)

        def keep(_: nn.Module, args: tuple[Tensor, ...], output: Any) -> None:
            layer = len(inputs.tuples)
            if layers is None or layer in layers:
                inputs.hidden[layer] = args[0]
            inputs.tuples.append(len(output) if isinstance(output, tuple) else 0)
            if layers is not None and layer + 1 == self.n_layers in layers:
                inputs.hidden[self.n_layers] = output[0] if isinstance(output, tuple) else output

        with self.continue_after(inputs), hooked(partial(layer.register_forward_hook, keep) for layer in self.layers):
            yield inputs

    def record_prefix(self, ids: Tensor, after: LayerInputs | None = None, until: int | None = None) -> LayerInputs:
        """What `continue_after` needs of texts that begin with ids [batch, pos], or go on with them after a prefix.
        With `until` only the layers below it are run, and what enters it is recorded as well."""
        after = after or LayerInputs()
        if not ids.shape[1]:
            return after
        nowhere, cache = torch.zeros(1, dtype=torch.long), DynamicCache(after.past) if after.past else DynamicCache()
        hidden = {}
        with torch.no_grad(), self._continuing(cache) as past, self.only_logits(nowhere, nowhere):
            if until is None:
                self.logits(ids)
            else:
                hidden[until] = self.entering(until, ids)
        inputs = LayerInputs(after.prefix + ids.shape[1], [(layer.keys, layer.values) for layer in past.layers])
        inputs.hidden = hidden
        return inputs

    @contextmanager
    def continue_after(self, inputs: LayerInputs) -> Iterator[None]:
        """`logits` takes the tokens after a recorded prefix, or whole texts where there is none."""
        with self._continuing(read_only_cache((pair, False) for pair in inputs.past) if inputs.past else None):
            yield

    @contextmanager
    def _continuing(self, past: DynamicCache | None) -> Iterator[Any]:
        """`logits` continues the texts whose keys and values are in `past`, and adds to them."""
        body = self.bodies.here
        before, body.past = body.past, past
        try:
            yield past
        finally:
            body.past = before

    @contextmanager
    def start_at(
        self, layer: int, inputs: LayerInputs, copies: int = 1, past: LayerInputs | None = None
    ) -> Iterator[None]:
        """Skip the layers below `layer`: they pass their input through, and the last of them hands over what `inputs`
        recorded for `layer`, repeated until there are `copies` of the batch. The model still makes masks and positions.

        With a recorded prefix `logits` takes the tokens after it. Where each copy has a prefix of its own, which all
        its rows share, `past` has those of the copies, from `layer` on.
        """
        below = self.layers[:layer]
        replaced = [block.__dict__.get("forward") for block in below]
        recorded = inputs.hidden[layer].repeat(copies // inputs.copies, 1, 1)
        before = [(pair, False) for pair in inputs.past]
        if past is not None:  # skipped layers only need to know the length
            before[layer:] = [(pair, True) for pair in past.past[layer:]]

        def passing(size: int, replacement: Tensor | None) -> Callable[..., Any]:
            def forward(hidden: Tensor, *_: Any, **__: Any) -> Any:
                out = hidden if replacement is None else replacement
                return (out, *[None] * (size - 1)) if size else out

            return forward

        with self._continuing(read_only_cache(before) if before else None):
            try:
                for depth, block in enumerate(below):
                    block.forward = passing(inputs.tuples[depth], recorded if depth == layer - 1 else None)
                yield
            finally:
                restore(below, replaced)

    def logits_from(self, hidden: Tensor) -> Tensor:
        """Logits [row, vocabulary] of hidden states [row, d_model] that leave the last layer: through the final norm,
        the unembedding, and whatever scales or caps logits."""
        with self._entered_by(self.n_layers, hidden):
            return self.logits(torch.zeros(len(hidden), 1, dtype=torch.long))[:, 0]

    def normed(self, hidden: Tensor) -> Tensor:
        """What the unembedding reads [row, width] of hidden states [row, d_model] that leave the last layer."""
        with self._entered_by(self.n_layers, hidden):
            blank = torch.zeros(len(hidden), 1, dtype=torch.long)
            return self._read_until(self.module.get_output_embeddings(), blank)[:, 0]

    def embed(self, tokens: Tensor) -> Tensor:
        """What enters the first layer [token, d_model] in texts of a single token."""
        return self.entering(0, tokens[:, None])[:, 0]

    def entering(self, layer: int, ids: Tensor) -> Tensor:
        """What enters a layer [batch, pos, d_model] in a forward over ids, which ends there."""
        return self._read_until(self.layers[layer], ids)

    def values(self, layer: int, tokens: Tensor) -> Tensor:
        """z [token, head, head_dim] of a layer that the embeddings of single tokens enter as they are. Each attends to
        itself alone, so these are its values. Only this layer runs, up to its out-projection."""
        with self._entered_by(layer, self.embed(tokens)):
            z = self._read_until(self.out_projections[layer], tokens[:, None])[:, 0]
        return z.unflatten(-1, (self.n_heads, self.head_dim))

    def run_up_to(self, layer: int, ids: Tensor) -> None:
        """Run ids only as far as z of a layer, for what is captured on the way there."""
        self._read_until(self.out_projections[layer], ids)

    def _entered_by(self, layer: int, hidden: Tensor) -> AbstractContextManager[None]:
        """Hidden states [row, d_model], each a text of one token, enter a layer; the first is entered by embeddings."""
        inputs = LayerInputs()
        inputs.hidden, inputs.tuples = {layer: hidden[:, None]}, self._tuples
        return self.start_at(layer, inputs)

    @cached_property
    def _tuples(self) -> list[int]:
        """What the layers return, as in `LayerInputs`."""
        with torch.no_grad(), self.record_inputs() as inputs:
            self.logits(torch.zeros(1, 1, dtype=torch.long))
        return inputs.tuples

    def _read_until(self, module: nn.Module, ids: Tensor) -> Tensor:
        """What enters a module in a forward over ids, which ends there."""

        def stop(_: nn.Module, args: tuple[Tensor, ...]) -> None:
            raise _Reached(args[0])

        try:
            with hooked([partial(module.register_forward_pre_hook, stop)]):
                self.logits(ids)
        except _Reached as reached:
            return reached.entering
        raise HeadAtlasError(f"A forward of {self.name} did not come to its {type(module).__name__}.")

    @contextmanager
    def checkpointed(self) -> Iterator[None]:
        """Keep only the inputs of the layers for a backward and compute the rest again in it: less memory, one forward
        more, the same numbers. Forward and backward belong inside, and inside the `gate` that is differentiated.

        The checkpoints of transformers work in training mode only, which would switch dropout on. The last layer runs
        everywhere: what shortens a forward is gone when layers are computed again.
        """
        body = self.bodies.here
        short, body.short = body.short, False
        replaced = [block.__dict__.get("forward") for block in self.layers]

        def again(forward: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *args, **kwargs: checkpoint(forward, *args, use_reentrant=False, **kwargs)

        try:
            for block in self.layers:
                block.forward = again(block.forward)
            yield
        finally:
            body.short = short
            restore(self.layers, replaced)
