"""Run jobs in worker processes of this machine, or with the engine of an installed package.

`submit` adds a job to an engine (at most one per worker); `wait` returns a finished job, its value,
and whether its worker died. If a worker dies, only its current job is lost.
"""

import os
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import connection, get_context, resource_tracker
from typing import Any, Generic, TypeVar

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import Registry

TRIES = 3
"""Maximum number of attempts of a job whose worker dies."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit the threads of numpy's libraries. Workers share the cores, so
the default of a worker is one thread."""

TERMINATE_TIMEOUT = 5.0
"""Time (s) after which a terminated worker is killed."""

Job = TypeVar("Job")
Value = TypeVar("Value")


def run(
    work: Callable[[Job], Value],
    jobs: Iterable[Job | None],
    note: Callable[[Job, Value], None],
    workers: int = 1,
    engine: str = "local",
    on_death: Callable[[Job], Value] | None = None,
) -> None:
    """Run jobs in parallel worker processes.

    Args:
        work: function that runs in the workers; it and its return values must be picklable.
        jobs: the next one is taken when a worker is free; None: none until another job ends.
        note: called in this process with each finished job and its value, before the next is taken.
        workers: number of jobs that run in parallel.
        engine: name of an engine, see ENGINES.
        on_death: returns the value of a job whose worker died TRIES times.

    Raises:
        RuleSafeError: `workers` is below 1, a job failed (with the worker's message), its worker
            died TRIES times and `on_death` is not set, or workers cannot start.
    """
    if workers < 1:
        raise RuleSafeError(f"at least one worker is needed; got {workers}")
    waiting, retries = iter(jobs), list[Job]()
    deaths: Counter[Job] = Counter()
    pool: LocalEngine[Job] = ENGINES.load(engine)(work, workers)
    try:
        while True:
            while pool.busy < workers:
                job = retries.pop() if retries else next(waiting, None)
                if job is None:
                    break
                pool.submit(job)
            if not pool.busy:
                return
            ended, value, died = pool.wait()
            deaths[ended] += died
            if not died:
                note(ended, value)
            elif deaths[ended] < TRIES:
                retries.append(ended)
            elif on_death:
                note(ended, on_death(ended))
            else:
                raise RuleSafeError(f"{ended}: the worker died, {TRIES} times")
    finally:
        pool.close()


def guarded(work: Callable[[Any], Any], job: Any) -> tuple[Any, str]:
    """Return the value and an empty string, or None and the error (exceptions may not pickle)."""
    try:
        return work(job), ""
    except RuleSafeError as error:
        return None, str(error)
    except Exception:
        return None, f"{job} failed:\n{traceback.format_exc()}"


def value_of(result: tuple[Any, str]) -> Any:
    """Return the value of a result of `guarded`, or raise its error as a RuleSafeError."""
    value, error = result
    if error:
        raise RuleSafeError(error)
    return value


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Temporarily set environment variables, which child processes inherit."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def worker_environment() -> Iterator[None]:
    """Start child processes with one thread each and with SIGINT blocked: a terminal sends Ctrl-C
    to all processes, but only the parent process handles it."""
    threads = {name: os.environ.get(name, "1") for name in THREADS}
    resource_tracker.ensure_running()  # its start, with the first process, unblocks SIGINT
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with environment(threads), _delayed_interrupt():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _delayed_interrupt() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, so that the start of a process is not interrupted.

    A signal mask is not sufficient, since another thread may receive the signal. Python interrupts
    only the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if received:
            signal.raise_signal(signal.SIGINT)


def _serve(pipe: connection.Connection, work: Callable[[Any], Any]) -> None:
    """Run jobs from the pipe and send their results, until the parent closes it or ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that temporary files are removed
    try:
        pipe.send(None)
        while True:
            pipe.send(guarded(work, pipe.recv()))
    except (EOFError, OSError):
        return


class _Worker:
    """A worker process and its pipe."""

    def __init__(self, work: Callable[[Any], Any]):
        context = get_context("spawn")  # a fork would share the parent's threads and devices
        self.pipe, child_pipe = context.Pipe()
        self.process = context.Process(target=_serve, args=(child_pipe, work), daemon=True)
        with worker_environment():
            self.process.start()
        child_pipe.close()
        self.started = False
        self.job: Any = None

    def close(self) -> None:
        """Terminate the process; kill it if it does not end in time."""
        self.pipe.close()  # ends a worker that waits for a job
        if self.job is not None:
            self.process.terminate()
        self.process.join(TERMINATE_TIMEOUT)
        self.process.kill()
        self.process.join()


class LocalEngine(Generic[Job]):
    """Worker processes on this machine.

    A worker that dies is replaced. If this process is killed, its workers end after their current
    job. `work` must be picklable.
    """

    def __init__(self, work: Callable[[Job], Any], workers: int):
        self._work = work
        self._workers: list[_Worker] = []

    @property
    def busy(self) -> int:
        return sum(worker.job is not None for worker in self._workers)

    def submit(self, job: Job) -> None:
        for worker in [w for w in self._workers if w.job is None]:
            try:
                worker.pipe.send(job)
            except OSError:  # the worker died while it was idle
                self._drop(worker)
                continue
            worker.job = job
            return
        worker = _Worker(self._work)
        self._workers.append(worker)
        worker.pipe.send(job)
        worker.job = job

    def wait(self) -> tuple[Job, Any, bool]:
        while True:
            pipes = {worker.pipe: worker for worker in self._workers if worker.job is not None}
            worker = pipes[connection.wait(list(pipes))[0]]  # type: ignore[index]
            job = worker.job
            try:
                result = worker.pipe.recv()
            except (EOFError, OSError):
                self._drop(worker)
                if not worker.started:
                    raise RuleSafeError(
                        "a worker process ended before it could start; see its output above. A "
                        'script must be a file, and begin its work under `if __name__ == "__main__"'
                        ":`, since worker processes import it again"
                    ) from None
                return job, None, True
            if worker.started:
                worker.job = None
                return job, value_of(result), False
            worker.started = True

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.close()

    def close(self) -> None:
        for worker in self._workers:
            if worker.job is not None:
                worker.process.terminate()  # all of them, before one is waited for
        for worker in [*self._workers]:
            self._drop(worker)


ENGINES: Registry[Any] = Registry("rulesafe.engines", "engine", {"local": LocalEngine})
"""Engines by name: classes with the constructor and the methods of `LocalEngine`."""
