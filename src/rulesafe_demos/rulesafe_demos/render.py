"""`rulesafe demos render`: images and point clouds of recorded states, and their dataset."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_json
from rulesafe_core.versions import renderer_version
from rulesafe_data import layout
from rulesafe_data.attempt_recording import RecordedAttempt, read
from rulesafe_data.bars import ProgressBar
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.engines import run
from rulesafe_data.files import write_json
from rulesafe_data.frame import Frame
from rulesafe_data.layout import FPS, SUBTASKS
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_demos.attempts import GenerationRequest, load_request
from rulesafe_locks.locks import PARTS
from rulesafe_sim.bodies import EpisodeBodies, load_robot
from rulesafe_sim.config import PhysicsConfig
from rulesafe_sim.episode import MISS, POLICY
from rulesafe_sim.observer import SceneObserver
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.safes import load_safe
from rulesafe_sim.variation import Variation

PRIVILEGED = (
    "safe_positions",
    "part_open",
    "part_locked",
    "steps_done",
    "contact_force",
    "step",
    "event",
    "attempt",
    "operation",
)
"""Columns of a recording that policies may not read."""

QUICK = 10 * FPS
"""Longest step of a policy that is imitated, frames: in a longer one it has hesitated or missed."""


@dataclass(frozen=True)
class Rendering:
    """Contents and appearance of a dataset."""

    dataset: Path
    observations: Literal["all", "points", "joints"] = "all"
    look: str = ""  # split to sample lights, colours and cameras from; empty: as recorded
    cameras: CameraSet = DEFAULT_CAMERAS
    camera_rate: int = FPS  # Hz, a divisor of FPS; other frames repeat the last observation

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the rendered observations."""
        return {"all": self.cameras.keys, "points": (POINTS,), "joints": ()}[self.observations]


@dataclass(frozen=True)
class Place:
    """An episode index of the dataset, and the recorded attempt that is stored there."""

    index: int
    rule: str
    attempt: int


def render(
    directory: Path, rendering: Rendering, workers: int = 1, engine: str = "local"
) -> tuple[int, int]:
    """Write missing and damaged episodes of a dataset; return the numbers of all and new episodes.

    The order of the dataset is that of `DemoFolder.episodes`. An episode depends only on its
    recording and the look; rendered again, it is bit-identical.

    Raises:
        RuleSafeError: if there is nothing to render, the directory is in use, the disk is full, or
            workers cannot start.
    """
    if rendering.look:
        load_split(rendering.look)  # raises before anything is written
    if not 1 <= rendering.camera_rate <= FPS or FPS % rendering.camera_rate:
        raise RuleSafeError(f"the camera rate is {rendering.camera_rate} Hz; valid: 1, 2, 5, 10")
    request = load_request(directory)
    folder = DemoFolder(directory)
    episodes = folder.episodes(request.rules, request.episodes)
    if not episodes:
        raise RuleSafeError(
            f"{directory} has no success of every rule yet, so there is nothing to render; run "
            "rulesafe demos generate"
        )
    renderer = renderer_version(rendering.cameras.renderer)
    versions = {"physics": request.versions["physics"], "renderer": renderer}
    with DemoFolder(rendering.dataset).exclusive_lock():
        _settle(directory, rendering)
        writer = DatasetWriter(rendering.dataset, rendering.cameras, versions)
        places = [Place(i, *episode) for i, episode in enumerate(episodes)]
        missing = [place for place in places if not writer.is_intact(place.index)]
        if missing:
            with ProgressBar(total=len(missing), unit="episode", desc="rendering") as bar:

                def note(_: Place, timing: dict[str, Any]) -> None:
                    DemoFolder(rendering.dataset).add(timing)
                    bar.update()

                work = partial(write_episode, directory, rendering, writer)
                run(work, missing, note, workers, engine)
        writer.finish()
    return len(places), len(missing)


def _settle(directory: Path, rendering: Rendering) -> None:
    """Store the sources of the dataset in its directory. Raises RuleSafeError if the directory has
    another dataset."""
    path = rendering.dataset / "render.json"
    request = asdict(load_request(directory))
    varying = (*GenerationRequest.GROWING, "locks")  # of locks the rules and hashes count
    wanted = {
        "observations": rendering.observations,
        "look": rendering.look,
        "renderer": renderer_version(rendering.cameras.renderer),
        **({"cameras": ""} | rendering.cameras.to_entry()),
        **({"camera_rate": rendering.camera_rate} if rendering.camera_rate != FPS else {}),
        "attempts": {k: v for k, v in request.items() if k not in varying},
    }
    wanted = json.loads(json.dumps(wanted))
    if path.exists():
        there = read_json(path, "what a dataset was rendered from")
        if there != wanted:
            differing = ", ".join(k for k in there | wanted if there.get(k) != wanted.get(k))
            if "renderer" in differing:
                differing += f": {there['renderer']} there, {wanted['renderer']} here"
            raise RuleSafeError(
                f"{rendering.dataset} was rendered with different settings ({differing}); use "
                "another --out"
            )
        return
    others = [file.name for file in rendering.dataset.glob("*") if not file.name.startswith(".")]
    if rendering.dataset.resolve() != directory.resolve() and others:
        raise RuleSafeError(
            f"{rendering.dataset} is not empty and has no {path.name}; use an empty directory"
        )
    write_json(path, wanted)


