"""What a policy is: an observation in, a chunk of actions out. numpy alone; no ROS, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import MAX_ROWS
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import Reading

CHUNK = MAX_ROWS
"""Rows of a chunk: 5 s at 10 Hz."""

CAMERAS = ("head", "front")
"""Names of the pictures, in this order wherever they are stacked."""

NOTHING = Reading(np.zeros(0, np.int64), np.zeros(0, np.bool_))
"""The reading of no memory."""


@dataclass(frozen=True)
class Needs:
    """What a policy is to be shown.

    Attributes:
        frames: T, how many frames at 10 Hz, the present one the last.
        points: points of the cloud, the first so many of it; 0: no cloud.
        images: whether both cameras' pictures of the present frame.
        instruction: whether the rule in plain English.
        memory: whether a reading of a memory, which is the checkpoint's.
        clouds: C, of the T frames the last so many whose clouds are shown; 0: all. A cloud costs
            far more to make than all else.
    """

    frames: int = 1
    points: int = 0
    images: bool = False
    instruction: bool = False
    memory: bool = False
    clouds: int = 0

    @property
    def cloud_frames(self) -> int:
        """C, frames whose clouds are shown; 0 where none are."""
        return (self.clouds or self.frames) if self.points else 0


@dataclass(frozen=True)
class Observation:
    """What a policy sees at one instant; T frames at 10 Hz, oldest first, the present one last.

    At the start of an episode the first frame is repeated. What `Needs` does not ask for may be
    left out.

    Attributes:
        joints: (T, 13) float32, rad, positions in the order of ACTION_JOINTS.
        points: (C, N, 6) float32, of the last C frames: x, y, z in the pelvis frame (m)
            and r, g, b in 0..1.
        images: by camera (H, W, 3) uint8, of the present frame.
        instruction: the rule as a person would say it.
        memory: the reading at the present frame.
    """

    joints: NDArray[np.float32]
    points: NDArray[np.float32] | None = None
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    instruction: str = ""
    memory: Reading = NOTHING


class Policy(Protocol):
    """What drives the robot. One episode at a time.

    Attributes:
        needs: what `infer` wants to be shown.
    """

    needs: Needs

    def reset(self) -> None:
        """A new episode begins."""
        ...

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        """Targets (CHUNK, 13), rad, order of ACTION_JOINTS: row i for the instant (i + 1) x 0.1 s
        after the present frame.

        Errors: RuleSafeError where the observation lacks what is needed or has another shape.
        """
        ...


def check_chunk(chunk: Any) -> NDArray[np.float32]:
    """The chunk as (CHUNK, 13) finite float32. Errors: ValueError, for that is a policy's bug."""
    try:
        rows = np.asarray(chunk, np.float32)
    except (TypeError, ValueError):
        raise _refused(f"a {type(chunk).__name__} that is no array of numbers") from None
    if chunk is None:
        raise _refused("None")
    wrong = rows.size - int(np.isfinite(rows).sum())
    if wrong or rows.shape != (CHUNK, len(ACTION_JOINTS)):
        raise _refused(f"{rows.shape}" + (f", {wrong} of {rows.size} not finite" if wrong else ""))
    return rows


def _refused(given: str) -> ValueError:
    wanted = f"an array ({CHUNK}, {len(ACTION_JOINTS)}) of finite numbers, rad"
    return ValueError(f"a policy's infer() must give {wanted}; it gave {given}")
