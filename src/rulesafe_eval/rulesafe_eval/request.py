"""The request of an evaluation; its episodes are the same for every policy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from rulesafe_core.versions import RENDERER, versions
from rulesafe_data.run_folder import RunFolder, RunRequest
from rulesafe_locks.rules import Rule
from rulesafe_sim.episode import SECONDS_A_STEP, time_limit
from rulesafe_sim.episodes import TimedPlan, check_seeds, check_step_seconds

EXECUTE = 12
"""Number of actions of each chunk that are executed before the next inference. Chosen by
experiment: in 24 episodes of rule_001, DP3 tiny with 32 tokens had 19 successes with 12 actions and
16 with 25."""

EXECUTION: Literal["newest", "blended"] = "blended"
"""Overlapping chunks are combined by a weighted mean. In 24 episodes of rule_020 a DP3 tiny with 4
tokens succeeded in 20 with the mean and in 15 with the newest chunk only. A new chunk starts some
millimetres from the previous one, and a bar that is being turned slips then."""


def title_of(policy: str) -> str:
    """Return a policy's name for titles: of a checkpoint's absolute path only the folder's name."""
    return Path(policy).name if Path(policy).is_absolute() else policy


def disturbances_of(setup: Mapping[str, Any]) -> str:
    """Return the disturbances of an evaluation's episodes as text; empty: none. Files of earlier
    versions name them by flags."""
    if "disturbances" in setup:
        found: str = setup["disturbances"]
        return found
    known = {"turned back": "turn_back", "interference": "interference"}
    return ", ".join(text for text, name in known.items() if setup.get(name))


def variant_of(setup: Mapping[str, Any]) -> str:
    """Return how the agent of an evaluation differs from the named policy; empty: not at all."""
    control = setup.get("control", "none")  # of earlier versions
    found: str = setup.get("variant", "" if control == "none" else f"{control} memory")
    return found


@dataclass(frozen=True)
class Setup:
    """The agent and how it is run: everything that a worker needs besides the episode.

    Attributes:
        policy: an agent or policy, as for `agents.load_agent`.
        execute: number of actions of each chunk that are executed; policies only.
        execution: one of `rulesafe_core.chunks.EXECUTORS`; policies only.
        step_seconds: simulated time for each event of the shortest plan, s.
        variant: how a study changes the agent, such as "shuffled memory"; empty: not at all.
        disturbances: what a study does in the episodes, such as "turned back"; empty: nothing.
    """

    policy: str
    execute: int = EXECUTE
    execution: str = EXECUTION
    step_seconds: float = SECONDS_A_STEP
    variant: str = ""
    disturbances: str = ""

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Setup":
        """Convert from JSON, also of earlier versions; raise TypeError if an entry is unknown."""
        earlier = ("control", "turn_back", "interference")
        known = {key: value for key, value in content.items() if key not in earlier}
        named = {"variant": variant_of(content), "disturbances": disturbances_of(content)}
        return cls(**{**known, **named})


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest(RunRequest):
    """Arguments of `rulesafe eval`, stored in DIR/eval.json.

    Attributes:
        setup: the agent and how it is run.
        actor: description of the agent, with the SHA-256 of the files of a checkpoint or class.
        commitment: SHA-256 of the key of a sealed evaluation (studies/); else empty.
    """

    NESTED: ClassVar = {
        "versions": "version of {}",
        "setup": "{} of the policy",
        "actor": "{} of the policy",
    }

    setup: Setup
    actor: Mapping[str, Any]
    commitment: str = ""

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "EvaluationRequest":
        return super().from_dict({**content, "setup": Setup.from_dict(content["setup"])})

    def time_limit(self, rule: Rule) -> float:
        return time_limit(rule, self.setup.step_seconds)


class ResultsFolder(RunFolder):
    """A directory of results."""

    FILE = "eval.json"
    COMMAND = "rulesafe eval --policy NAME"
    CONTENT = "results of an evaluation"


def make_request(setup: Setup, actor: Mapping[str, Any], plan: TimedPlan) -> EvaluationRequest:
    """Return the request for the episodes of a plan. Raises RuleSafeError if a number is out of its
    range."""
    check_seeds(plan.seed, plan.episodes)
    check_step_seconds(plan.step_seconds)
    return EvaluationRequest(
        setup=replace(setup, step_seconds=plan.step_seconds),
        rules=plan.rules,
        episodes=plan.episodes,
        safes=plan.safes,
        split=plan.split,
        seed=plan.seed,
        actor=dict(actor),
        versions=versions(actor.get("renderer", RENDERER)),
        files=plan.files,
        locks=plan.locks,
    )


def load_request(directory: Path) -> EvaluationRequest:
    """Return the request of a directory of results. Raises RuleSafeError if there is none."""
    return ResultsFolder(directory).request(EvaluationRequest)
