"""The plugin vla_eval_rulesafe with vla-eval's own orchestrator, recorder and model server."""

import json
import subprocess
import sys
from pathlib import Path

import av
import pytest

from rulesafe_locks.rules import RULES, load_rule

PLUGIN = Path(__file__).parents[1]

VLA_EVAL = ("vla-eval==0.8.0", "jsonargparse", "lazyregistry", "omegaconf")
VLA_EVAL += ("antlr4-python3-runtime==4.9.3", "imageio", "imageio-ffmpeg")

REPLAY = """
import json
import logging
import sys
from pathlib import Path
import numpy as np
import vla_eval_rulesafe
from vla_eval import api, specs
from vla_eval.model_servers.predict import PredictModelServer

class Replay(PredictModelServer):
    def predict(self, obs, ctx):
        assert {name: image.shape for name, image in obs["images"].items()} == {
            "head": (224, 224, 3), "front": (224, 224, 3)
        }
        assert obs["state"].shape == (13,)
        texts.add(obs["task_description"])
        return {"actions": actions[ctx.step]}

    def get_action_spec(self):
        return {"joints": specs.DimSpec("joints", 13, "joint_positions")}

    def get_observation_spec(self):
        state = specs.DimSpec("state", 13, "joint_positions")
        return {"state": state, "head": specs.IMAGE_RGB, "language": specs.LANGUAGE}

logging.basicConfig(level=logging.INFO)
actions, texts = np.load(sys.argv[1]), set()
config = Path(vla_eval_rulesafe.__file__).with_name("rulesafe.yaml")
overrides = {
    "episodes_per_task": 1,
    "params": {"rules": ["rule_002"], **json.loads(sys.argv[2])},
    "recording": {"record_video": True, "video_fps": 10},
}
(found,) = api.evaluate(
    Replay(), config, output_dir=sys.argv[3], benchmark_overrides=overrides
)
print(json.dumps([found, sorted(texts)], default=str))
"""

HOLD = """
from vla_eval.model_servers.base import ModelServer
from vla_eval import api
from vla_eval.cli.main import main

class Hold(ModelServer):
    async def on_observation(self, obs, ctx):
        await ctx.send_action({"actions": obs["state"]})

with api.serve_background(Hold()) as server:
    import sys
    sys.argv += ["--server-url", server.url]
    main()
"""

METADATA = """
import json
from vla_eval_rulesafe.benchmark import RuleSafeBenchmark

benchmark = RuleSafeBenchmark()
names = [task["name"] for task in benchmark.get_tasks()]
hold = benchmark.get_hold_action(None)["actions"].tolist()
print(json.dumps([names, benchmark.get_metadata(), hold]))
try:
    benchmark.step({"actions": [[0.0] * 13] * 4})
except Exception as error:
    print(error)
"""


@pytest.fixture(scope="module")
def vla_eval(peers):
    """vla_eval(CODE, *arguments): the finished process, in which vla-eval and the plugin are
    installed."""
    settings = peers("vla_eval", *VLA_EVAL, PLUGIN)

    def run(code, *arguments):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=settings)
        assert done.returncode == 0, done.stderr
        return done

    return run


def test_the_experts_actions_succeed(vla_eval, opened, steps, conditions, tmp_path):
    done = vla_eval(REPLAY, opened, json.dumps(conditions), tmp_path)
    assert "Spec validation passed" in done.stderr
    found, texts = json.loads(done.stdout.splitlines()[-1])
    (task,) = found["tasks"]
    (episode,) = task["episodes"]
    assert task["task"] == "rule_002" and episode["steps"] == steps
    assert found["num_errors"] == 0
    for name in ("success", "process_score", "order_free_score"):
        assert found[f"mean_{name}"] == 1
    assert texts == [load_rule("rule_002").instruction("short")]
    (path,) = tmp_path.rglob("*_success.mp4")
    with av.open(str(path)) as video:
        assert video.streams.video[0].average_rate == 10
        assert len(list(video.decode(video=0))) == steps + 1
    (path,) = tmp_path.rglob("*_success.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sum(row.get("reward", 0) for row in rows) == pytest.approx(1)


def test_the_command_renders_on_the_cpu(vla_eval, tmp_path):
    config = PLUGIN / "vla_eval_rulesafe/rulesafe.yaml"
    given = ["--param", "rules=rule_002", "--benchmark-field", "episodes_per_task=1"]
    given += ["--benchmark-field", "max_steps=2", "--output-dir", tmp_path]
    vla_eval(HOLD, "run", "--config", config, *given)
    found = json.loads((tmp_path / "RuleSafeBenchmark_aggregate.json").read_text())
    assert found["num_errors"] == 0 and found["mean_success"] == 0
    assert found["render"]["requested"] == "cpu"


def test_tasks_limits_and_errors(vla_eval):
    printed, error = vla_eval(METADATA).stdout.splitlines()
    names, metadata, hold = json.loads(printed)
    assert names == list(RULES) and metadata == {"max_steps": 1600}
    assert len(hold) == 13
    assert error.startswith("actions must be one step of shape (13,), got (4, 13)")
