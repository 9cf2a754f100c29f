"""Killed at any moment, the same command continues and gives the same bytes. Real processes, really killed."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.suites.suite import to_jsonl
from tests import tiny

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def command(tmp_path_factory, tiny_folder):
    """Enough batches that there is time to be killed between them."""
    tasks = tmp_path_factory.mktemp("resume") / "tasks.jsonl"
    tasks.write_text(to_jsonl(tiny.suite(per_task=120).examples))
    options = [
        "--model",
        tiny_folder,
        "--suite",
        tasks,
        "--method",
        "attribute,ablate,probe",  # those of gates take long to draw, after every stage
        "--preset",
        "standard",
        "--limit",
        "120",
        "--at-chance",
        "--quiet",
    ]
    return [sys.executable, "-m", "headatlas", "map", *map(str, options), "--out"]


def cells(out) -> int:
    return len(list((out / "cells").glob("*.safetensors"))) if (out / "cells").is_dir() else 0


def test_kill_and_continue_gives_the_same_bytes(tmp_path, command):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([*command, whole], check=True, env=ENVIRONMENT)
    total = cells(whole)
    assert total >= 12
    kills = 0
    for target in sorted(random.Random(0).sample(range(1, total), 3)):
        process = subprocess.Popen([*command, broken], env=ENVIRONMENT)
        while process.poll() is None and cells(broken) < target:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 3
    assert 0 < cells(broken) < total
    assert Atlas(broken).run.pending
    subprocess.run([*command, broken], check=True, env=ENVIRONMENT)
    assert Atlas(broken).run.pending == []
    figures = [f"figures/{path.name}" for path in (whole / "figures").iterdir()]
    assert len(list((broken / "figures").iterdir())) == len(figures) > 10
    for name in ("scores.parquet", "competence.parquet", "diagnostics.parquet", "noise.parquet", *figures):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name


def test_ctrl_c_says_how_to_go_on(tmp_path, command):
    out = tmp_path / "stopped"
    process = subprocess.Popen(
        [*command, out],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    while process.poll() is None and cells(out) < 1:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Interrupted. Nothing that was finished is lost; continue with: headatlas map" in said
    assert str(out) in said
    assert "Traceback" not in said
