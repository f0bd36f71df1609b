"""The subcommands of `rulesafe bag`. What they need is imported when they run."""

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
    recorder: Literal["own", "rosbag2", "auto"] = "own",
) -> int:
    """Record topics into a rosbag2 directory (MCAP), until Ctrl-C.

    Topics that appear later are recorded too. Lost messages are counted and reported by topic.

    Example: rulesafe bag record --topics /joint_states '/camera/.*' --out bag

    Args:
        topics: Names, or regular expressions of complete names; all (but /rosout and
            /parameter_events) if not given.
        out: Folder of the bag, which must not exist; bags/(date and time) if not given.
        exclude: Regular expressions of topics to leave out.
        compression: Of the file's chunks; every reader of MCAP supports all three.
        split_megabytes: Size after which another file is started; 0: never.
        split_seconds: Time after which another file is started; 0: never.
        clock: Source of the messages' times. sim: /clock, so that a simulation that waits for its
            policy leaves no pauses.
        seconds: Duration; 0: until Ctrl-C.
        network_interface: The robot's, to receive its own messages; empty: only those of this
            machine's nodes.
        recorder: rosbag2: `ros2 bag record`. auto: the same if it is installed, else our own.
    """
    from h1_2_bridge.network import use_interface
    from rulesafe_data.bags.writing import Splitting
    from rulesafe_ros.bag.recorders import RECORDERS
    from rulesafe_ros.bag.recording import RecordingOptions
    from rulesafe_ros.bag.selection import Selection

    folder = out or Path("bags", datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))
    splitting = Splitting(split_megabytes, split_seconds)
    selection = Selection(topics, exclude)
    use_interface(network_interface)
    recording = RecordingOptions(folder, selection, compression, splitting, clock, seconds)
    return RECORDERS[recorder](recording)


def info(bag: BagFolder, mend: bool = False) -> int:
    """Print the content of a bag, and whether it is complete; exit code 1 if it is unfinished.

    Example: rulesafe bag info bag --mend

    Args:
        bag: Its folder.
        mend: Repair a bag whose recorder was killed: write its index and its metadata.yaml.
    """
    from rulesafe_data.bags.reading import Bag
    from rulesafe_data.bags.repair import repair
    from rulesafe_ros.bag.report import describe, faults, repaired

    if mend:
        print(repaired(bag, repair(bag)))
    elif bag.is_dir() and (missing := faults(bag)):
        for line in missing:
            print(line)
        print(f"{bag} is unfinished: rulesafe bag info {bag} --mend")
        return 1
    for line in describe(Bag(bag)):
        print(line)
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
    """Publish the messages of a bag at their times; keys: space pauses, n steps, + and - rate.

    Example: rulesafe bag play bag --rate 2 --clock 100 --loop

    Args:
        bag: Its folder.
        topics: Names, or regular expressions of complete names.
        exclude: Regular expressions of topics to leave out.
        rate: Seconds of the bag per second.
        clock: Hz of a /clock with the bag's time; 0: the recorded /clock.
        start: Seconds of the bag to skip.
        delay: Seconds for subscribers to discover the publishers before the first message.
        loop: Start again at the end.
        paused: Start paused, until the space key.
        commands: Play robot commands too: /policy/action_chunk, /arm_sdk, /lowcmd, /inspire/cmd.
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
    actions: Literal["newest", "blended", "bridge", "reached"] = "newest",
    observations: Literal["all", "points", "joints"] = "all",
    instruction: str = "",
    only_opened: bool = False,
    fill: float = 0.5,
) -> None:
    """Add the episodes of bags, of the real robot too, to a dataset to train policies with.

    Example: rulesafe bag to-dataset bag --out demos

    Args:
        bags: Their folders.
        out: The dataset's folder; episodes are added to an existing dataset.
        actions: Where they come from. newest, blended: the chunks on /policy/action_chunk, as
            they were executed. bridge: what the bridge commanded (/bridge/state). reached: the
            positions a frame later, for a robot that was guided by hand.
        observations: all: what the bags have. points: without images. joints: neither images nor
            point clouds.
        instruction: Replaces the recorded one.
        only_opened: Leave out episodes in which no status reports an open door.
        fill: Seconds within which a frame may take a missing image from another one; an episode
            with a longer gap is left out.
    """
    from rulesafe_ros.bag.to_dataset import ConversionRequest
    from rulesafe_ros.bag.to_dataset import to_dataset as make

    request = ConversionRequest(out, actions, observations, instruction, only_opened, fill)
    added = make(bags, request)
    print(f"{out}: {added} {'episode' if added == 1 else 'episodes'} added")


def to_video(bag: BagFolder, out: Path | None = None) -> None:
    """Film a bag's episodes: cameras, the plan's steps, the memory's tokens.

    Example: rulesafe bag to-video bag --out films

    Args:
        bag: Its folder.
        out: Folder of film.mp4 and sheet.png; films/(the bag's name) if not given.
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
