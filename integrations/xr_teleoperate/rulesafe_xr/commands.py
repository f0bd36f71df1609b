"""`rulesafe demos import-xr`: recordings of people with Unitree's xr_teleoperate as a dataset."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from rulesafe_core.errors import RuleSafeError, resumable


@resumable("every episode written so far")
def import_xr(
    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")],
    out: Path,
    instruction: str = "",
    rule: str = "",
    text: Literal["goal", "desc", "steps"] = "goal",
    observations: Literal["all", "joints"] = "all",
    head: str = "color_0",
    front: str = "color_1",
    hand: Literal["dfx", "ftp", "none"] = "dfx",
    hand_state: Literal["auto", "right_ee", "left_ee"] = "auto",
    rate: float | None = None,
    max_gap: float = 0.5,
) -> int:
    """Add recordings of Unitree's xr_teleoperate (H1-2 with Inspire hands) to a dataset.

    Recordings that cannot be used are reported and skipped (exit code 1), recordings that the
    dataset already has are skipped. The recordings are not changed.

    Example: rulesafe demos import-xr recordings --rule rule_001 --out people

    Args:
        directory: A recording (a folder with data.json), a folder of recordings, or a folder of
            these.
        out: Directory of the dataset; episodes are added to an existing one.
        instruction: Instruction of all episodes; empty: the recorded text.
        rule: Rule whose instruction is used, so that the policy can be evaluated on it.
        text: Recorded text that is the instruction.
        observations: joints: joint states and actions only, without images.
        head: Camera of the recording for observation.images.head.
        front: Camera of the recording for observation.images.front; it may be the same one.
        hand: Inspire hands of the robot, whose values are converted to rad: dfx or ftp. none: the
            recording has no right hand; its fingers are held at their home position.
        hand_state: Part with the states of the right hand. Versions of xr_teleoperate until 2025
            stored those of DFX hands in left_ee. auto: the part that follows the actions.
        rate: Frames per second of the recordings; None: as they state. A recorder that was too slow
            states its intended rate.
        max_gap: Longest time without complete frames, and largest distance of an image that
            replaces a missing one, s.
    """
    from rulesafe_locks.rules import load_rule
    from rulesafe_xr.conversion import ImportOptions
    from rulesafe_xr.importing import import_recordings

    if rule and instruction:
        raise RuleSafeError("give --rule or --instruction, not both")
    if rate is not None and not 1 <= rate <= 1000:
        raise RuleSafeError(f"--rate is {rate:g}; valid: 1 to 1000 Hz")
    if not 0 < max_gap <= 60:
        raise RuleSafeError(f"--max-gap is {max_gap:g}; valid: above 0, up to 60 s")
    options = ImportOptions(
        cameras=(head, front) if observations == "all" else None,
        instruction=load_rule(rule).description if rule else instruction,
        text=text,
        hand=hand,
        hand_state=hand_state,
        rate=rate,
        max_gap=max_gap,
    )
    added, skipped = import_recordings(directory, out, options)
    episodes = "episode" if added == 1 else "episodes"
    print(f"{out}: {added} {episodes} added" + (f", {skipped} skipped" if skipped else ""))
    return 1 if skipped else 0
