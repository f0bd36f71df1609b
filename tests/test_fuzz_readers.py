"""Random and hostile content for each reader: with bounded work, it is read or refused with a
RuleSafeError.

tests/helpers/fuzzing.py has the inputs.
"""

import json
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import compress

import numpy as np
import pytest
from fuzzing import Target, attack
from stl import write_stl

from policy_node.checkpoints import find as find_policy
from policy_node.checkpoints import read_policy
from rulesafe_core.cameras import load_cameras
from rulesafe_core.meshes import read_hull
from rulesafe_core.messages import decode_image
from rulesafe_core.robot import h1_2
from rulesafe_core.urdf import to_urdf
from rulesafe_core.urdf_reader import read_kinematics
from rulesafe_data import attempt_recording, tables
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.repair import repair
from rulesafe_data.bags.writing import BagWriter
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_demos.attempts import load_request as load_generation
from rulesafe_demos.program import TrustedProgram
from rulesafe_design.endpoint import read_reply
from rulesafe_design.models import ModelError
from rulesafe_eval.request import load_request as load_evaluation
from rulesafe_eval.results import read_results
from rulesafe_eval.submission import FORMAT as SUBMISSION
from rulesafe_eval.submission import decode_actions, read_submission
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock, read_lock
from rulesafe_locks.rules import load_rule
from rulesafe_ros.graph.plain import read_fields
from rulesafe_ros.launch.expression import evaluate
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.substitutions import parse as parse_substitutions
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safes import load_safe, safe_file
from vq_memory_node.model_files import find as find_model
from vq_memory_node.model_files import load_model

ROOT = Path(__file__).parents[1]


def on_text(read: Callable[[str], object], sample: str) -> Callable[[Path], Target]:
    """Return the maker of a target that reads text."""

    def make(folder: Path) -> Target:
        path = folder / "text"
        path.write_text(sample)
        return Target(path, lambda: read(path.read_bytes().decode("utf-8", "replace")))

    return make


def on_copy(
    source: Path, read: Callable[[Path], object], folder: bool = False, **other
) -> Callable[[Path], Target]:
    """Return the maker of a target that reads a copy of a file, or of the folder that has it."""

    def make(target: Path) -> Target:
        if folder:
            shutil.copytree(source.parent, target / "copy")
            copy = target / "copy"
            return Target(copy / source.name, lambda: read(copy), **other)
        copy = target / source.name
        shutil.copy(source, copy)
        return Target(copy, lambda: read(copy), **other)

    return make


def cameras(folder: Path) -> Target:
    path = folder / "cameras.yaml"
    path.write_text("head: {xyz_m: [0.1, 0, 0.7], fovy_rad: 1.2, width: 320}\nfront: {width: 320}")
    return Target(path, lambda: load_cameras(path))


def lock(folder: Path) -> Target:
    path = folder / "my_lock.json"
    automaton = smallest(automaton_of(load_rule("rule_002")))
    path.write_text(dump_lock(LockFile("my_lock", "Open it.", automaton)))
    return Target(path, lambda: read_lock(path))


def program(folder: Path) -> Target:
    path = folder / "program.py"
    path.write_text("planner.operate('knob', 1)\nfor i in range(3):\n    print(f'{i!r}')\n")
    return Target(path, lambda: TrustedProgram(path))


