"""Workers as actors of a Ray cluster. They need no shared disk: results go through an actor beside the driver."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.progress import Reporter
from headatlas.run.store import FolderStore
from headatlas.wording import count
from headatlas.workflows.order import Order

FOREVER = -1  # so often Ray starts an actor again, on another node if its own is lost


class Ray:
    """`headatlas map --executor ray --workers N`: the driver and N - 1 actors, each with so many `threads` and `gpus`.

    Actors that find no room in the cluster yet wait for it to grow. One that dies is started again by Ray, loads the
    model and goes on; the cells it had finished are there.
    """

    store: type[FolderStore] = FolderStore

    def __init__(
        self, workers: int = 2, threads: int | None = None, address: str | None = None, gpus: float | None = None
    ):
        if workers < 2:
            raise UsageError(f"`workers` {workers} was asked for; the driver and at least one actor make 2.")
        self.workers, self.threads, self.address, self.gpus = workers, threads or 1, address, gpus
        self._actors: dict[Any, tuple[str, Any]] = {}  # by the reference to what an actor will return
        self._coordinator: Any = None
        self._before: int | None = None

    def enter(self) -> int:
        import torch

        _ray()
        self._before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        if self.gpus is None:
            self.gpus = 1 if torch.cuda.is_available() else 0
        return self.threads

    def start(self, out: Path, order: Order) -> None:
        ray = _ray()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if not ray.is_initialized():
            try:
                ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
            except (ConnectionError, RuntimeError, ValueError) as error:
                reason = str(error).splitlines()[0]
                raise HeadAtlasError(
                    f"No Ray cluster answers at {self.address or 'any known address'}: {reason}"
                ) from None
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        again = {"max_restarts": FOREVER, "max_task_retries": FOREVER}
        store = ray.remote(self.store).options(num_cpus=0, scheduling_strategy=here, **again)
        self._coordinator = store.remote(out.resolve())
        actor = ray.remote(RayWorker).options(num_cpus=self.threads, num_gpus=self.gpus, **again)
        suite = Path(order.suite)
        tasks = (suite.name, suite.read_bytes()) if suite.is_file() else None
        for number in range(2, self.workers + 1):
            worker = actor.remote()
            done = worker.work.remote(str(out.resolve()), order.model_dump_json(), tasks, self._coordinator)
            self._actors[done] = f"Worker {number}", worker

    def lost(self) -> list[str]:
        ray = _ray()
        ready, _ = ray.wait(list(self._actors), num_returns=len(self._actors), timeout=0) if self._actors else ([], [])
        said = []
        for done in ready:
            name, _ = self._actors.pop(done)
            try:
                ray.get(done)
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", None) or error
                left = f"Going on with {count(1 + len(self._actors), 'worker')}."
                said.append(f"{name} (a Ray actor) stopped: {str(cause).strip().splitlines()[0]} {left}")
        return said

    def stop(self) -> None:
        if self._coordinator is not None:
            ray = _ray()
            for _, actor in self._actors.values():
                ray.kill(actor)
            ray.kill(self._coordinator)
            self._actors, self._coordinator = {}, None
            ray.shutdown()
        if self._before is not None:
            import torch

            torch.set_num_threads(self._before)


class RayWorker:
    """An actor with a model. What it is given and what it sends is bytes and plain data."""

    def work(self, out: str, order: str, tasks: tuple[str, bytes] | None, coordinator: Any) -> None:
        """Follow the run. The task file is sent along, because this node may not have it."""
        from headatlas.workflows.work import work

        asked = Order.model_validate_json(order)
        with tempfile.TemporaryDirectory() as folder:
            if tasks is not None:
                path = Path(folder) / tasks[0]
                path.write_bytes(tasks[1])
                asked = asked.model_copy(update={"suite": str(path)})
            work(Path(out), asked, RemoteStore(coordinator), Reporter(quiet=True))


class RemoteStore:
    """The store of the driver's folder, asked through its actor."""

    def __init__(self, coordinator: Any):
        self._coordinator = coordinator

    def _ask(self, name: str, *arguments: Any) -> Any:
        ray = _ray()
        try:
            return ray.get(getattr(self._coordinator, name).remote(*arguments))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def read(self, key: str) -> bytes | None:
        content: bytes | None = self._ask("read", key)
        return content

    def write(self, key: str, content: bytes) -> None:
        self._ask("write", key, content)

    def take(self, claim: str, worker: str) -> bool:
        return bool(self._ask("take", claim, worker))

    def release(self, claim: str) -> None:
        self._ask("release", claim)

    def fail(self, key: str, worker: str, why: str) -> None:
        self._ask("fail", key, worker, why)

    def failure(self, key: str) -> str | None:
        why: str | None = self._ask("failure", key)
        return why

    def tell(self, record: dict[str, Any]) -> None:
        self._ask("tell", record)

    def begin(self, number: int, step: dict[str, Any]) -> None:
        self._ask("begin", number, step)

    def agree(self, environment: dict[str, str]) -> dict[str, str] | None:
        agreed: dict[str, str] | None = self._ask("agree", environment)
        return agreed


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("`executor` ray needs Ray: pip install 'headatlas[ray]'") from None
    return ray
