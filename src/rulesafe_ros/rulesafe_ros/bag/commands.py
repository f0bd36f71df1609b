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

    Topics that appear later are recorded too. What got lost is counted by topic and told.

    Example: rulesafe bag record --topics /joint_states '/camera/.*' --out bag

    Args:
        topics: Names, or regular expressions of whole names; all (but /rosout and
            /parameter_events) if not given.
        out: Folder of the bag, which must not exist; bags/(date and time) if not given.
        exclude: Regular expressions of topics to leave out.
        compression: Of the file's chunks; every reader of MCAP knows all three.
        split_megabytes: Go on in another file after so many; 0: never.
        split_seconds: Go on in another file after so long; 0: never.
        clock: Whose time messages get. sim: /clock's, so that a simulation that waits for its
            policy leaves no pauses.
        seconds: End by itself after so long; 0: at Ctrl-C.
        network_interface: The robot's, to hear what it says itself; empty: only this machine's
            nodes.
        recorder: rosbag2: `ros2 bag record`. auto: that where it is installed, else our own.
    """
    from h1_2_bridge.network import use_interface
    from rulesafe_data.bags.writing import Splitting
    from rulesafe_ros.bag.recorders import RECORDERS
    from rulesafe_ros.bag.recording import Recording
    from rulesafe_ros.bag.selection import Selection

    folder = out or Path("bags", datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))
    splitting = Splitting(split_megabytes, split_seconds)
    selection = Selection(topics, exclude)
    use_interface(network_interface)
    recording = Recording(folder, selection, compression, splitting, clock, seconds)
    return RECORDERS[recorder](recording)


def info(bag: BagFolder, mend: bool = False) -> int:
    """Print what is in a bag, and whether it is whole; exit code 1 if it is unfinished.

    Example: rulesafe bag info bag --mend

    Args:
        bag: Its folder.
        mend: Give a bag whose recorder was killed its index and its metadata.yaml.
    """
    from rulesafe_data.bags.mending import mend as repair
    from rulesafe_data.bags.reading import Bag
    from rulesafe_ros.bag.report import describe, mended, open_files

    if mend:
        print(mended(bag, repair(bag)))
    elif bag.is_dir() and (wrong := open_files(bag)):
        for line in wrong:
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
    """Publish what was recorded, at its times; space pauses, n steps, + and - change the rate.

    Example: rulesafe bag play bag --rate 2 --clock 100 --loop

    Args:
        bag: Its folder.
        topics: Names, or regular expressions of whole names.
        exclude: Regular expressions of topics to leave out.
        rate: Seconds of the bag per second.
        clock: Hz at which /clock tells the bag's time, in place of a recorded /clock; 0: that one.
        start: Seconds of the bag to skip.
        delay: Seconds for readers to find the publishers before the first message.
        loop: Begin again at the end.
        paused: Begin at the space key.
        commands: Play what moves robots too: /policy/action_chunk, /arm_sdk, /lowcmd, /inspire/cmd.
    """
    from rulesafe_data.bags.reading import Bag
    from rulesafe_ros.bag.play_node import Playing
    from rulesafe_ros.bag.play_node import play as run
    from rulesafe_ros.bag.selection import Selection

    selection = Selection(topics, exclude)
    playing = Playing(selection, rate, clock, start, delay, loop, paused, commands)
    return run(Bag(bag), playing, lambda text: print(text, flush=True))


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
        out: The dataset's folder; episodes are added to a dataset that is there.
        actions: Where they come from. newest, blended: the chunks on /policy/action_chunk, as
            they were executed. bridge: what the bridge commanded (/bridge/state). reached: the
            positions a frame later, for a robot that was guided by hand.
        observations: all: what the bags have. points: without pictures. joints: neither pictures
            nor clouds.
        instruction: In place of the recorded one.
        only_opened: Leave out episodes in which the door was not seen to open.
        fill: Seconds from which a frame may take a picture that it has not; an episode with a
            longer gap is left out.
    """
    from rulesafe_ros.bag.to_dataset import Request
    from rulesafe_ros.bag.to_dataset import to_dataset as make

    request = Request(out, actions, observations, instruction, only_opened, fill)
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
