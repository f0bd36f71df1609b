"""Worker processes: results, errors and deaths. The work is `eval`, which every process has."""

import os
import subprocess
import sys

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.engines import THREADS, TRIES, environment, run

DIE = "__import__('os').kill(__import__('os').getpid(), 9)"


def results(jobs, **words):
    found = {}
    run(eval, jobs, found.__setitem__, **words)
    return found


def test_jobs_deaths_and_errors(tmp_path):
    mark = tmp_path / "mark"
    path = f"__import__('pathlib').Path({str(mark)!r})"
    once = f"{path}.exists() or ({path}.touch(), {DIE})"
    jobs = [f"{n} * {n}" for n in range(6)]
    jobs_and_deaths = [*jobs[:3], DIE, *jobs[3:], once]
    found = results(jobs_and_deaths, workers=2, on_death=lambda job: f"died of {job}")
    assert [found[job] for job in jobs] == [n * n for n in range(6)]
    assert found[DIE] == f"died of {DIE}"  # every time
    assert found[once] is True  # the second time
    with pytest.raises(RuleSafeError, match="ZeroDivisionError"):
        results(["1 / 0"], workers=2)


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


def test_an_unknown_engine_is_refused():
    with pytest.raises(RuleSafeError, match="unknown engine 'rai'; valid: local, "):
        results([], engine="rai")


def test_variables_of_the_environment_are_set_while_processes_start(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with environment(dict.fromkeys(THREADS, "1")):
        assert {os.environ[name] for name in THREADS} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7" and "OPENBLAS_NUM_THREADS" not in os.environ
