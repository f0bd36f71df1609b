"""The engines part of `make bench`: what a job costs the process that distributes it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from operator import neg

from rulesafe_data.engines import run
from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import Measure, run_apart

WORKERS = (2, 200, 2000)
"""Numbers of jobs in flight with Ray: the workers of a cluster."""


def measured(options: BenchOptions) -> list[Measure]:
    """Return the time of the distributing process for each job that takes no time itself. Raises
    ModuleNotFoundError if Ray is not installed."""
    jobs = max(100, round(100 * options.seconds))
    found = [Measure.of("job distributed to 2 local processes", "ms", run_apart(local, jobs))]
    for workers in WORKERS:
        times = run_apart(with_ray, workers, max(jobs, 4 * workers))
        found.append(Measure.of(f"job distributed by Ray, {workers} in flight", "ms", times))
    return found


def local(jobs: int) -> list[float]:
    """Return the wall time of a job, ms."""
    return [_time(2, jobs, "local")]


def with_ray(workers: int, jobs: int) -> list[float]:
    """Return the wall time of a job (ms) if `workers` jobs are distributed at the same time, to a
    cluster of one node with two processes."""
    with _cluster():
        return [_time(workers, jobs, "ray")]


def _time(workers: int, jobs: int, engine: str) -> float:
    """Return the wall time (ms) of a job while others are distributed: after the first `workers`
    jobs, during which the processes start, and before the last ones."""
    ended: list[float] = []
    run(neg, range(1, jobs + 1), lambda *_: ended.append(time.perf_counter()), workers, engine)
    last = jobs - workers
    return 1000 * (ended[last] - ended[workers]) / (last - workers)


@contextmanager
def _cluster() -> Iterator[None]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    node = {"num_cpus": 2, "node_ip_address": "127.0.0.2", "include_dashboard": False}
    cluster = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=node)
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        yield
    finally:
        cluster.shutdown()
