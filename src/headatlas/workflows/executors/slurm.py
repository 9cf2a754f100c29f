"""Workers as an array of Slurm jobs, through submitit. The first job leads; the others work beside it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headatlas.atlas.run_record import JOBS
from headatlas.errors import HeadAtlasError, Interrupted, UsageError
from headatlas.files import remove_in_use
from headatlas.progress import Reporter
from headatlas.workflows.order import Order

LOOK = 2.0  # seconds between two looks at the jobs


@dataclass(frozen=True)
class Slurm:
    """`headatlas map --executor slurm --workers N`: N jobs, each with so many `threads` and `gpus`, for at most so many
    `minutes`. `cluster` is what submitit calls one; "local" runs the jobs as processes of this machine."""

    workers: int = 1
    threads: int = 1
    gpus: int = 0
    partition: str | None = None
    minutes: int = 60
    cluster: str = "slurm"

    def submit(self, out: Path, order: Order, reporter: Reporter) -> None:
        """Submit the jobs for an order that is in the folder, and wait for the first one, which makes the atlas."""
        jobs = self._jobs(out)
        try:
            names = f"{jobs[0].job_id} to {jobs[-1].job_id}" if len(jobs) > 1 else jobs[0].job_id
            reporter.say(f"Submitted the jobs {names}. Their logs are in {out / JOBS}.")
            with reporter.spinner(f"Waiting for the jobs; see how far they are with: headatlas status {out}"):
                while not jobs[0].done():
                    time.sleep(LOOK)
            self._check(jobs[0])
        except KeyboardInterrupt:
            raise Interrupted(
                f"Interrupted. The jobs go on; see `headatlas status {out}`, and end them with: scancel "
                f"{jobs[0].job_id.split('_')[0]}"
            ) from None
        for job in jobs[1:]:  # they have nothing left to compute
            job.cancel(check=False)
        remove_in_use(out / JOBS)

    def _jobs(self, out: Path) -> list[Any]:
        submitit = _submitit()
        try:
            executor = submitit.AutoExecutor(out / JOBS, cluster=self.cluster)
            executor.update_parameters(
                name="headatlas",
                timeout_min=self.minutes,
                cpus_per_task=self.threads,
                gpus_per_node=self.gpus,
                **({"slurm_partition": self.partition} if self.partition else {}),
            )
        except (RuntimeError, ValueError) as error:
            raise HeadAtlasError(f"Slurm cannot be used here: {error} Run it where `sbatch` works.") from None
        with executor.batch():
            return [
                executor.submit(
                    submitit.helpers.CommandFunction([sys.executable, "-m", "headatlas", command, str(out)])
                )
                for command in ["gather", *["work"] * (self.workers - 1)]
            ]

    @staticmethod
    def _check(job: Any) -> None:
        try:
            job.result()
        except Exception as error:
            lines = (job.stderr() or str(error)).strip().splitlines()
            reason = next((line for line in reversed(lines) if line.startswith("Error: ")), lines[-1] if lines else "")
            raise HeadAtlasError(
                f"The job {job.job_id}, which makes the atlas, did not come to its end: "
                f"{reason.removeprefix('Error: ')} Nothing that was finished is lost; run the same command again. "
                f"Log: {job.paths.stderr}"
            ) from None


def _submitit() -> Any:
    try:
        import submitit
        import submitit.helpers
    except ImportError:
        raise UsageError("`executor` slurm needs submitit: pip install 'headatlas[slurm]'") from None
    return submitit
