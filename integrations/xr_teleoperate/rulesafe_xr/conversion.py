"""Joint vectors of a recording of xr_teleoperate as an episode of a dataset.

The recorded frames become frames at 10 Hz. Frame t has the state at t * 0.1 s; its action is the
target that was commanded at the next frame, as in datasets from the simulation and from bags.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.hands import DFX, FTP, Calibration
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import (
    ACTION_JOINTS,
    ALL_JOINTS,
    ARM_JOINTS,
    BODY_JOINTS,
    HAND_JOINTS,
    LEFT_HAND_JOINTS,
)
from rulesafe_core.robot import HOME, h1_2
from rulesafe_data import layout
from rulesafe_data.writer import EpisodeData
from rulesafe_xr.recording import XrRecording

SHARE_MARGIN = 0.05
"""Largest distance of a hand's value from the range 0..1."""

SWAPPED = 0.1
"""Difference of the mean tracking error, in hand units, from which on the states of the left hand
are taken for those of the right hand."""

BEYOND = 0.5
"""Distance from a joint limit, rad, from which on a position is not that of an H1-2. If most frames
have such a position, the recording is refused."""

CALIBRATIONS: dict[str, Calibration] = {"dfx": DFX, "ftp": FTP}

LEFT_ARM = tuple(name.replace("right_", "left_") for name in ARM_JOINTS)
PARTS = {
    "legs and torso": BODY_JOINTS[:13],
    "left arm": LEFT_ARM,
    "left hand": LEFT_HAND_JOINTS,
    "right hand": HAND_JOINTS,
}
"""Parts of the robot that a recording may lack."""


@dataclass(frozen=True)
class ImportOptions:
    """Options of the import.

    Attributes:
        cameras: names of the head and the front camera in the recording; None: no images.
        instruction: instruction of all episodes; empty: the recorded text `text`.
        text: goal, desc or steps.
        hand: dfx, ftp (calibration of the hands' values), or none (the fingers hold).
        hand_state: part with the states of the right hand: right_ee, left_ee or auto.
        rate: recorded frames per second; None: as the recording states.
        max_gap: longest time without complete frames, and largest distance of an image, s.
    """

    cameras: tuple[str, str] | None = ("color_0", "color_1")
    instruction: str = ""
    text: str = "goal"
    hand: str = "dfx"
    hand_state: str = "auto"
    rate: float | None = None
    max_gap: float = 0.5


