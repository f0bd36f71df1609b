"""Both engines: results, errors and deaths. The work is `eval`, which every process has."""

import importlib.util
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from waiting import wait_for

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.engines import THREADS, TRIES, environment, run

DIE = "__import__('os').kill(__import__('os').getpid(), 9)"

RAY = pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed")


@pytest.fixture(params=["local", pytest.param("ray", marks=RAY)])
def engine(request):
    return request.param


def results(jobs, **words):
    found = {}
    run(eval, jobs, found.__setitem__, **words)
    return found


def test_jobs_deaths_and_errors(engine, tmp_path):
    mark = tmp_path / "mark"
    path = f"__import__('pathlib').Path({str(mark)!r})"
    once = f"{path}.exists() or ({path}.touch(), {DIE})"
    jobs = [f"{n} * {n}" for n in range(6)]
    words = {"workers": 2, "engine": engine}
    found = results(
        [*jobs[:3], DIE, *jobs[3:], once], on_death=lambda job: f"died of {job}", **words
    )
    assert [found[job] for job in jobs] == [n * n for n in range(6)]
    assert found[DIE] == f"died of {DIE}"  # every time
    assert found[once] is True  # the second time
    with pytest.raises(RuleSafeError, match="ZeroDivisionError"):
        results(["1 / 0"], **words)


@pytest.mark.parametrize("workers", [0, -1])
def test_without_workers_no_job_counts_as_done(workers):
    with pytest.raises(RuleSafeError, match=f"at least one worker is needed; got {workers}"):
        results(["1"], workers=workers)


def test_a_death_is_retried_a_bounded_number_of_times(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(RuleSafeError, match="the worker died, 3 times"):
        results([f"print('x', file=open({str(log)!r}, 'a'), flush=True) or {DIE}"])
    assert log.read_text().split() == ["x"] * TRIES


def test_the_first_worker_of_a_process_ignores_the_interrupts_of_its_terminal():
    """With it, Python starts its resource tracker, which unblocks them."""
    job = "2 in __import__('signal').pthread_sigmask(0, [])"
    code = "from rulesafe_data.engines import run; run(eval, [sys.argv[1]], print)"
    command = [sys.executable, "-c", f"import sys; {code}", job]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout.endswith(" True\n"), done.stdout + done.stderr


def test_a_worker_that_cannot_start_ends_the_run():
    class Unknown:
        """Cannot be imported by a worker."""

        def __call__(self, job):
            return job

    Unknown.__qualname__ = "Unknown"
    globals()["Unknown"] = Unknown
    with pytest.raises(RuleSafeError, match="before it could start"):
        run(Unknown(), ["1"], print)


def test_a_missing_ray_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(RuleSafeError, match="pip install"):
        results([], engine="ray")


def test_variables_of_the_environment_are_set_while_processes_start(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with environment(dict.fromkeys(THREADS, "1")):
        assert {os.environ[name] for name in THREADS} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7" and "OPENBLAS_NUM_THREADS" not in os.environ


@RAY
def test_a_node_of_a_cluster_that_dies_loses_no_job(monkeypatch, tmp_path):
    """Two Ray nodes with an object store each; the second is killed while it executes a job."""
    from ray.cluster_utils import Cluster

    gate, places = tmp_path / "gate", tmp_path / "places"
    places.mkdir()
    script = tmp_path / "job.py"
    script.write_text(f"""
import os, pathlib, time, ray
place = ray.get_runtime_context().get_node_id()
(pathlib.Path({str(places)!r}) / f"{{place}}-{{os.getpid()}}").touch()
while not pathlib.Path({str(gate)!r}).exists():
    time.sleep(0.05)
""")
    jobs = [f"__import__('runpy').run_path({str(script)!r})['place'] + {name!r}" for name in "ab"]
    address = "127.0.0.2"  # Ray replaces 127.0.0.1 by another address of the machine
    node = {"num_cpus": 1, "node_ip_address": address, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        second = cluster.add_node(num_cpus=1, node_ip_address=address)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)

        def kill_the_second() -> None:
            wait_for(lambda: len({at.name.split("-")[0] for at in places.iterdir()}) == 2)
            cluster.remove_node(second, allow_graceful=False)
            for at in places.iterdir():
                node_id, pid = at.name.split("-")
                if node_id == second.node_id:  # a worker survives its node for a moment
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            gate.touch()

        with ThreadPoolExecutor() as pool:
            killed = pool.submit(kill_the_second)
            found = results(jobs, workers=2, engine="ray")
            killed.result()
    finally:
        cluster.shutdown()
    assert len({value[:-1] for value in found.values()}) == 1  # the node that was left
