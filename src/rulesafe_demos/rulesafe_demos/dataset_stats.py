"""What `rulesafe demos stats` tells of a dataset alone, without the attempts of an expert.

Such is one that `rulesafe bag to-dataset` made.
"""

from collections import defaultdict
from pathlib import Path
from statistics import fmean

from rulesafe_core.errors import RuleSafeError
from rulesafe_data import layout
from rulesafe_data.store import EpisodeStore
from rulesafe_demos.stats import sizes


def is_dataset_alone(directory: Path) -> bool:
    """Whether a directory holds a dataset and no attempts."""
    return (directory / layout.INFO).is_file() and not (directory / "generate.json").exists()


def lines(directory: Path, report: Path | None = None) -> list[str]:
    """What there is to tell: a line for each rule, or for each instruction where no rule is known,
    with episodes, mean frames (0.1 s), and how many were opened of those of which that is known.

    Errors: RuleSafeError where a report is wanted, which is one of attempts.
    """
    if report:
        raise RuleSafeError(
            f"{directory} is a dataset without the attempts of `rulesafe demos generate`: there "
            "can be no --report of it"
        )
    store = EpisodeStore(directory)
    lengths, opened = defaultdict(list), defaultdict(list)
    for episode in store.episodes:
        facts = store.privileged.facts(episode.index)
        name = str(facts.get("rule") or episode.task)
        lengths[name].append(episode.length)
        if "success" in facts:
            opened[name].append(bool(facts["success"]))
    told = []
    for name in sorted(lengths):
        count, known = len(lengths[name]), opened[name]
        ending = f"{sum(known)} of {len(known)} opened" if known else "opened or not: not recorded"
        told.append(
            f"{name}: {count} episode{'s' if count > 1 else ''} of "
            f"{fmean(lengths[name]):.0f} frames, {ending}"
        )
    none = "no rates, stats.csv and stats.png: it has no attempts of `rulesafe demos generate`"
    return [*told, *sizes(directory), none]