def write_episode(
    directory: Path, rendering: Rendering, writer: DatasetWriter, place: Place
) -> dict[str, Any]:
    """Write one episode of the dataset and return its line of results.jsonl."""
    spent = time.process_time()
    recording = read(DemoFolder(directory).file(place.rule, place.attempt, success=True))
    variation = look_of(recording, rendering.look)
    shown = None
    if rendering.keys:
        shown = frames(
            recording, variation, rendering.cameras, rendering.keys, rendering.camera_rate
        )
    writer.write(
        place.index,
        EpisodeData(
            task=recording.facts["instruction"],
            joint_positions=recording.joint_positions(),
            joint_velocities=recording.joint_velocities(),
            actions=recording.columns["action"][:-1],
            frames=shown,
            subtasks=subtasks(recording),
            privileged={name: recording.columns[name][:-1] for name in PRIVILEGED},
            facts={**recording.facts, "shown": variation.to_dict(), "look": rendering.look},
        ),
    )
    cpu = round(time.process_time() - spent, 3)
    timing = {f"{rendering.observations}_cpu": cpu}
    return {"rule": place.rule, "number": place.attempt, "timing": timing}


def subtasks(recording: RecordedAttempt) -> NDArray[np.int64]:
    """Return the demonstrator's subtask at each frame (N,), as indices into SUBTASKS. Frames of a
    policy have the subtask that it completed within QUICK; in others it did not succeed, and they
    count as a miss."""
    indices = {event: index for index, event in enumerate(SUBTASKS)}
    columns = recording.columns
    found = np.array([indices[event] for event in columns["event"][:-1].tolist()])
    operation = columns["operation"][:-1]
    found[np.isin(operation, (MISS, POLICY))] = layout.MISS
    if POLICY in operation:
        begin = 0
        for end in (np.flatnonzero(np.diff(columns["steps_done"])) + 1).tolist():
            before, after = columns["steps_done"][end - 1 : end + 1]
            opened = columns["part_open"][end]
            moved = np.flatnonzero(opened != columns["part_open"][end - 1])
            quick = end - begin <= QUICK and (operation[begin:end] == POLICY).all()
            if after > before and quick and len(moved) == 1:
                found[begin:end] = indices[PARTS[moved[0]] + "-+"[int(opened[moved[0]])]]
            begin = end
    return found


def look_of(recording: RecordedAttempt, look: str) -> Variation:
    """Return the variation to render: the recorded one, or with lights, colours and cameras sampled
    from a split's ranges with the recording's seed."""
    facts = recording.facts
    recorded = Variation.from_dict(facts["variation"])
    if not look:
        return recorded
    other = sample_variation(load_split(look).randomisation, facts["safe"], facts["seed"])
    return replace(recorded, lighting=other.lighting, colours=other.colours, cameras=other.cameras)


def frames(
    recording: RecordedAttempt,
    variation: Variation,
    cameras: CameraSet = DEFAULT_CAMERAS,
    keys: Sequence[str] | None = None,
    camera_rate: int = FPS,
) -> Iterator[Frame]:
    """Yield the rendered observation of each recorded frame.

    Args:
        recording: attempt that is rendered.
        variation: variation of the scene.
        cameras: the cameras.
        keys: observation keys to render; None: all images and the point cloud.
        camera_rate: rate of the rendered observations, Hz; other frames repeat the last one.
    """
    facts = recording.facts
    bodies = EpisodeBodies(load_robot(), load_safe(facts["safe"]), variation)
    observer = SceneObserver(bodies, facts["seed"], cameras)
    keys = cameras.keys if keys is None else keys
    steps = PhysicsConfig().controls_per_frame
    for frame in range(recording.frames):
        if frame % (FPS // camera_rate) == 0:
            seen = observer.render(keys, recording.joints(frame), frame * steps)
            images = {camera.name: seen[camera.name] for camera in cameras if camera.name in seen}
        yield Frame(images, seen.get(POINTS))
