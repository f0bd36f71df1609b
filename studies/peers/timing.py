"""Options, measurement and result of the scripts in this folder. Standard library only.

Each script simulates one environment and prints its result as one line of JSON. With `--wait` it
prints "ready" after the warm-up, measures after the first line on its standard input and ends after
the second, so that `run.py` can start several processes together and read their memory.
"""

import argparse
import json
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

WARM_UP = 1.0  # simulated s before the measurement


def parse(description: str, argv: Sequence[str] | None = None, cameras: int = 2):
    """Return the options of a script.

    Args:
        description: description of the script.
        argv: arguments; None for those of the process.
        cameras: maximum number of cameras.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="simulated time, s")
    parser.add_argument("--cameras", type=int, default=0, choices=range(cameras + 1))
    parser.add_argument("--scene", type=Path, help="folder that scene.py has written")
    parser.add_argument("--lights", choices=("ours", "own"), default="ours")
    parser.add_argument("--images", type=Path, help="folder for the last images")
    parser.add_argument("--wait", action="store_true", help="wait for a line before and after")
    options = parser.parse_args(argv)
    if options.seconds <= 0:
        parser.error(f"--seconds is {options.seconds:g}; valid: a number > 0")
    return options


def cpu_time() -> float:
    """Return the CPU time of this process, all its threads and its ended children, s."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measure(
    options: argparse.Namespace,
    step: Callable[[], None],
    step_seconds: float,
    positions: Callable[[], Sequence[float]],
    packages: Sequence[str],
    images: Callable[[], Sequence] = tuple,
) -> None:
    """Call `step` for the warm-up and for the measurement, and print the result.

    Args:
        options: options of `parse`.
        step: function that simulates one step and computes its observation.
        step_seconds: simulated time of one step, s.
        positions: function that returns the joint positions at the end, rad.
        packages: distributions whose versions are reported.
        images: function that returns the images of the last step, each (H, W, 3) uint8.
    """
    for _ in range(round(WARM_UP / step_seconds)):
        step()
    if options.wait:
        print("ready", flush=True)
        sys.stdin.readline()
    count = max(1, round(options.seconds / step_seconds))
    cpu, wall = cpu_time(), time.perf_counter()
    for _ in range(count):
        step()
    cpu, wall = cpu_time() - cpu, time.perf_counter() - wall
    result = {
        "simulated": count * step_seconds,
        "cpu": cpu,
        "wall": wall,
        "positions": [round(float(value), 5) for value in positions()],
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
    }
    if options.images:
        write_images(options.images, images())
    print(json.dumps(result), flush=True)
    if options.wait:
        sys.stdin.readline()


def write_images(folder: Path, images: Sequence) -> None:
    """Write images (H, W, 3) into a folder, to compare the rendering of the simulators."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{number}.png")


def read_scene(options: argparse.Namespace) -> dict:
    """Return the content of scene.json in the folder `--scene`."""
    if options.scene is None or not (options.scene / "scene.json").exists():
        raise SystemExit(
            f"--scene is {options.scene}, which has no scene.json; write it with "
            "`python studies/peers/scene.py FOLDER`"
        )
    return json.loads((options.scene / "scene.json").read_text())
