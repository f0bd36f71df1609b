"""The policy interface: observation in, action chunk out. Needs numpy only; no ROS, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet
from rulesafe_core.chunks import MAX_STEPS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_locks.instructions import Length
from vq_memory_node.memory import Reading

CHUNK = MAX_STEPS
"""Maximum number of actions (steps) of a chunk, and that of all networks here: 5 s at 10 Hz."""

NO_READING = Reading(np.zeros(0, np.int64), np.zeros(0, np.bool_))
"""The empty reading of a policy without memory."""


@dataclass(frozen=True)
class Needs:
    """The observations that a policy requires.

    Attributes:
        frames: T, number of frames of joint positions at 10 Hz, ending with the current frame.
        points: number of points to use from each point cloud; 0 disables point clouds.
        images: whether to provide the images of the cameras at the current frame.
        instruction: whether to provide the rule in plain English.
        memory: whether to provide a reading of the policy's memory (its attribute `memory`).
        clouds: C, number of point clouds: those of the last C of the T frames; 0: of all T frames.
            A point cloud costs far more to compute than the other inputs.
        instruction_length: "long", or "short" for models that cut long prompts.
        cameras: the cameras of images and point clouds.
    """

    frames: int = 1
    points: int = 0
    images: bool = False
    instruction: bool = False
    memory: bool = False
    clouds: int = 0
    instruction_length: Length = "long"
    cameras: CameraSet = DEFAULT_CAMERAS

    @property
    def cloud_frames(self) -> int:
        """C, the number of point clouds; 0 if point clouds are disabled."""
        return (self.clouds or self.frames) if self.points else 0

    @property
    def image_cameras(self) -> tuple[str, ...]:
        """Names of the cameras whose images are provided, in the order in which networks stack
        them; empty if images are disabled."""
        return self.cameras.names if self.images else ()


@dataclass(frozen=True)
class Observation:
    """The inputs of a policy: T frames at 10 Hz, oldest first, ending with the current frame.

    At the start of an episode the first frame is repeated. Inputs that `Needs` does not request may
    be missing.

    Attributes:
        joints: (T, 13) float32, joint positions in rad in the order of ACTION_JOINTS.
        points: (C, N, 6) float32, point clouds of the last C frames: x, y, z in the pelvis frame
            (m) and r, g, b in 0..1.
        images: camera name -> (H, W, 3) uint8 at the current frame.
        instruction: the rule in plain English.
        memory: the reading at the current frame.
    """

    joints: NDArray[np.float32]
    points: NDArray[np.float32] | None = None
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    instruction: str = ""
    memory: Reading = NO_READING


class Policy(Protocol):
    """The interface of policies. A policy acts in one episode at a time, and may keep what it
    observed at earlier inferences of the episode, such as images or their features.

    Attributes:
        needs: the observations that `infer` requires.

    It may have an attribute `files`, the paths of what it loads, such as weights: an evaluation
    stores their SHA-256, and is not continued with other ones.
    """

    needs: Needs

    def reset(self) -> None:
        """Begin a new episode."""
        ...

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        """Return an action chunk: target joint positions (n, 13), rad, order of ACTION_JOINTS, with
        n from 1 to CHUNK.

        Step i of the chunk is the target for (i + 1) x 0.1 s after the current frame.

        Raises:
            RuleSafeError: an input that the policy requires is missing or has another shape.
        """
        ...


def check_chunk(chunk: Any) -> NDArray[np.float32]:
    """Return the chunk as (n, 13) float32, n from 1 to CHUNK.

    Raises:
        RuleSafeError: the shape is wrong or a value is not finite. The error is in the policy.
    """
    try:
        actions = np.asarray(chunk, np.float32)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a tensor with gradients
        kind = type(chunk).__name__
        raise _invalid(f"a {kind} that is not an array of numbers: {error}") from None
    if chunk is None:
        raise _invalid("None")
    bad = actions.size - int(np.isfinite(actions).sum())
    valid = actions.ndim == 2 and actions.shape[1] == len(ACTION_JOINTS)
    if bad or not (valid and 1 <= len(actions) <= CHUNK):
        raise _invalid(
            f"{actions.shape}" + (f", {bad} of {actions.size} not finite" if bad else "")
        )
    return actions


def _invalid(output: str) -> RuleSafeError:
    shape = f"({CHUNK}, {len(ACTION_JOINTS)}), or with fewer steps,"
    expected = f"an array {shape} of finite numbers, rad"
    return RuleSafeError(f"a policy's infer() must return {expected}; it returned {output}")
