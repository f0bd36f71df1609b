"""Both engines: results, errors and deaths. The work is `eval`, which every process has."""

import importlib.util

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.engines import ENGINES, TRIES, run

DIE = "__import__('os').kill(__import__('os').getpid(), 9)"

RAY = pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed")


@pytest.fixture(params=["local", pytest.param("ray", marks=RAY)])
def engine(request):
    made = ENGINES[request.param](eval, 2)
    yield made
    made.close()


def results(engine, jobs):
    waiting = iter(jobs)
    return {done.job: done for done in run(engine, lambda: next(waiting, None))}


def test_jobs_deaths_and_errors(engine, tmp_path):
    mark = tmp_path / "mark"
    path = f"__import__('pathlib').Path({str(mark)!r})"
    once = f"{path}.exists() or ({path}.touch(), {DIE})"
    jobs = [f"{n} * {n}" for n in range(6)]
    found = results(engine, [*jobs[:3], DIE, *jobs[3:], once])
    assert [found[job].value for job in jobs] == [n * n for n in range(6)]
    assert not any(found[job].died for job in jobs)
    assert found[DIE].died  # every time
    assert found[once].value is True  # the second time
    with pytest.raises(RuleSafeError, match="ZeroDivisionError"):
        results(engine, ["1 / 0"])


def test_a_death_is_retried_a_bounded_number_of_times(tmp_path):
    engine = ENGINES["local"](eval, 1)
    log = tmp_path / "log"
    try:
        (done,) = results(
            engine, [f"print('x', file=open({str(log)!r}, 'a'), flush=True) or {DIE}"]
        ).values()
    finally:
        engine.close()
    assert done.died
    assert log.read_text().split() == ["x"] * TRIES


def test_a_worker_that_cannot_start_ends_the_run():
    class Unknown:
        """Cannot be imported by a worker."""

        def __call__(self, job):
            return job

    Unknown.__qualname__ = "Unknown"
    globals()["Unknown"] = Unknown
    engine = ENGINES["local"](Unknown(), 1)
    try:
        with pytest.raises(RuleSafeError, match="before it could begin"):
            results(engine, ["1"])
    finally:
        engine.close()


def test_a_missing_ray_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(RuleSafeError, match="pip install"):
        ENGINES["ray"](eval, 1)
