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


class Unlucky(Ray):
    """Loses an actor, and then the node on which the actors are, before the driver has computed anything."""

    def start(self, out, order):
        super().start(out, order)
        store = FolderStore(out)
        before = self._others(store, 1)
        os.kill(before[0].pid, signal.SIGKILL)
        again = self._others(store, 1, apart={before[0].pid})
        self.cluster.remove_node(self.node, allow_graceful=False)
        self.cluster.add_node(num_cpus=1)
        self.last = self._others(store, 1, apart={before[0].pid, again[0].pid})

    def _others(self, store, count, apart=frozenset()):
        """Workers beside the driver that have loaded the model."""
        while True:
            ready = [w for w in store.workers() if w.stage and not w.is_gone and w.pid not in {os.getpid(), *apart}]
            if len(ready) >= count:
                return ready
            time.sleep(0.1)


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
        assert len(executor.last) == 1
        assert not [sentence for sentence in reporter.said if "stopped" in sentence]
    finally:
        cluster.shutdown()
