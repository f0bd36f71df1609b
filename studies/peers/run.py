#!/usr/bin/env python3
"""Compare the speed of our environment with that of other simulators on the same work.

    .venv/bin/python studies/peers/run.py --json docs/results/data/peers.json

prepares a virtual environment for each peer (build/peers), exports our scene for them, runs all
simulators alternately, each in a new process, and prints tables. README.md describes what is
measured; `python -m rulesafe_studies pages` writes the tables into docs/results/benchmarks.md.
"""

import hashlib
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scene

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import write_atomically
from rulesafe_studies.measuring import machine
from rulesafe_studies.peers import tables

HERE = Path(__file__).resolve().parent


class Subject(NamedTuple):
    """A script of this folder, with its options.

    `peer`: file of requirements and virtual environment; empty: ours. `cameras`: the largest number
    of cameras. `same`: whether it simulates our scene with the same motion.
    """

    script: str
    peer: str = ""
    options: tuple[str, ...] = ()
    cameras: tuple[int, ...] = (0, 1, 2)
    same: bool = True


SUBJECTS = {
    "ours": Subject("ours.py"),
    "bare SAPIEN loop": Subject("sapien_loop.py"),
    "ManiSkill, our scene": Subject("maniskill_scene.py", "maniskill"),
    "ManiSkill, our scene, its lights": Subject(
        "maniskill_scene.py", "maniskill", ("--lights", "own"), (1, 2)
    ),
    "ManiSkill PickCube": Subject("maniskill_pick_cube.py", "maniskill", (), (0, 1), False),
    "robosuite Door": Subject("robosuite_door.py", "robosuite", (), (0, 1), False),
}

WITH_DEPENDENCIES = {"maniskill": ("torch==2.13.0",)}
"""Installed before the requirements; a build for the CPU is enough."""

TOLERANCE = 0.002
"""Largest difference (rad) of joint positions at the end between simulators of the same scene."""


@dataclass(frozen=True)
class Options:
    """Options of the comparison.

    Attributes:
        seconds: Simulated time of each measurement, s.
        rounds: Number of rounds; each runs every simulator once, in turns.
        subjects: Simulators to run, as in the table.
        cameras: Numbers of cameras.
        parallel: Numbers of processes of our environment that run together.
        json: JSON file to which the measurements are written.
        build: Folder for virtual environments and the exported scene.
    """

    seconds: float = 5.0
    rounds: int = 3
    subjects: tuple[str, ...] = tuple(SUBJECTS)
    cameras: tuple[int, ...] = (0, 1, 2)
    parallel: tuple[int, ...] = (1, 2, 4)
    json: Path | None = None
    build: Path = HERE.parents[1] / "build/peers"


def python_of(peer: str, build: Path) -> str:
    """Return the Python of a peer's virtual environment; create it if its requirements changed."""
    if not peer:
        return sys.executable
    requirements, folder = HERE / f"{peer}.txt", build / peer
    python = str(folder / "bin/python")
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    done = folder / "requirements.sha256"
    if done.exists() and done.read_text() == digest:
        return python
    print(f"installing {requirements.name} into {folder} (some minutes)", flush=True)
    venv.create(folder, clear=True, with_pip=True)
    install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if first := WITH_DEPENDENCIES.get(peer):
        subprocess.run([*install, *first], check=True)
    subprocess.run([*install, "--no-deps", "-r", str(requirements)], check=True)
    done.write_text(digest)
    return python


