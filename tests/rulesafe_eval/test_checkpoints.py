"""An untrained checkpoint, evaluated by the complete command."""

import json

import av
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.checkpoints import Checkpoint, save_policy
from policy_node.configs import Dp3Config
from policy_node.families import make_network
from policy_node.normaliser import Actions, Normaliser, min_max
from rulesafe_cli.cli import main
from rulesafe_data.films.colours import cluster_colours
from rulesafe_data.films.frames import BACKGROUND, BAR, SIDE
from rulesafe_data.films.strip import BAND, TOP, squares
from rulesafe_eval.agents import load_agent
from rulesafe_eval.request import Setup
from rulesafe_eval.results import read_results
from rulesafe_eval.runner import EpisodeRunner, actions_file
from rulesafe_eval.videos import film
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation
from rulesafe_studies.controls import PastActions
from rulesafe_studies.keyframes import OraclePhases
from vq_memory_node.memory import NoMemory, RawMemory, VqMemory
from vq_memory_node.rolling import readings_of

pytestmark = pytest.mark.episode

SMALL = Dp3Config(
    encoder=None,
    points=32,
    pointnet=(16, 32),
    cloud_features=16,
    state=(16,),
    memory_channels=(8, 8, 8),
    memory_features=16,
    channels=(16, 32, 32),
    groups=4,
    step_features=16,
    train_steps=20,
    sample_steps=5,
)
RULE = ["--rules", "rule_002", "--safes", "safe_02", "--split", "nominal"]
WORDS = [*RULE, "--films", "0", "--step-seconds", "1.5"]


@pytest.fixture
def checkpoint(tmp_path):
    """Writes a small network with random weights."""

    def make(memory, seed=0):
        torch.manual_seed(seed)
        whole = min_max(LOWER.astype(np.float32), UPPER.astype(np.float32))
        network = make_network("dp3", SMALL, memory.shape)
        folder = tmp_path / "checkpoint"
        normaliser = Normaliser(whole, Actions("absolute", whole))
        save_policy(
            Checkpoint("dp3", "tiny", SMALL, memory, normaliser, network.state_dict()), folder
        )
        return folder

    return make


def pictures(out):
    """The images of the film of episode 0."""
    with av.open(str(out / "films" / "rule_002_000000" / "film.mp4")) as shot:
        return [frame.to_ndarray(format="rgb24") for frame in shot.decode(video=0)]


def test_a_checkpoint_plays_the_same_episodes_again(checkpoint, request_for, tmp_path, capsys):
    folder = checkpoint(RawMemory(length=10))
    words = ["--policy", str(folder), *WORDS, "--episodes", "2", "--workers", "2", "--films", "1"]
    assert main(["eval", *words, "--out", str(tmp_path / "out")]) == 0
    shot = pictures(tmp_path / "out")
    assert len(shot) == 31 + 20
    assert shot[0].shape == (SIDE + BAR, 2 * SIDE, 3), "rows of joints are no strip"
    content = read_results(tmp_path / "out")
    setup = Setup(str(folder))
    agent, _ = load_agent(setup)
    for number, line in enumerate(content["episodes"]):
        episode = request_for(safes="safe_02", step_seconds=1.5).episode("rule_002", number)
        again = EpisodeRunner(setup).play(agent, tmp_path, episode)
        assert again["state_digest"] == line["state_digest"]
        assert again["inferences"] == line["inferences"] == 3  # 30 frames, 12 a time
    assert content["timing"]["inferences"] == 6
    assert content["timing"]["inference_median_ms"] > 0
    acted = content["request"]["actor"]
    assert (acted["family"], acted["memory"]["kind"]) == ("dp3", "raw")
    about = json.loads((folder / "policy.json").read_text())
    assert acted["files"]["policy.safetensors"] == about["sha256"]


def test_another_checkpoint_in_its_place_is_not_mixed_with_it(checkpoint, tmp_path, capsys):
    words = [
        "--policy",
        str(checkpoint(NoMemory())),
        *WORDS,
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["eval", *words, "--episodes", "1"]) == 0
    checkpoint(NoMemory(), seed=1)
    capsys.readouterr()
    assert main(["eval", *words, "--episodes", "2"]) == 2
    assert "files of the policy" in capsys.readouterr().err
    assert len(read_results(tmp_path / "out")["episodes"]) == 1


def test_a_privileged_memory_is_marked_in_the_results(checkpoint, tmp_path):
    """In policy.json, results.json and submission.json; a film shows no tokens of it."""
    folder, out = checkpoint(OraclePhases(length=10)), tmp_path / "out"
    assert json.loads((folder / "policy.json").read_text())["memory"]["privileged"] is True
    words = ["--policy", str(folder), *WORDS, "--episodes", "1", "--films", "1", "--out", str(out)]
    assert main(["eval", *words]) == 0
    assert pictures(out)[0].shape == (SIDE + BAR, 2 * SIDE, 3)
    for name in ("results.json", "submission.json"):
        actor = json.loads((out / name).read_text())["request"]["actor"]
        assert actor["privileged"] is True and actor["memory"]["privileged"] is True
    _, facts = load_agent(Setup(str(checkpoint(PastActions(10)))))
    assert "privileged" not in facts and "privileged" not in facts["memory"]


def test_a_film_shows_what_the_memory_tells_at_each_frame(checkpoint, request_for, tmp_path):
    """The arm waves, so that the tokens change."""
    memory, out = VqMemory("all_rules_hand", 256), tmp_path / "out"
    episode = request_for(safes="safe_02").episode("rule_002", 0)
    rows = HOME_ACTION + 0.8 * np.sin(np.arange(1, 41) / 10)[:, None]
    path = actions_file(out, "rule_002", 0)
    path.parent.mkdir(parents=True)
    np.save(path, rows)
    simulation = Simulation()
    variation = sample_variation(
        load_split(episode.split).randomisation, load_safe(episode.safe), episode.seed, 0
    )
    simulation.reset(episode.source, episode.safe, episode.seed, variation)
    positions = [simulation.state().action_positions]
    for row in rows:
        simulation.step(row)
        positions.append(simulation.state().action_positions)
    line = {"resampled": 0, "reason": "enough", "state_digest": simulation.digest}
    film(out, EpisodeRunner(Setup(str(checkpoint(memory)))), {("rule_002", 0): line}, episode)
    readings = readings_of(np.array(positions, np.float32), memory)
    assert len(np.unique(readings.values)) > 4 and readings[40].mask.sum() == 3
    palette = 255 * cluster_colours(256)[:, :3]
    shot = pictures(out)
    assert len(shot) == 41 + 20
    assert shot[0].shape == (SIDE + BAR + BAND, 2 * SIDE, 3)
    for frame, picture in enumerate(shot):
        reading = readings[min(frame, 40)]
        pixels = np.array([picture[SIDE + BAR + TOP + 3, left + 3] for left, _ in squares(40)])
        expected = np.where(reading.mask[:, None], palette[reading.values], BACKGROUND)
        assert np.abs(pixels - expected).max() < 20, frame
