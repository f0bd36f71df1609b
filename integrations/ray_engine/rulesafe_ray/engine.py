"""Run the jobs of demonstrations and evaluations with Ray."""

import logging
import os
from collections.abc import Callable
from typing import Any, Generic

import ray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.engines import Job, guarded, value_of, worker_environment


class RayEngine(Generic[Job]):
    """Ray workers of the cluster in RAY_ADDRESS, which must share the file system; without this
    variable, of a local Ray instance with `workers` processes on the loopback interface."""

    def __init__(self, work: Callable[[Job], Any], workers: int):
        self._jobs: dict[Any, Job] = {}
        self._finished: list[Any] = []
        if "RAY_ADDRESS" in os.environ:
            ray.init(log_to_driver=False)
        else:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            with worker_environment():
                ray.init(
                    address="local",  # do not connect to another Ray instance on this machine
                    num_cpus=workers,
                    include_dashboard=False,
                    _node_ip_address="127.0.0.1",
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
        task = ray.remote(num_cpus=1, max_retries=0)(guarded)
        self._submit = lambda job: task.remote(work, job)

    @property
    def busy(self) -> int:
        return len(self._jobs)

    def submit(self, job: Job) -> None:
        self._jobs[self._submit(job)] = job

    def wait(self) -> tuple[Job, Any, bool]:
        if not self._finished:
            references = list(self._jobs)
            first, _ = ray.wait(references)
            # All that have finished: one call for each job would take time in proportion to the
            # square of the number of workers.
            found, _ = ray.wait(references, num_returns=len(references), timeout=0)
            self._finished = found or first
        reference = self._finished.pop()
        job = self._jobs.pop(reference)
        deaths = ray.exceptions
        try:
            return job, value_of(ray.get(reference)), False
        except (deaths.WorkerCrashedError, deaths.NodeDiedError, deaths.OutOfMemoryError):
            return job, None, True
        except deaths.RayError as error:
            raise RuleSafeError(f"Ray could not run {job}: {error}") from error

    def close(self) -> None:
        for reference in self._jobs:
            ray.cancel(reference, force=True)
        ray.shutdown()
