"""Who records: our own recorder, or that of a ROS 2 installation."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.bag.recording import Recording
from rulesafe_ros.bag.selection import NOISE, full_name


def record_ourselves(recording: Recording) -> int:
    """With our own recorder, which needs no installed ROS 2; the exit code."""
    from rulesafe_ros.bag.record_node import in_words, record

    print(f"recording to {recording.folder}; Ctrl-C ends it", flush=True)
    found, code = record(recording, lambda text: print(text, flush=True))
    start, end = found.span
    print(
        f"{recording.folder}: {found.messages} messages of {len(found.topics)} topics in "
        f"{(end - start) / 1e9:.1f} s; lost: {in_words(dict(found.dropped or {}))}",
        flush=True,
    )
    return code


def rosbag2_command(recording: Recording) -> list[str]:
    """The command that records the same with `ros2 bag record` of ROS 2 Jazzy."""
    command = ["ros2", "bag", "record", "--storage", "mcap", "--output", str(recording.folder)]
    command += ["--disable-keyboard-controls"]
    if recording.compression == "zstd":
        command += ["--storage-preset-profile", "zstd_fast"]
    if recording.selection.topics:
        command += ["--regex", _whole([full_name(topic) for topic in recording.selection.topics])]
    else:
        command += ["--all-topics"]
    exclude = [*recording.selection.exclude, *(() if recording.selection.topics else NOISE)]
    if exclude:
        command += ["--exclude-regex", _whole(exclude)]
    if recording.splitting.megabytes:
        command += ["--max-bag-size", str(round(recording.splitting.megabytes * 10**6))]
    if recording.splitting.seconds:
        command += ["--max-bag-duration", str(max(1, round(recording.splitting.seconds)))]
    if recording.clock == "sim":
        command += ["--use-sim-time"]
    return command


def _whole(patterns: Sequence[str]) -> str:
    """One pattern of whole names; rosbag2 looks for patterns anywhere in a name."""
    return f"^({'|'.join(patterns)})$"


def record_with_rosbag2(recording: Recording) -> int:
    """With `ros2 bag record`, in this process's place: signals reach it directly."""
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
    """Whether `ros2 bag record` is there and knows MCAP."""
    if shutil.which("ros2") is None:
        return False
    told = subprocess.run(["ros2", "bag", "record", "--help"], capture_output=True, text=True)
    return told.returncode == 0 and "mcap" in told.stdout


def record_with_what_is_there(recording: Recording) -> int:
    """With `ros2 bag record` where it is installed, else with our own recorder."""
    return (record_with_rosbag2 if has_rosbag2() else record_ourselves)(recording)


RECORDERS: dict[str, Callable[[Recording], int]] = {
    "own": record_ourselves,
    "rosbag2": record_with_rosbag2,
    "auto": record_with_what_is_there,
}
"""By name; each gives the exit code."""
