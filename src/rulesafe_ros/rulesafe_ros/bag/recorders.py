"""The recorders: that of RuleSafe and that of a ROS 2 installation."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.bag.record_options import RecordingOptions
from rulesafe_ros.bag.selection import NODE_TOPICS, full_name


def record_with_own(recording: RecordingOptions) -> int:
    """Record with RuleSafe's recorder, without a ROS 2 installation; return the exit code."""
    from rulesafe_ros.bag.record_node import as_text, record

    print(f"recording to {recording.folder}; stop with Ctrl-C", flush=True)
    found, code = record(recording, lambda text: print(text, flush=True))
    start, end = found.span
    print(
        f"{recording.folder}: {found.messages} messages of {len(found.topics)} topics in "
        f"{(end - start) / 1e9:.1f} s; lost: {as_text(dict(found.dropped or {}))}",
        flush=True,
    )
    return code


def rosbag2_command(recording: RecordingOptions) -> list[str]:
    """Return the equivalent command of `ros2 bag record` in ROS 2 Jazzy."""
    command = ["ros2", "bag", "record", "--storage", "mcap", "--output", str(recording.folder)]
    command += ["--disable-keyboard-controls"]
    if recording.compression == "zstd":
        command += ["--storage-preset-profile", "zstd_fast"]
    if recording.selection.topics:
        topics = [full_name(topic) for topic in recording.selection.topics]
        command += ["--regex", _complete_match(topics)]
    else:
        command += ["--all-topics"]
    exclude = [*recording.selection.exclude, *(() if recording.selection.topics else NODE_TOPICS)]
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
    """Replace this process with `ros2 bag record`, so that the signals reach it."""
    if not has_rosbag2():
        raise RuleSafeError(
            "`ros2 bag record` with MCAP is not installed: source a ROS 2 with ros2bag and "
            "rosbag2_storage_mcap, or use --recorder own"
        )
    if recording.seconds or recording.compression == "lz4":
        raise RuleSafeError("`ros2 bag record` has neither --seconds nor lz4: use --recorder own")
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
    """Record with `ros2 bag record` if it is installed and has the options, else with RuleSafe's
    recorder."""
    own = recording.seconds or recording.compression == "lz4" or not has_rosbag2()
    return (record_with_own if own else record_with_rosbag2)(recording)


RECORDERS: dict[str, Callable[[RecordingOptions], int]] = {
    "own": record_with_own,
    "rosbag2": record_with_rosbag2,
    "auto": record_with_installed,
}
"""Recorders by name; each returns the exit code."""
