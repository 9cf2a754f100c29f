"""Killed in any method, the same map continues and gives the same bytes. Real processes, really killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.methods import METHODS

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.mark.slow
def test_kill_and_continue_gives_the_same_bytes(tmp_path, tiny_atlas):
    whole, broken = tiny_atlas.path, tmp_path / "broken"
    run = [sys.executable, "-m", "tests.workflows.killing", str(broken)]
    said = subprocess.run(run, check=True, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    *killed, continued = (line.split() for line in said)
    by_default = [name for name, method in METHODS.items() if method.info.by_default]
    assert [name for name, *_ in killed] == sorted(by_default, key=lambda name: METHODS[name].info.turn)
    assert {int(ended) for _, ended, _ in killed} == {-signal.SIGKILL}
    left = [int(cells) for *_, cells in killed]
    assert left[0] > 0 and left == sorted(set(left)) and left[-1] < tiny_atlas.run.cells.computed
    assert continued == ["continued", "0"]
    finished = Atlas(broken)
    assert finished.run.pending == [] and finished.run.cells.reused == left[-1]
    figures = [f"figures/{path.name}" for path in (whole / "figures").iterdir()]
    assert len(list((broken / "figures").iterdir())) == len(figures) > 10
    for name in ("scores.parquet", "competence.parquet", "diagnostics.parquet", "noise.parquet", *figures):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name


def test_ctrl_c_says_how_to_go_on(tmp_path, tiny_folder, tiny_tasks):
    out = tmp_path / "stopped"
    options = ["--model", tiny_folder, "--suite", tiny_tasks, "--at-chance", "--quiet", "--out", out]
    process = subprocess.Popen(
        [sys.executable, "-m", "headatlas", "map", *map(str, options)],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    while process.poll() is None and not list(out.glob("cells/*.safetensors")):
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Interrupted. Nothing that was finished is lost; continue with: headatlas map" in said
    assert str(out) in said
    assert "Traceback" not in said
