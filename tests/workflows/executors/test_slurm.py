"""Jobs through submitit: here as processes of this machine, because there is no Slurm."""

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.workflows.executors import Slurm
from headatlas.workflows.map import make_map
from tests import tiny
from tests.workflows.same import assert_same

pytest.importorskip("submitit")


def test_jobs_make_the_same_bytes(tmp_path, asked, one):
    out, reporter = tmp_path / "atlas", tiny.Listener()
    atlas = make_map(asked, out, Slurm(workers=2, threads=1, minutes=5, cluster="local"), reporter)
    assert atlas.methods == ["attribute", "ablate", "gate"]
    assert_same(out, one)
    assert not (out / "slurm-jobs").exists()
    assert "Submitted the jobs" in reporter.said[0]


def test_a_job_that_fails_says_why(tmp_path, asked):
    out = tmp_path / "atlas"
    with pytest.raises(HeadAtlasError, match=r"did not come to its end: .*no config.json in it.*Log: .*slurm-jobs"):
        broken = {**asked, "model": tmp_path}
        make_map(broken, out, Slurm(workers=1, minutes=5, cluster="local"), tiny.Listener())


def test_a_machine_without_slurm_is_said_in_words(tmp_path, asked):
    with pytest.raises(HeadAtlasError, match=r"Slurm cannot be used here: .*Run it where `sbatch` works"):
        make_map(asked, tmp_path / "atlas", Slurm(workers=2), tiny.Listener())
