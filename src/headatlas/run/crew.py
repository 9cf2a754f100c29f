"""Threads of this process that compute cells side by side, each with a body of the model and its share of the cores.

Two cells on one core each are done sooner than both in turn on two cores: most steps of a small model's forward are too
little work to divide. A large model fills all cores with one forward, and a tiny one keeps Python busy and no core.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import torch

    from headatlas.model.heads import HeadModel

Unit = TypeVar("Unit")
LIGHT, HEAVY = 10e6, 1e9  # parameters between which cells run side by side
MOST = 8  # of them, because each holds a forward of its own in memory
LOOK = 0.5  # seconds between two calls of `watch` while others finish


class Crew:
    """Up to `lanes` threads, the first of which is the one that calls. They divide the threads that torch has."""

    def __init__(self, model: HeadModel | None = None, lanes: int = 1) -> None:
        self.model, self.lanes = model, lanes
        if model is not None and lanes > 1:
            model.bodies.provide(lanes)
        self._of_thread = threading.local()

    @classmethod
    def of(cls, model: HeadModel) -> Crew:
        """As many lanes as pay for a loaded model on this machine."""
        lanes = planned_lanes(sum(weight.numel() for weight in model.module.parameters()), model.dtype, model.device)
        if lanes == 1 or model.quantized or _is_patched(model):
            return cls(model)
        try:
            return cls(model, lanes)
        except (TypeError, ValueError, AttributeError, RuntimeError):  # custom modules that cannot be copied
            return cls(model)

    def lanes_of(self, units: int) -> int:
        """The lanes of a step of so many units. All of them count, not those that are left: a run that was killed
        computes the rest with as many threads as it would have."""
        return max(1, min(self.lanes, units))

    def share(
        self, units: Sequence[Unit], do: Callable[[Unit], object], of: int, watch: Callable[[], None] = lambda: None
    ) -> None:
        """Do every unit, as part of a step of so many, in lanes; `watch` is called now and then in this thread. What is
        raised in one lane ends all of them and is raised here. What a unit shares out itself stays in its lane."""
        lanes = 1 if getattr(self._of_thread, "is_working", False) else self.lanes_of(of)
        if lanes == 1 or self.model is None:
            for unit in units:
                watch()
                do(unit)
            return
        import torch

        bodies = self.model.bodies
        left, stop, raised = deque(units), threading.Event(), list[BaseException]()
        before = torch.get_num_threads()

        def work(lane: int) -> None:
            try:
                torch.set_num_threads(max(1, before // lanes))
                self._of_thread.is_working = True
                with bodies.given(lane, stop):
                    while not stop.is_set() and (unit := _next(left)) is not None:
                        if lane == 0:
                            watch()
                        do(unit)
            except BaseException as error:
                raised.append(error)  # the first one counts: the others only follow it
                stop.set()
            finally:
                self._of_thread.is_working = False

        others = [threading.Thread(target=work, args=(lane,), daemon=True) for lane in range(1, lanes)]
        try:
            for thread in others:
                thread.start()
            work(0)
        except BaseException as error:  # an interrupt between two steps
            raised.append(error)
            stop.set()
        for thread in others:
            _wait(thread, watch, stop, raised)
        torch.set_num_threads(before)
        if raised:
            raise raised[0]


def planned_lanes(parameters: int, dtype: torch.dtype, device: torch.device) -> int:
    """How many cells of a model of so many parameters run side by side on this machine."""
    import torch

    if device.type != "cpu" or dtype != torch.float32 or not LIGHT <= parameters <= HEAVY:
        return 1
    return min(MOST, torch.get_num_threads())


def _next(left: deque[Unit]) -> Unit | None:
    try:
        return left.popleft()
    except IndexError:
        return None


def _wait(
    thread: threading.Thread, watch: Callable[[], None], stop: threading.Event, raised: list[BaseException]
) -> None:
    """Until a lane has ended; one that is interrupted meanwhile ends with its next forward."""
    while thread.is_alive():
        try:
            thread.join(LOOK)
            if not stop.is_set():
                watch()
        except BaseException as error:
            raised.append(error)
            stop.set()


def _is_patched(model: HeadModel) -> bool:
    """Whether a module has a forward of its own, as those have whose weights are brought from elsewhere: a copy would
    still run the first one."""
    return any("forward" in module.__dict__ for module in model.module.modules())
