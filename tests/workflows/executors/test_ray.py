"""A Ray cluster of two nodes on this machine: an actor is killed, then a node, and the bytes are the same."""

import os
import signal
import time

import pytest

from headatlas.run.store import FolderStore
from headatlas.workflows.executors import Ray
from headatlas.workflows.map import make_map
from tests import tiny
from tests.workflows.same import assert_same

pytest.importorskip("ray")

# No token is left in the home folder; workers do not give way to everything else on a busy machine; a lost node is
# noticed soon.
CLUSTER = {"RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0", "RAY_health_check_period_ms": "500"}
ALLOWED = ".allowed"  # the file, in `work`
LONGEST = 120  # seconds until an actor is there


class Rationed(FolderStore):
    """Gives actors no more cells than a file allows; they wait with a claim in their hands."""

    def take(self, claim, worker):
        allowed = int((self.work / ALLOWED).read_text())
        return super().take(claim, worker) and len(self.finished()) < allowed


class Unlucky(Ray):
    """Loses an actor, and then the node of the actors, each in the middle of the run; the driver computes the rest."""

    store = Rationed

    def start(self, out, order):
        self.allowed, self.seen = out / "work" / ALLOWED, []
        self.allowed.write_text("3")
        super().start(out, order)
        store = FolderStore(out)
        os.kill(self._waiting(store).pid, signal.SIGKILL)
        self.allowed.write_text("6")
        self._waiting(store)
        self.cluster.remove_node(self.node, allow_graceful=False)
        self.cluster.add_node(num_cpus=1)
        self.allowed.write_text("9")
        self._waiting(store)
        self.allowed.write_text("1000000")

    def _waiting(self, store):
        """The actor that has computed all it may: one that was not seen before."""
        deadline = time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            holders = [store.worker(name) for name in store.claims().values()]
            new = [worker for worker in holders if worker and worker.pid not in self.seen]
            if new and len(store.finished()) == int(self.allowed.read_text()):
                self.seen.append(new[0].pid)
                return new[0]
            time.sleep(0.1)
        raise AssertionError(f"no actor has come within {LONGEST} seconds: {store.workers()}")


def test_an_actor_and_a_node_are_lost_and_the_bytes_are_the_same(tmp_path, asked, one, monkeypatch):
    from ray.cluster_utils import Cluster

    for name, value in CLUSTER.items():
        monkeypatch.setenv(name, value)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        executor = Unlucky(workers=2, threads=1, address=cluster.address, gpus=0)
        executor.cluster, executor.node = cluster, cluster.add_node(num_cpus=1)
        reporter = tiny.Listener()
        make_map(asked, tmp_path / "atlas", executor, reporter)
        assert_same(tmp_path / "atlas", one)
        assert len(set(executor.seen)) == 3
        assert not [sentence for sentence in reporter.said if "stopped" in sentence]
    finally:
        cluster.shutdown()