class Process:
    """A process of a script, which waits before and after its measurement."""

    def __init__(self, subject: Subject, cameras: int, options: Options):
        build = options.build.resolve()
        self._errors = build / f"errors_{os.getpid()}_{id(self)}.txt"
        command = [python_of(subject.peer, build), str(HERE / subject.script), *subject.options]
        command += ["--cameras", str(cameras), "--seconds", str(options.seconds), "--wait"]
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [*command, "--scene", str(build / "scene")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._name = " ".join([subject.script, *subject.options, f"--cameras {cameras}"])

    def line(self) -> str:
        """Return the next line of the output.

        Raises:
            RuleSafeError: the process has ended.
        """
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            last = self._errors.read_text()[-2000:]
            raise RuleSafeError(f"{self._name} ended with {self._process.wait()}:\n{last}")
        return line

    def ready(self) -> None:
        """Wait until the warm-up is complete."""
        while self.line().strip() != "ready":
            pass

    def proceed(self) -> None:
        """Start the measurement, or end the process."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def memory(self) -> float:
        """Return the proportional set size, MB, which divides shared pages among processes."""
        text = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text()
        (kilobytes,) = (row.split()[1] for row in text.splitlines() if row.startswith("Pss:"))
        return int(kilobytes) / 1024

    def close(self) -> None:
        """End the process and delete its error file."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            stream.close()
        self._errors.unlink(missing_ok=True)


def run(name: str, cameras: int, options: Options, count: int = 1) -> list[dict[str, Any]]:
    """Run `count` processes of a subject together; return their results, with `memory` in MB."""
    processes: list[Process] = []
    try:
        processes += (Process(SUBJECTS[name], cameras, options) for _ in range(count))
        for process in processes:
            process.ready()
        for process in processes:
            process.proceed()
        results = [json.loads(process.line()) for process in processes]
        return [
            result | {"memory": process.memory()}
            for result, process in zip(results, processes, strict=True)
        ]
    finally:
        for process in processes:
            process.close()


def check_motion(name: str, cameras: int, result: dict[str, Any], ours: dict[str, Any]) -> None:
    """Check that a simulator of the same scene ended at our joint positions.

    Raises:
        RuleSafeError: a joint differs by more than TOLERANCE.
    """
    error = np.abs(np.subtract(result["positions"], ours["positions"])).max()
    if error > TOLERANCE:
        raise RuleSafeError(
            f"{name} with {cameras} cameras ended {error:.4f} rad from our joint positions; "
            f"valid: up to {TOLERANCE} rad, otherwise it does not simulate the same scene"
        )


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the measurements of all rounds; every second round runs in reverse order."""
    for number in range(options.rounds):
        for cameras in options.cameras:
            chosen = [name for name in options.subjects if cameras in SUBJECTS[name].cameras]
            found = {}
            for name in chosen if number % 2 == 0 else chosen[::-1]:
                (found[name],) = run(name, cameras, options)
            ours = found.get("ours", {})
            for name in chosen:
                result = found[name]
                if ours and SUBJECTS[name].same:
                    check_motion(name, cameras, result, ours)
                yield {"subject": name, "cameras": cameras, "round": number} | result
                rate = result["simulated"] / result["cpu"]
                print(f"round {number}, {cameras} cameras, {name}: {rate:.3g} s/s", flush=True)


def in_parallel(options: Options) -> Iterator[dict[str, Any]]:
    """Yield throughput (simulated s per wall s of all processes) and memory of our environment."""
    for number in range(options.rounds):
        for cameras in sorted({min(options.cameras), max(options.cameras)}):
            for count in options.parallel:
                results = run("ours", cameras, options, count)
                wall = max(result["wall"] for result in results)
                yield {
                    "processes": count,
                    "cameras": cameras,
                    "round": number,
                    "simulated": sum(result["simulated"] for result in results),
                    "wall": wall,
                    "cpu": sum(result["cpu"] for result in results),
                    "memory": sum(result["memory"] for result in results) / count,
                }


def compare(options: Options) -> None:
    """Run the comparison, print its tables and write its measurements.

    Raises:
        RuleSafeError: an option is invalid, a process failed, or a motion differs from ours.
    """
    for name in options.subjects:
        if name not in SUBJECTS:
            raise unknown_name("subject", name, SUBJECTS)
    if options.rounds < 1 or options.seconds <= 0 or not options.subjects:
        raise RuleSafeError(
            f"{options.rounds} rounds of {options.seconds:g} s with {len(options.subjects)} "
            "simulators; valid: all three > 0"
        )
    if not options.cameras or not {0, 1, 2}.issuperset(options.cameras):
        raise RuleSafeError(f"cameras are {options.cameras}; valid: some of 0, 1 and 2")
    facts = {key: value for key, value in machine().items() if key != "system"}
    scene.export(options.build / "scene")
    for name in options.subjects:
        python_of(SUBJECTS[name].peer, options.build.resolve())
    runs = list(measure(options))
    found = {each["subject"]: each["versions"] for each in runs}
    versions = {name: found[name] for name in options.subjects if name in found}
    content = {
        "machine": facts,
        "seconds": options.seconds,
        "rounds": options.rounds,
        "versions": versions,
        "runs": [rounded(each) for each in runs],
        "parallel": [rounded(each) for each in in_parallel(options)],
    }
    print(tables(content))
    if options.json:
        write_atomically(options.json, dump(content).encode())


def rounded(result: dict[str, Any]) -> dict[str, Any]:
    """Return a measurement without positions and versions, to four decimals."""
    kept = {key: value for key, value in result.items() if key not in ("positions", "versions")}
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in kept.items()}


def dump(content: dict[str, Any]) -> str:
    """Return JSON with one measurement per line."""
    lines = {key: content[key] for key in ("runs", "parallel")}
    head = json.dumps({k: v for k, v in content.items() if k not in lines}, indent=1)[:-2]
    tail = [f' "{key}": [\n  ' + ",\n  ".join(map(json.dumps, v)) for key, v in lines.items()]
    return head + "".join(f",\n{each}\n ]" for each in tail) + "\n}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison with these arguments; return the exit status."""
    try:
        compare(tyro.cli(Options, args=argv, description=__doc__))
    except RuleSafeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
