"""Random scenes to train a scene encoder on: poses of safe, parts and arm are randomised.

Scenes are rendered only: physics and lock are not simulated.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.image_arrays import shrink
from policy_node.scene_encoder import Scenes
from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.versions import renderer_version
from rulesafe_data.attempt_recording import RecordedAttempt, read
from rulesafe_locks.rules import PARTS
from rulesafe_sim.bodies import EpisodeBodies, Joints, load_robot
from rulesafe_sim.observer import SceneObserver
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe

SPLIT = str(Path(__file__).parent / "data" / "scenes.yaml")
"""The default split of scenes, with wider ranges than those of demonstrations."""

IMAGE_SIZE = 112
"""Side length of the images of scenes, px."""

POSTURES = 3
"""Postures of arm and parts that are rendered for each pose of a safe."""

FIRST_SEED = 10**8
"""First seed of scenes, larger than the seeds of evaluations and demonstrations."""

ENDS, CLOSED_DOOR = 0.8, 0.8
"""Fractions of scenes with a part at an end of its range, and with a closed door."""


def recordings(folders: Sequence[Path], limit: int = 40) -> list[RecordedAttempt]:
    """Read up to `limit` recordings of `rulesafe demos generate`.

    Their joint positions are those of the robot in the training scenes.
    """
    files = sorted(path for folder in folders for path in folder.glob("recordings/*/*.parquet"))
    if not files:
        raise RuleSafeError(f"no recordings in {', '.join(map(str, folders))}")
    indices = np.linspace(0, len(files) - 1, min(limit, len(files))).astype(int)
    return [read(files[index]) for index in indices]


def make_scenes(
    postures: Sequence[RecordedAttempt],
    safes: Sequence[str],
    places: int,
    split: str = "",
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
    images: bool = False,
    cameras: CameraSet = DEFAULT_CAMERAS,
) -> Scenes:
    """Render POSTURES point clouds, or images of each camera, at each of `places` random poses of
    each safe.

    Args:
        postures: recordings from whose frames the robot's postures are sampled.
        safes: names of the safes.
        places: number of poses of each safe.
        split: split from which poses, colours and cameras are sampled; empty: SPLIT.
        progress: called with the number of completed poses.
        images: whether the scenes have images instead of point clouds, resized to IMAGE_SIZE.
        cameras: the cameras.
    """
    rng = np.random.default_rng(seed)
    ranges, robot = load_split(split or SPLIT).randomisation, load_robot()
    inputs: list[NDArray[Any]] = []
    quantities, safe_indices = [], []
    for number in range(places * len(safes)):
        safe = load_safe(safes[number % len(safes)])
        variation = sample_variation(ranges, safe, FIRST_SEED + seed * 10**6 + number)
        observer = SceneObserver(EpisodeBodies(robot, safe, variation), number, cameras)
        for instant in range(POSTURES):
            joints = _posture(postures, safe, rng)
            if images:
                seen = observer.render((camera.name for camera in cameras), joints, instant)
                inputs.append(shrink(np.stack(list(seen.values())), IMAGE_SIZE))
            else:
                cloud = observer.render(["points"], joints, instant)["points"]
                inputs.append(cloud.astype(np.float16))
            pose = variation.placement
            quantities.append([*pose.xyz, pose.yaw, *joints.safe_positions])
            safe_indices.append(number % len(safes))
        progress(number + 1)
    labels = np.array(quantities, np.float32), np.array(safe_indices)
    renderer = renderer_version(cameras.renderer)
    return Scenes(np.array(inputs), *labels, tuple(safes), cameras.names, renderer)


def _posture(postures: Sequence[RecordedAttempt], safe: Safe, rng: np.random.Generator) -> Joints:
    """Return the robot's posture of a random frame, and random positions of the safe's parts."""
    recording = postures[int(rng.integers(len(postures)))]
    joints = recording.joints(int(rng.integers(recording.frames)))
    ranges = np.array([safe.parts[part].range for part in PARTS])
    parts = np.where(rng.random(3) < ENDS, rng.integers(2, size=3), rng.random(3)) * ranges
    if rng.random() < CLOSED_DOOR:
        parts[PARTS.index("door")] = 0
    return replace(joints, safe_positions=parts.astype(np.float32))
