"""The recorders: ours, and that of a ROS 2 installation."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.bag.recording import RecordingOptions
from rulesafe_ros.bag.selection import NOISE, full_name


def record_ourselves(recording: RecordingOptions) -> int:
    """Record with our recorder, which needs no ROS 2 installation; return the exit code."""
    from rulesafe_ros.bag.record_node import as_text, record

    print(f"recording to {recording.folder}; Ctrl-C ends it", flush=True)
    found, code = record(recording, lambda text: print(text, flush=True))
    start, end = found.span
    print(
        f"{recording.folder}: {found.messages} messages of {len(found.topics)} topics in "
        f"{(end - start) / 1e9:.1f} s; lost: {as_text(dict(found.dropped or {}))}",
        flush=True,
    )
    return code


def rosbag2_command(recording: RecordingOptions) -> list[str]:
    """Return the command that records the same with `ros2 bag record` of ROS 2 Jazzy."""
    command = ["ros2", "bag", "record", "--storage", "mcap", "--output", str(recording.folder)]
    command += ["--disable-keyboard-controls"]
    if recording.compression == "zstd":
        command += ["--storage-preset-profile", "zstd_fast"]
    if recording.selection.topics:
        topics = [full_name(topic) for topic in recording.selection.topics]
        command += ["--regex", _complete_match(topics)]
    else:
        command += ["--all-topics"]
    exclude = [*recording.selection.exclude, *(() if recording.selection.topics else NOISE)]
    if exclude:
        command += ["--exclude-regex", _complete_match(exclude)]
    if recording.splitting.megabytes:
        command += ["--max-bag-size", str(round(recording.splitting.megabytes * 10**6))]
    if recording.splitting.seconds:
        command += ["--max-bag-duration", str(max(1, round(recording.splitting.seconds)))]
    if recording.clock == "sim":
        command += ["--use-sim-time"]
    return command


def _complete_match(patterns: Sequence[str]) -> str:
    """Return a pattern that matches complete names; rosbag2 searches within names."""
    return f"^({'|'.join(patterns)})$"


def record_with_rosbag2(recording: RecordingOptions) -> int:
    """Replace this process by `ros2 bag record`, so that it receives the signals."""
    if not has_rosbag2():
        raise RuleSafeError(
            "there is no `ros2 bag record` here: source a ROS 2 that has ros2bag and "
            "rosbag2_storage_mcap, or take --recorder own"
        )
    if recording.seconds or recording.compression == "lz4":
        raise RuleSafeError("`ros2 bag record` knows neither --seconds nor lz4: --recorder own")
    command = rosbag2_command(recording)
    recording.folder.parent.mkdir(parents=True, exist_ok=True)
    print(" ".join(command), flush=True)
    os.execvp(command[0], command)


def has_rosbag2() -> bool:
    """Return whether `ros2 bag record` is installed and supports MCAP."""
    if shutil.which("ros2") is None:
        return False
    help_text = subprocess.run(["ros2", "bag", "record", "--help"], capture_output=True, text=True)
    return help_text.returncode == 0 and "mcap" in help_text.stdout


def record_with_installed(recording: RecordingOptions) -> int:
    """Record with `ros2 bag record` if it is installed, else with our recorder."""
    return (record_with_rosbag2 if has_rosbag2() else record_ourselves)(recording)


RECORDERS: dict[str, Callable[[RecordingOptions], int]] = {
    "own": record_ourselves,
    "rosbag2": record_with_rosbag2,
    "auto": record_with_installed,
}
"""Recorders by name; each returns the exit code."""
