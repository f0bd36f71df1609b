"""Scenes to learn seeing from: safes that stand anywhere, their parts anyhow, the arm anywhere.

Nothing is opened and no lock is asked: a scene is shown, not played.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from policy_node.scene_encoder import Scenes
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.recording import RecordedAttempt, read
from rulesafe_locks.rules import PARTS
from rulesafe_sim.observer import Observer
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import Joints, Simulation

SPLIT = str(Path(__file__).parent / "data" / "scenes.yaml")
"""What scenes differ in, unless told otherwise: more than demonstrations do."""

POSTURES = 3
"""Postures of arm and parts that are shown of each place of a safe."""

FIRST_SEED = 10**8
"""Above those of evaluations and demonstrations: scenes show other places than these."""

ENDS, CLOSED_DOOR = 0.8, 0.8
"""Shares of scenes in which a part is at one of its ends, and in which the door is closed."""


def recordings(folders: Sequence[Path], most: int = 40) -> list[RecordedAttempt]:
    """Some of what `rulesafe demos generate` left, for the robot's postures.

    Errors: RuleSafeError if there are none.
    """
    files = sorted(path for folder in folders for path in folder.glob("recordings/*/*.parquet"))
    if not files:
        raise RuleSafeError(f"no recordings in {', '.join(map(str, folders))}")
    places = np.linspace(0, len(files) - 1, min(most, len(files))).astype(int)
    return [read(files[place]) for place in places]


def make_scenes(
    postures: Sequence[RecordedAttempt],
    safes: Sequence[str],
    places: int,
    split: str = "",
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Scenes:
    """Clouds of `places` places of each safe, by a split's ranges, POSTURES of each.

    Args:
        postures: the robot's are drawn from their frames.
        split: of places, colours and cameras; empty: SPLIT.
        progress: told the places done.
    """
    rng = np.random.default_rng(seed)
    ranges, simulation = load_split(split or SPLIT).randomisation, Simulation(render=True)
    clouds, seen, which = [], [], []
    for number in range(places * len(safes)):
        safe = load_safe(safes[number % len(safes)])
        variation = sample_variation(ranges, safe, FIRST_SEED + seed * 10**6 + number)
        simulation.reset("rule_001", safe, number, variation)
        observer = Observer(simulation)
        for instant in range(POSTURES):
            joints = _posture(postures, safe, rng)
            simulation.show(joints)
            clouds.append(observer.observe(["points"], instant)["points"].astype(np.float16))
            place = variation.placement
            seen.append([*place.xyz, place.yaw, *joints.safe_positions])
            which.append(number % len(safes))
        progress(number + 1)
    return Scenes(np.array(clouds), np.array(seen, np.float32), np.array(which), tuple(safes))


def _posture(postures: Sequence[RecordedAttempt], safe: Safe, rng: np.random.Generator) -> Joints:
    """The robot as at some frame, the parts at an end or between."""
    recording = postures[int(rng.integers(len(postures)))]
    joints = recording.joints(int(rng.integers(recording.frames)))
    ranges = np.array([safe.parts[part].range for part in PARTS])
    parts = np.where(rng.random(3) < ENDS, rng.integers(2, size=3), rng.random(3)) * ranges
    if rng.random() < CLOSED_DOOR:
        parts[PARTS.index("door")] = 0
    return replace(joints, safe_positions=parts.astype(np.float32))