def hull(folder: Path) -> Target:
    path = folder / "hull.stl"
    corners = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)])
    write_stl(path, corners, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    return Target(path, lambda: read_hull(path))


def bag(folder: Path) -> Path:
    with BagWriter(folder / "bag", flush=0.0) as writer:
        writer.add(Topic("/said", "std_msgs/msg/String", definition="string data"))
        for number in range(4):
            text = b"\x00\x01\x00\x00\x05\x00\x00\x00abcd\x00"
            writer.write("/said", number, number, text)
    return folder / "bag"


def decode_all(folder: Path) -> None:
    found = Bag(folder)
    decode = MessageDecoder(found)
    for message in found.messages():
        decode(message)


def repaired(folder: Path) -> None:
    shutil.rmtree(folder.with_name("bag_repaired"), ignore_errors=True)
    repair(folder)


def bag_metadata(folder: Path) -> Target:
    made = bag(folder)
    return Target(made / "metadata.yaml", lambda: decode_all(made))


def bag_file(folder: Path) -> Target:
    made = bag(folder)
    return Target(made / "bag_0.mcap", lambda: decode_all(made))


def bag_repair(folder: Path) -> Target:
    made = bag(folder)
    (made / "metadata.yaml").unlink()
    return Target(made / "bag_0.mcap", lambda: repaired(made))


def recording(folder: Path) -> Target:
    path = folder / "000000.parquet"
    facts = {"format": 1, "rule": "rule_001"}
    columns = {name: np.arange(5.0) for name in (*attempt_recording.STATE, "time", "action")}
    tables.write_table(path, tables.to_table(columns, facts))
    return Target(path, lambda: attempt_recording.read(path))


def dataset(name: str) -> Callable[[Path], Target]:
    def make(folder: Path) -> Target:
        writer = DatasetWriter(folder)
        zeros = np.zeros((3, 39))
        writer.write(0, EpisodeData("open", zeros, zeros, zeros[:, :13], facts={"rule": "x"}))
        writer.finish()

        def read() -> None:
            store = EpisodeStore(folder)
            store.episode(0)

        return Target(folder / name, read)

    return make


def evaluated() -> dict[str, Any]:
    """Return the content of results.json with one episode."""
    request = {"setup": {"policy": "x", "interference": False}, "files": {}, "locks": {}}
    request |= {"rules": ["rule_001"], "safes": ["safe_01"], "episodes": 1, "split": "varied"}
    request |= {"seed": 0, "actor": {}, "versions": {}}
    episode = {"rule": "rule_001", "number": 0, "safe": "safe_01", "seed": 0}
    episode |= {"opened": True, "cause": "", "failed_event": "", "failed_step": 0, "frames": 1}
    episode |= {"process_score": 1.0, "order_free_score": 1.0, "clipped_actions": 0}
    return {"format": 1, "request": request, "episodes": [episode]}


def evaluation(folder: Path) -> Target:
    path = folder / "results.json"
    path.write_text(json.dumps(evaluated()))
    return Target(path, lambda: read_results(folder))


def submission(folder: Path) -> Target:
    path = folder / "submission.json"
    content = evaluated() | {"format": SUBMISSION}
    content["episodes"][0]["actions"] = b64encode(compress(bytes(52))).decode()
    path.write_text(json.dumps(content))

    def read() -> None:
        for each in read_submission(path)["episodes"]:
            decode_actions(each.get("actions"))

    return Target(path, read)


REQUEST = """{"rules": ["rule_001"], "safes": [], "episodes": 1, "split": "varied", "seed": 0,
 "versions": {}, """


def request(name: str, load: Callable[[Path], object], rest: str) -> Callable[[Path], Target]:
    def make(folder: Path) -> Target:
        (folder / name).write_text(REQUEST + rest)
        return Target(folder / name, lambda: load(folder))

    return make


def reply(folder: Path) -> Target:
    path = folder / "reply"
    path.write_text(
        '{"choices": [{"message": {"content": "text"}}], "usage": {"prompt_tokens": 3}}'
    )
    return Target(path, lambda: read_reply(path.read_bytes(), str), (ModelError,))


def image(folder: Path) -> Target:
    from PIL import Image

    folder.mkdir(exist_ok=True)
    path = folder / "image.png"
    Image.new("RGB", (8, 8)).save(path)
    return Target(path, lambda: decode_image(SimpleNamespace(format="png", data=path.read_bytes())))


POLICY = find_policy("dp3_rule_001")
SAFE, SPLITS = safe_file("safe_02"), ROOT / "src/rulesafe_sim/rulesafe_sim/data/splits"
TARGETS: dict[str, Callable[[Path], Target]] = {
    "safe": on_copy(SAFE, load_safe),
    "split": on_copy(SPLITS / "shifted.yaml", load_split),
    "cameras": cameras,
    "lock": lock,
    "program": program,
    "launch file": on_copy(ROOT / "launch/record.launch.xml", parse_file),
    "substitution": on_text(parse_substitutions, "$(var a $(env B 'x'))"),
    "expression": on_text(evaluate, "'a' if 'X'.lower() in ('x', 'y') and not 2 > 3 else 'b'"),
    "fields": on_text(read_fields, "{header: {frame_id: pelvis}, data: [1, 2.0]}"),
    "robot description": on_text(read_kinematics, to_urdf(h1_2())),
    "bag metadata": bag_metadata,
    "bag": bag_file,
    "bag repair": bag_repair,
    "recording": recording,
    "dataset info": dataset("meta/info.json"),
    "dataset extension": dataset("meta/rulesafe.json"),
    "dataset statistics": dataset("meta/stats.json"),
    "dataset table": dataset("data/chunk-000/file-000.parquet"),
    "dataset episodes": dataset("meta/episodes/chunk-000/file-000.parquet"),
    "policy": on_copy(POLICY / "policy.json", read_policy, folder=True),
    "weights": on_copy(POLICY / "policy.safetensors", read_policy, folder=True),
    "memory": on_copy(find_model("all_rules_hand") / "model.json", load_model, folder=True),
    "results": evaluation,
    "submission": submission,
    "request of eval": request(
        "eval.json", load_evaluation, '"setup": {"policy": "x"}, "actor": {}}'
    ),
    "request of demos": request("generate.json", load_generation, '"attempts": 1}'),
    "reply of a model": reply,
    "image": image,
    "convex piece": hull,
}


@pytest.mark.parametrize("name", TARGETS)
def test_content_is_read_or_refused(name, tmp_path_factory, capsys, work):
    attack(TARGETS[name](tmp_path_factory.mktemp("fuzz")), work)