def convert(recording: XrRecording, options: ImportOptions) -> tuple[EpisodeData, list[str]]:
    """Return the episode without images, and notes on what was added or changed.

    Raises:
        RuleSafeError: the recording is too short, has a gap, lacks the right hand or a text, or has
            values beyond the scale of the hands.
    """
    at = frame_positions(recording, options)
    rate = at[1] * layout.FPS
    notes = [f"from {len(recording.numbers)} at {rate:g} Hz"]
    if recording.stopped:
        notes.append("without the end of data.json, as the recorder was killed")
    if recording.lost:
        notes.append(f"{recording.lost} lost frames interpolated")
    task = options.instruction or recording.texts.get(options.text, "")
    if not task:
        raise RuleSafeError(f"the recording has no text {options.text!r}: use --instruction")
    notes.append(f"instruction {task!r:.80}")
    known, actions = _known_positions(recording, options, notes)
    filled = [joint for joint in ALL_JOINTS if joint not in known]
    if filled:
        notes.append(f"fixed positions for {_summary(filled)}")

    def sampled(columns: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([np.interp(at, recording.numbers, column) for column in columns.T], 1)

    columns = [known.get(joint, HOME[joint]) for joint in ALL_JOINTS]
    length = len(recording.numbers)
    source = np.stack([np.broadcast_to(column, length) for column in columns], 1)
    positions = sampled(source)
    targets = sampled(actions)[1:]
    if note := _check_limits("states", source, ALL_JOINTS):
        notes.append(note)
    _check_limits("actions", actions, ACTION_JOINTS)  # those beyond a limit are clipped below
    clipped = np.clip(targets, *_limits(ACTION_JOINTS))
    if changed := int((clipped != targets).any(axis=1).sum()):
        notes.append(f"actions of {changed} frames clipped to the joint limits of the H1-2")
    if recording.depth:
        notes.append("depth images not used")
    facts = {
        "source": "xr_teleoperate",
        "recording": recording.folder.resolve().name,
        "recording_digest": recording.digest,
        "instruction": task,
        "rate": rate,
        "lost_frames": recording.lost,
        "clipped_frames": changed,
        "fixed_joints": filled,
    }
    # Central differences; the last frame has no action and serves only here.
    velocities = np.gradient(positions, 0.1, axis=0)
    return EpisodeData(task, positions[:-1], velocities[:-1], clipped, facts=facts), notes


def _limits(joints: Sequence[str]) -> NDArray[np.float64]:
    """Return the lower and upper limits of joints (2, n), rad."""
    body = h1_2()
    return np.array([(body.joint(name).lower, body.joint(name).upper) for name in joints]).T


def _check_limits(kind: str, positions: NDArray[np.float64], joints: Sequence[str]) -> str:
    """Return a note on positions (frames, joints) far beyond the limits, empty if there are none;
    raise RuleSafeError if most frames have some, as in degrees or of another robot."""
    lower, upper = _limits(joints)
    far = np.maximum(positions - upper, lower - positions) > BEYOND
    frames = int(far.any(axis=1).sum())
    if not frames:
        return ""
    joint = int(far.sum(axis=0).argmax())
    values = positions[:, joint]
    found = (
        f"{kind} of {frames} frames are more than {BEYOND:g} rad beyond the joint limits of "
        f"the H1-2: {joints[joint]} is {values.min():.2f} to {values.max():.2f}, its limits "
        f"are {lower[joint]:.2f} to {upper[joint]:.2f} rad"
    )
    if frames > len(positions) / 2:
        raise RuleSafeError(f"{found}. Are the positions in degrees, or of another robot?")
    return found


def frame_positions(recording: XrRecording, options: ImportOptions) -> NDArray[np.float64]:
    """Return the positions of the frames at 10 Hz, and of the end of the last, in numbers of
    recorded frames.

    Raises:
        RuleSafeError: the rate is unknown, the recording is too short, or a gap is too long.
    """
    rate = options.rate or recording.rate
    if rate is None:
        raise RuleSafeError("the recording does not state its rate (info.image.fps): use --rate")
    longest = int(np.diff(recording.numbers).max()) / rate
    if longest > options.max_gap:
        raise RuleSafeError(
            f"{longest:.2f} s without complete frames; the limit is {options.max_gap:g} s "
            "(--max-gap)"
        )
    step = rate / layout.FPS
    frames = int(recording.numbers[-1] / step + 1e-6)
    if frames < 2:
        raise RuleSafeError(
            f"{len(recording.numbers)} frames at {rate:g} Hz are too short for an episode: at "
            "least 0.2 s are required"
        )
    return step * np.arange(frames + 1, dtype=np.float64)


def _known_positions(
    recording: XrRecording, options: ImportOptions, notes: list[str]
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    """Return the recorded positions by joint, rad, and the actions (n, 13), rad."""
    states = recording.states
    known: dict[str, NDArray[np.float64]] = {}
    if "body" in states:
        known |= dict(zip(BODY_JOINTS, states["body"].T, strict=True))
    if "left_arm" in states:
        known |= dict(zip(LEFT_ARM, states["left_arm"].T, strict=True))
    known |= dict(zip(ARM_JOINTS, states["right_arm"].T, strict=True))
    arm, length = recording.actions["right_arm"], len(recording.numbers)
    if options.hand == "none":
        hand = np.tile([HOME[name] for name in HAND_JOINTS], (length, 1))
        return known, np.hstack([arm, hand])
    calibration, actions = CALIBRATIONS[options.hand], recording.actions
    if "right_ee" not in actions or "right_ee" not in states:
        reason = recording.unreadable.get("right_ee", "the right hand (right_ee) is not recorded")
        raise RuleSafeError(f"{reason}; --hand none holds its fingers at their home position")
    right, left = _hand_states(recording, options.hand_state, notes)
    for joints, values in ((HAND_JOINTS, right), (LEFT_HAND_JOINTS, left)):
        if values is not None:
            known |= dict(zip(joints, calibration.from_hand(_shares(values)).T, strict=True))
    return known, np.hstack([arm, calibration.from_hand(_shares(actions["right_ee"]))])


def _hand_states(
    recording: XrRecording, choice: str, notes: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the states (n, 6) of the right and the left hand.

    xr_teleoperate up to version 1.1 stores the state of the left DFX hand as that of the right one
    and vice versa (its issue 121); their actions are correct. "auto" compares states with actions.
    """
    right, left = recording.states["right_ee"], recording.states.get("left_ee")
    if choice == "auto" and left is not None:
        target = recording.actions["right_ee"]
        errors = [float(np.abs(state - target).mean()) for state in (right, left)]
        if errors[1] + SWAPPED < errors[0]:
            choice = "left_ee"
            notes.append(
                "states of the right hand from left_ee, which follow its actions "
                f"(mean difference {errors[1]:.2f} instead of {errors[0]:.2f})"
            )
    if choice != "left_ee":
        return right, left
    if left is None:
        raise RuleSafeError("the recording has no states left_ee: choose another --hand-state")
    return left, right


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a hand's values (n, 6) in 0..1; raise RuleSafeError if they have another scale."""
    low, high = float(values.min()), float(values.max())
    if low < -SHARE_MARGIN or high > 1 + SHARE_MARGIN:
        raise RuleSafeError(
            f"the values of a hand are {low:.2f} to {high:.2f}; those of an Inspire hand are 0 "
            "(closed) to 1 (open)"
        )
    return np.clip(values, 0.0, 1.0)


def _summary(joints: Sequence[str]) -> str:
    """Return a short description of joints, such as "13 joints (legs and torso)"."""
    named = [name for name, part in PARTS.items() if set(part) <= set(joints)]
    return f"{len(joints)} joints ({', '.join(named)})"
