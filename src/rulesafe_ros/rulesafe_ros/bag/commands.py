"""The subcommands of `rulesafe bag`. Each one imports its dependencies when it runs."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import tyro

BagFolder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="BAG")]


def record(
    topics: tuple[str, ...] = (),
    out: Path | None = None,
    exclude: tuple[str, ...] = (),
    compression: Literal["zstd", "lz4", "none"] = "zstd",
    split_megabytes: float = 0.0,
    split_seconds: float = 0.0,
    clock: Literal["wall", "sim"] = "wall",
    seconds: float = 0.0,
    network_interface: str = "",
) -> int:
    """Record topics into a rosbag2 directory (MCAP), until Ctrl-C.

    Topics that appear later are recorded too. Lost messages are counted and reported per topic.

    Example: rulesafe bag record --topics /joint_states '/camera/.*' --out bag

    Args:
        topics: Names, or regular expressions for complete names; default: all except /rosout and
            /parameter_events.
        out: Folder of the bag, which must not exist; default: bags/(date and time).
        exclude: Regular expressions for topics to exclude.
        compression: Compression of the MCAP chunks.
        split_megabytes: File size after which a new file is started, MB; 0: one file.
        split_seconds: Time after which a new file is started, s; 0: one file.
        clock: Source of the message times. wall: system time of the arrival. sim: /clock, without
            the pauses of a simulation that waits for its policy.
        seconds: Duration, s; 0: until Ctrl-C.
        network_interface: Interface to the robot, to record the robot's own topics; empty: only
            topics of nodes on this machine.
    """
    from h1_2_bridge.network import use_interface
    from rulesafe_data.bags.writing import Splitting
    from rulesafe_ros.bag.record_options import RecordingOptions
    from rulesafe_ros.bag.selection import Selection

    folder = out or Path("bags", datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))
    splitting = Splitting(split_megabytes, split_seconds)
    selection = Selection(topics, exclude)
    use_interface(network_interface)
    recording = RecordingOptions(folder, selection, compression, splitting, clock, seconds)
    from rulesafe_ros.bag.record_node import as_text  # after the options are checked
    from rulesafe_ros.bag.record_node import record as record_graph

    print(f"recording to {folder}; stop with Ctrl-C", flush=True)
    found, code = record_graph(recording, lambda text: print(text, flush=True))
    start, end = found.span
    print(
        f"{folder}: {found.messages} messages of {len(found.topics)} topics in "
        f"{(end - start) / 1e9:.1f} s; lost: {as_text(dict(found.dropped or {}))}",
        flush=True,
    )
    return code


def info(bag: BagFolder, repair: bool = False, check: bool = False) -> int:
    """Print a summary of a bag, or its missing parts; the exit code is 1 if it is unfinished.

    Example: rulesafe bag info bag --repair

    Args:
        bag: Folder of the bag.
        repair: Copy the readable messages of an unfinished or damaged bag to BAG_repaired; the
            original is not changed.
        check: Read all messages and verify their checksums; the exit code is 1 for a damaged bag.
    """
    from rulesafe_data.bags import repair as repairs
    from rulesafe_data.bags.reading import Bag
    from rulesafe_ros.bag.report import describe, describe_repair, find_missing

    if repair:
        result = repairs.repair(bag)
        for line in describe_repair(result):
            print(line)
        bag = result.folder
    elif bag.is_dir() and (missing := find_missing(bag)):
        for line in missing:
            print(line)
        print(f"{bag} is unfinished; repair it with: rulesafe bag info {bag} --repair")
        return 1
    found = Bag(bag)
    for line in describe(found):
        print(line)
    if check:
        count = sum(1 for _ in found.messages())
        expected = found.metadata.messages
        print(f"read {count} of {expected} messages; damaged parts: {len(found.damaged)}")
        return int(bool(found.damaged) or count != expected)
    return 0


def play(
    bag: BagFolder,
    topics: tuple[str, ...] = (".*",),
    exclude: tuple[str, ...] = (),
    rate: float = 1.0,
    clock: float = 0.0,
    start: float = 0.0,
    delay: float = 1.0,
    loop: bool = False,
    paused: bool = False,
    commands: bool = False,
) -> int:
    """Publish the messages of a bag; keys: space pauses, n steps, + and - change the rate.

    Example: rulesafe bag play bag --rate 2 --clock 100 --loop

    Args:
        bag: Folder of the bag.
        topics: Names, or regular expressions for complete names.
        exclude: Regular expressions for topics to exclude.
        rate: Playback speed: seconds of the bag per second.
        clock: Rate of a /clock with the bag's time, Hz; 0: the recorded /clock.
        start: Time to skip at the start of the bag, s.
        delay: Time for discovery of other nodes before the first message, s.
        loop: Restart at the end of the bag.
        paused: Start paused; the space key resumes.
        commands: Include robot commands: /policy/action_chunk, /arm_sdk, /lowcmd, /inspire/cmd.
    """
    from rulesafe_data.bags.reading import Bag
    from rulesafe_ros.bag.play_node import PlayOptions
    from rulesafe_ros.bag.play_node import play as run
    from rulesafe_ros.bag.selection import Selection

    selection = Selection(topics, exclude)
    options = PlayOptions(selection, rate, clock, start, delay, loop, paused, commands)
    return run(Bag(bag), options, lambda text: print(text, flush=True))


def to_dataset(
    bags: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="BAG")],
    out: Path,
    actions: Literal["executed", "newest", "blended", "bridge", "reached"] = "executed",
    observations: Literal["all", "points", "joints"] = "all",
    instruction: str = "",
    only_opened: bool = False,
    fill: float = 0.5,
    cameras: str = "",
) -> None:
    """Add the episodes of bags, from simulation or a real robot, to a training dataset.

    Example: rulesafe bag to-dataset bag --out demos

    Args:
        bags: Folders of the bags.
        out: Folder of the dataset; episodes are added to an existing dataset.
        actions: Source of the actions. executed: those of the simulation (/episode/status), or the
            commands of the bridge (/bridge/state). newest, blended: chunks on /policy/action_chunk,
            executed with this method. bridge: commands of the bridge. reached: positions one frame
            later, for a robot that was guided manually.
        observations: all: images and point clouds, as recorded. points: no images. joints: neither
            images nor point clouds.
        instruction: Text that replaces the recorded instruction.
        only_opened: Skip episodes in which /episode/status reports no open door.
        fill: Largest distance of a frame whose image replaces a missing one, s; episodes with
            longer gaps are skipped.
        cameras: YAML file of the cameras, if they are not head and front (docs/interface.md); or
            the name of one in an installed package.
    """
    from rulesafe_core.cameras import load_cameras
    from rulesafe_ros.bag.to_dataset import ConversionRequest
    from rulesafe_ros.bag.to_dataset import to_dataset as make

    mounted = load_cameras(cameras)
    request = ConversionRequest(out, actions, observations, instruction, only_opened, fill, mounted)
    added = make(bags, request)
    print(f"{out}: {added} {'episode' if added == 1 else 'episodes'} added")


def to_video(bag: BagFolder, out: Path | None = None) -> None:
    """Render videos of a bag's episodes: cameras, plan and memory tokens.

    Example: rulesafe bag to-video bag --out videos

    Args:
        bag: Folder of the bag.
        out: Folder for film.mp4 and sheet.png; default: films/(name of the bag).
    """
    from rulesafe_ros.bag.to_video import to_video as make

    for path in make(bag, out or Path("films", bag.resolve().name)):
        print(f"wrote {path}")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "record": record,
    "info": info,
    "play": play,
    "to-dataset": to_dataset,
    "to-video": to_video,
}
