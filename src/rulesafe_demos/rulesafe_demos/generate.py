"""`rulesafe demos generate`: attempts until every rule has its episodes."""

import sys
from functools import partial
from itertools import count
from pathlib import Path

from rulesafe_data.bars import ProgressBar
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.engines import TRIES, run
from rulesafe_data.run_folder import Line
from rulesafe_demos.attempts import GenerationRequest
from rulesafe_demos.perform import perform, record_failure
from rulesafe_demos.schedule import AttemptSchedule
from rulesafe_sim.episodes import Episode

RULES_PER_LINE = 5


def generate(request: GenerationRequest, directory: Path, workers: int, engine: str) -> list[str]:
    """Run the attempts that a directory lacks; return the rules with too few successful episodes.

    An interrupted run resumes when called again; its recordings are identical to those of an
    uninterrupted run. Damaged recordings are removed and generated again.

    Raises:
        RuleSafeError: the directory was generated with other settings, another process writes to
            it, the disk is full, or workers cannot start.
    """
    folder = DemoFolder(directory)
    with folder.exclusive_lock():
        folder.settle(request)
        folder.remove_drafts()
        for reason in folder.remove_damaged(request.rules):
            print(f"removed and generated again: {reason}", file=sys.stderr)
        schedule = AttemptSchedule(request, {rule: folder.decided(rule) for rule in request.rules})
        if schedule.short():
            _make(schedule, folder, workers, engine)
        return schedule.short()


def _make(schedule: AttemptSchedule, folder: DemoFolder, workers: int, engine: str) -> None:
    with GenerationProgress(schedule) as progress:

        def note(episode: Episode, line: Line) -> None:
            folder.add(line)
            schedule.done(episode, line["opened"])
            progress.show()

        reason = f"the worker died, {TRIES} times"
        work = partial(perform, folder.path, schedule.request)
        record_death = partial(record_failure, folder.path, schedule.request, reason=reason)
        jobs = (schedule.next() for _ in count())
        run(work, jobs, note, workers, engine, record_death)


class GenerationProgress:
    """Progress bar of the finished episodes, and below it successes and attempts by rule."""

    def __init__(self, schedule: AttemptSchedule):
        self._schedule = schedule
        rules = schedule.request.rules if sys.stderr.isatty() else ()  # a log gets one line
        self._bar = ProgressBar(
            total=len(schedule.request.rules) * schedule.request.episodes,
            initial=self._count(),
            unit="episode",
        )
        self._lines = [
            ProgressBar(bar_format="{desc}", position=line + 1, leave=False)
            for line in range(-(-len(rules) // RULES_PER_LINE))
        ]
        self.show()

    def _count(self) -> int:
        return sum(self._schedule.successes(rule) for rule in self._schedule.request.rules)

    def show(self) -> None:
        """Update the bar."""
        self._bar.update(self._count() - self._bar.n)
        texts = [
            f"{rule} {self._schedule.successes(rule)}/{self._schedule.decided(rule)}"
            for rule in self._schedule.request.rules
        ]
        for i, line in enumerate(self._lines):
            line.set_description_str(
                "  ".join(texts[i * RULES_PER_LINE : (i + 1) * RULES_PER_LINE])
            )

    def __enter__(self) -> "GenerationProgress":
        return self

    def __exit__(self, *exc: object) -> None:
        for line in reversed(self._lines):
            line.close()
        self._bar.close()
