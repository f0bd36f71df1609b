"""Jobs distributed with Ray: results, errors and deaths. The work is `eval`, which every process
has."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

pytest.importorskip("ray", reason="Ray is not installed")

from waiting import wait_for

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.engines import run

DIE = "__import__('os').kill(__import__('os').getpid(), 9)"


def results(jobs, **words):
    found = {}
    run(eval, jobs, found.__setitem__, workers=2, engine="ray", **words)
    return found


def test_jobs_deaths_and_errors(tmp_path):
    mark = tmp_path / "mark"
    path = f"__import__('pathlib').Path({str(mark)!r})"
    once = f"{path}.exists() or ({path}.touch(), {DIE})"
    jobs = [f"{n} * {n}" for n in range(6)]
    found = results([*jobs[:3], DIE, *jobs[3:], once], on_death=lambda job: f"died of {job}")
    assert [found[job] for job in jobs] == [n * n for n in range(6)]
    assert found[DIE] == f"died of {DIE}"  # every time
    assert found[once] is True  # the second time
    with pytest.raises(RuleSafeError, match="ZeroDivisionError"):
        results(["1 / 0"])


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
            found = results(jobs)
            killed.result()
    finally:
        cluster.shutdown()
    assert len({value[:-1] for value in found.values()}) == 1  # the node that was left
