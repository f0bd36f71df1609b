"""Jobs done in worker processes of this machine, or by Ray.

An engine takes jobs (`submit`), no more than it has workers, and returns (`wait`) each that ended,
its value, and whether its worker died instead. No more than that job is lost when a worker dies.
"""

import os
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import connection, get_context
from typing import Any, Generic, TypeVar

from rulesafe_core.errors import RuleSafeError, missing_package

TRIES = 3
"""A job whose worker died is tried this often."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LP_NUM_THREADS")
"""Variables that bound the threads of numpy's libraries and of rendering on the CPU (Mesa's
llvmpipe): workers share the cores, so each has one thread unless the variable says otherwise."""

PATIENCE = 5.0
"""A worker that was told to end has so long (s) before it is killed."""

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
    """Do jobs in worker processes, several at once.

    Args:
        work: picklable, such as a module's function; its value for a job is picklable too.
        jobs: the next one is taken when a worker is free; None: there is none before another ends.
        note: called here with each job that ended and its value, before the next is taken.
        workers: jobs done at once.
        engine: one of ENGINES.
        on_death: gives the value of a job whose worker died TRIES times.

    Raises:
        RuleSafeError: with the worker's message for a job that failed, for a job whose worker died
            TRIES times without `on_death`, and where workers cannot start.
    """
    waiting, again = iter(jobs), list[Job]()
    deaths: Counter[Job] = Counter()
    pool: LocalEngine[Job] | RayEngine[Job] = ENGINES[engine](work, workers)
    try:
        while True:
            while pool.busy < workers:
                job = again.pop() if again else next(waiting, None)
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
                again.append(ended)
            elif on_death:
                note(ended, on_death(ended))
            else:
                raise RuleSafeError(f"{ended}: the worker died, {TRIES} times")
    finally:
        pool.close()


def _guarded(work: Callable[[Any], Any], job: Any) -> tuple[Any, str]:
    """Return the work's value, or why there is none: exceptions need not survive pickling then."""
    try:
        return work(job), ""
    except RuleSafeError as error:
        return None, str(error)
    except Exception:
        return None, f"{job} broke off:\n{traceback.format_exc()}"


def _value(answer: tuple[Any, str]) -> Any:
    """Return the value of what `_guarded` gave. Raises RuleSafeError where there is none."""
    value, error = answer
    if error:
        raise RuleSafeError(error)
    return value


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, which processes that start meanwhile inherit."""
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
def _for_workers() -> Iterator[None]:
    """Let processes that start meanwhile have one thread each and ignore Ctrl-C, which a terminal
    sends to all processes and which only the one that commands them handles."""
    threads = {name: os.environ.get(name, "1") for name in THREADS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with environment(threads), _interrupted_later():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Holds back Ctrl-C, so that a process is not started by half: a mask alone does not, since
    another thread may take the signal. Only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if noted:
            signal.raise_signal(signal.SIGINT)


def _serve(pipe: connection.Connection, work: Callable[[Any], Any]) -> None:
    """A worker's life: jobs in, results out, until the other end is gone, by whatever death."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that drafts are removed
    try:
        pipe.send(None)
        while True:
            pipe.send(_guarded(work, pipe.recv()))
    except (EOFError, OSError):
        return


class _Worker:
    """One process and its pipe."""

    def __init__(self, work: Callable[[Any], Any]):
        context = get_context("spawn")  # a fork would share the parent's threads and devices
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _for_workers():
            self.process.start()
        theirs.close()
        self.began = False
        self.job: Any = None

    def close(self) -> None:
        """Ends the process, in its own way if it can still do that."""
        self.pipe.close()  # which ends one that waits for a job
        if self.job is not None:
            self.process.terminate()
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()


class LocalEngine(Generic[Job]):
    """Worker processes on this machine.

    A worker that dies is replaced. When this process is killed, its workers end after the job
    they are at. `work` is picklable, such as a module's function.
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
            except OSError:  # it died while it had nothing to do
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
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                self._drop(worker)
                if not worker.began:
                    raise RuleSafeError(
                        "a worker process ended before it could begin; what it said stands above"
                    ) from None
                return job, None, True
            if worker.began:
                worker.job = None
                return job, _value(answer), False
            worker.began = True

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.close()

    def close(self) -> None:
        for worker in [*self._workers]:
            self._drop(worker)


class RayEngine(Generic[Job]):
    """Ray's workers: those of the cluster that RAY_ADDRESS names, which must see the same files,
    or else of a Ray of `workers` processes on this machine that listens on loopback alone.

    Errors: RuleSafeError where Ray is not installed.
    """

    def __init__(self, work: Callable[[Job], Any], workers: int):
        try:
            self._ray = import_module("ray")
        except ImportError as error:
            raise missing_package(error) from error
        self._jobs: dict[Any, Job] = {}
        if "RAY_ADDRESS" in os.environ:
            self._ray.init(log_to_driver=False)
        else:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            with _for_workers():
                self._ray.init(
                    address="local",  # not what another Ray on this machine left behind
                    num_cpus=workers,
                    include_dashboard=False,
                    _node_ip_address="127.0.0.1",
                    log_to_driver=False,
                    logging_level="ERROR",
                )
        task = self._ray.remote(num_cpus=1, max_retries=0)(_guarded)
        self._submit = lambda job: task.remote(work, job)

    @property
    def busy(self) -> int:
        return len(self._jobs)

    def submit(self, job: Job) -> None:
        self._jobs[self._submit(job)] = job

    def wait(self) -> tuple[Job, Any, bool]:
        (reference,), _ = self._ray.wait(list(self._jobs))
        job = self._jobs.pop(reference)
        deaths = self._ray.exceptions
        try:
            return job, _value(self._ray.get(reference)), False
        except (deaths.WorkerCrashedError, deaths.NodeDiedError, deaths.OutOfMemoryError):
            return job, None, True
        except deaths.RayError as error:
            raise RuleSafeError(f"Ray could not do {job}: {error}") from error

    def close(self) -> None:
        for reference in self._jobs:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()


ENGINES: dict[str, type[LocalEngine] | type[RayEngine]] = {"local": LocalEngine, "ray": RayEngine}
