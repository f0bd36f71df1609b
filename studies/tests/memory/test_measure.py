"""The measurements on data with known results."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.states import load_states
from rulesafe_studies.__main__ import main
from rulesafe_studies.data import DATA, read_csv
from rulesafe_studies.memory import cost as memory_cost
from rulesafe_studies.memory import measures
from rulesafe_studies.memory.commands import measure
from rulesafe_studies.memory.frames import STEPS, frames_of
from rulesafe_studies.memory.probe import ProbeConfig, most_frequent, probe, split_episodes
from rulesafe_studies.memory.stability import at_speed, disturbances, noisy, raw_change, stability
from vq_memory_node.memory import Memory, NoMemory, RawMemory, TokenMemory
from vq_memory_node.trajectories import Trajectories
from vq_memory_node.windows import LENGTH, STRIDE, window_at

MODEL = "rule_001_rule_020"
QUICK = ProbeConfig(epochs=30)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Sign(Memory):
    """Whether the first joint is above 0 rad at the end of the window: two tokens."""

    length, window, vocabulary = LENGTH, 50, 2

    def value(self, window):
        return int(window[-1, 0] > 0)


class StepMemory(Sign):
    """Two tokens: the sign of the second joint, which the test sets."""

    def value(self, window):
        return int(window[-1, 1] > 0)


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr("rulesafe_studies.memory.stability.RESAMPLES", 200)


def walks(episodes, frames=120, seed=0):
    rng = np.random.default_rng(seed)
    return [
        np.cumsum(rng.normal(0, 0.05, (frames, 13)), axis=0).astype(np.float32)
        for _ in range(episodes)
    ]


def recorded(seed, rules=("rule_001",), episodes=12, frames=100):
    """Return episodes whose joints are noise without information about the step, which is 0 in the
    first half and 1 in the second."""
    rng = np.random.default_rng(seed)
    positions, steps = [], []
    for _ in range(episodes * len(rules)):
        q = rng.normal(0, 0.3, (frames, 13)).astype(np.float32)
        positions.append(q)
        steps.append((np.arange(frames) >= frames // 2).astype(np.int64))
    names = tuple(rule for rule in rules for _ in range(episodes))
    return Trajectories(tuple(positions), names, ("",) * len(names), tuple(steps))


# Stability ------------------------------------------------------------------------------------


def same(positions, frame, random):
    return window_at(positions, frame)


def test_without_a_disturbance_all_tokens_stay():
    found = stability(walks(4), Sign(), {"none": same})["none"]
    assert (found.unchanged.value, found.unchanged.low, found.unchanged.high) == (1, 1, 1)
    assert found.tokens == 4 * 120 / STRIDE
    assert raw_change(walks(4), {"none": same}, 50)["none"].value == 0


def test_what_always_turns_a_token_leaves_none():
    turned = {"turned": lambda q, t, _: -window_at(q, t)}
    assert stability(walks(4), Sign(), turned)["turned"].unchanged.value == 0
    mirrored = [np.concatenate([q, -q]) for q in walks(2)]  # the mean posture is 0
    assert raw_change(mirrored, turned, 50)["turned"].value == pytest.approx(2, rel=1e-3)


def test_chance_is_the_sum_of_squared_frequencies():
    still = [np.full((100, 13), value, np.float32) for value in (-1, 1, 1, 1)]
    found = stability(still, Sign(), {"none": same})["none"]
    assert found.chance == pytest.approx(0.25**2 + 0.75**2)


def test_noise_changes_the_tokens_that_are_near_the_border():
    # The joint is one standard deviation above the threshold: 84 % do not change.
    still = [np.full((1000, 13), 0.01, np.float32) for _ in range(10)]
    noise = {"noise": disturbances(50)["noise"]}
    found = stability(still, Sign(), noise, seeds=5)["noise"].unchanged
    assert found.value == pytest.approx(0.841, abs=0.02)
    assert found.low < found.value < found.high


def test_noise_is_of_the_stated_size_and_frames_before_the_start_share_it():
    q = np.zeros((10, 13), np.float32)
    seen = noisy(q, 5, np.random.default_rng(0), 50)
    assert (seen[:45] == seen[44]).all()
    many = noisy(np.zeros((5000, 13), np.float32), 4999, np.random.default_rng(0), 5000)
    assert many.std() == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize("speed", [0.9, 1.0, 1.1])
def test_another_speed_ends_at_the_same_instant_and_covers_other_time(speed):
    q = np.repeat(np.arange(200, dtype=np.float32)[:, None], 13, axis=1)
    seen = at_speed(q, 150, speed, 50)
    np.testing.assert_allclose(seen[:, 0], 150 - speed * np.arange(49, -1, -1), rtol=1e-6)
    assert (at_speed(q, 20, speed, 50)[0] == q[0]).all()
    if speed == 1:
        assert (seen == window_at(q, 150)).all()


def test_the_interval_comes_from_whole_episodes():
    # All tokens change in half of the episodes, none in the others: as uncertain as 8 coin flips.
    q = [np.full((1000, 13), sign, np.float32) for sign in (-1, 1) * 4]
    up = {"up": lambda p, t, _: np.ones((50, 13), np.float32)}
    found = stability(q, Sign(), up)["up"].unchanged
    assert found.value == 0.5 and found.low < 0.25 and found.high > 0.75


# Probe ----------------------------------------------------------------------------------------


def with_sign(trajectories):
    """Return the positions with the step as the second joint's sign, for `StepMemory`."""
    positions = []
    for q, steps in zip(trajectories.positions, trajectories.steps, strict=True):
        q = q.copy()
        q[:, 1] = np.where(steps, 1, -1) * np.abs(q[:, 1])
        positions.append(q)
    return positions


def frames(trajectories, memory, rules=("rule_001",), every=2):
    return frames_of(trajectories, memory, rules, every)


def test_a_token_that_is_the_step_reads_it_perfectly():
    train, shifted = recorded(0, episodes=40), recorded(1)
    scores = []
    for found in (train, shifted):
        signed = Trajectories(tuple(with_sign(found)), found.rules, found.safes, found.steps)
        # The tokens contain the step, but the joints that the probe receives do not.
        read = frames(signed, StepMemory())
        silent = frames(found, NoMemory()).joints
        scores.append(type(read)(**{**vars(read), "joints": silent}))
    for result in probe(*scores, train.rules, 2, 0, QUICK):
        assert result.accuracy == 1 and result.macro_f1 == 1


def test_tokens_that_have_nothing_to_do_with_the_step_do_not_beat_the_joints():
    """Tokens are random and all observed: neither they nor the mask depend on the step."""
    train, shifted = recorded(0, episodes=30), recorded(1, episodes=30)
    found = {}
    for name in ("joints", "tokens"):
        both = []
        for number, data in enumerate((train, shifted)):
            read = frames(data, NoMemory())
            if name == "tokens":
                random = np.random.default_rng(number)
                tokens = random.integers(0, 4, (len(read.steps), 40))
                mask = np.ones(tokens.shape, bool)
                read = type(read)(**{**vars(read), "tokens": tokens, "mask": mask})
            both.append(read)
        found[name] = probe(*both, train.rules, 4, 0, QUICK)
    for joints, tokens in zip(found["joints"], found["tokens"], strict=True):
        assert tokens.accuracy == pytest.approx(0.5, abs=0.08)
        assert joints.accuracy == pytest.approx(0.5, abs=0.08)


def test_a_memory_of_raw_joints_is_read_too():
    """The step is the sign of the joint 20 frames ago, which only a memory contains."""
    rng = np.random.default_rng(0)
    positions, steps = [], []
    for _ in range(40):
        q = rng.normal(0, 0.3, (200, 13)).astype(np.float32)
        q[:, 0] = np.sign(q[:, 0])
        positions.append(q)
        steps.append((window_at(q, 199, 200)[np.maximum(np.arange(200) - 20, 0), 0] > 0) * 1)
    data = Trajectories(tuple(positions), ("rule_001",) * 40, ("",) * 40, tuple(steps))
    joints_only, _ = probe(*[frames(data, NoMemory())] * 2, data.rules, 0, 0, QUICK)
    raw, _ = probe(*[frames(data, RawMemory())] * 2, data.rules, 0, 0, QUICK)
    tokens, _ = probe(*[frames(data, Sign())] * 2, data.rules, 2, 0, QUICK)
    assert joints_only.accuracy < 0.65
    assert raw.accuracy > 0.9 and tokens.accuracy > 0.95


def test_one_seed_gives_one_result_and_leaves_the_random_state_alone():
    both = [frames(recorded(seed), NoMemory()) for seed in (0, 1)]
    rules = recorded(0).rules
    state = torch.get_rng_state()
    first = probe(*both, rules, 0, 3, QUICK)
    assert probe(*both, rules, 0, 3, QUICK) == first != probe(*both, rules, 0, 4, QUICK)
    assert (torch.get_rng_state() == state).all()


def test_the_split_divides_the_episodes_of_each_rule():
    rules = ["rule_001"] * 20 + ["rule_020"] * 10
    training, validation, test = split_episodes(rules, 1)
    assert sorted(training + validation + test) == list(range(30))
    assert [sum(i < 20 for i in part) for part in (training, validation, test)] == [14, 2, 4]
    assert split_episodes(rules, 2) != split_episodes(rules, 1) == split_episodes(rules, 1)
    with pytest.raises(RuleSafeError, match="rule_020 has 2 episodes"):
        split_episodes(["rule_001"] * 20 + ["rule_020"] * 2, 0)


def test_frames_hold_what_the_memory_reads_and_steps_of_rules_apart():
    data = recorded(0, ("rule_001", "rule_020"), episodes=1)
    found = frames_of(data, Sign(), ["rule_001", "rule_020"], every=10)
    assert (
        found.rule_one_hot[:10].tolist() == [[1, 0]] * 10
        and found.rule_one_hot[10:].tolist() == [[0, 1]] * 10
    )
    assert found.steps.tolist() == [0] * 5 + [1] * 5 + [STEPS] * 5 + [STEPS + 1] * 5
    assert found.raw.shape == (20, 0, 13) and found.tokens.shape == (20, 40)
    assert found.mask.sum(axis=1)[:10].tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    newest = [int(data.positions[1][t, 0] > 0) for t in range(0, 100, 10)]
    assert found.tokens[10:, -1].tolist() == newest
    raw = frames_of(data, RawMemory(), ["rule_001", "rule_020"], every=10)
    np.testing.assert_array_equal(raw.raw[4, -2], data.positions[0][20])


def test_the_baseline_is_the_most_frequent_step_of_the_rule():
    data = recorded(0, ("rule_001", "rule_020"), episodes=5)
    steps = [np.arange(100) >= 30 if i < 5 else np.arange(100) >= 80 for i in range(10)]
    labels = tuple(column.astype(np.int64) for column in steps)
    data = Trajectories(data.positions, data.rules, data.safes, labels)
    found = frames_of(data, NoMemory(), ["rule_001", "rule_020"], every=1)
    for result in most_frequent(found, found, data.rules, 0):
        assert result.accuracy == pytest.approx(0.75)


def test_results_come_for_each_rule_and_for_all_together():
    train = recorded(0, ("rule_001", "rule_020"), episodes=5, frames=40)
    shifted = recorded(1, ("rule_020", "rule_001", "rule_004"), episodes=1, frames=40)
    memories = {"joints": NoMemory(), "tokens": Sign()}
    config = ProbeConfig(epochs=1)
    found = list(measures.probe_results(train, shifted, memories, 2, config))
    rules = [("rule_001",), ("rule_020",), ("rule_001", "rule_020")]
    assert [(result.rules, result.source) for result in found] == [
        (group, source) for group in rules for source in (measures.BASELINE, "joints", "tokens")
    ]
    for result in found:
        assert result.varied[0].low <= result.varied[0].value <= result.varied[0].high


def test_what_cannot_be_measured_is_refused():
    train = recorded(0)
    memories = {"joints": NoMemory()}
    with pytest.raises(RuleSafeError, match="--seeds must be 2 or more"):  # before loading
        measure(Path("missing"), "missing", Path("missing"), Path("out.md"), seeds=1)
    with pytest.raises(RuleSafeError, match="no rule in common"):
        next(measures.probe_results(train, recorded(1, ("rule_004",)), memories, 2))
    blind = Trajectories(train.positions, train.rules, train.safes)
    with pytest.raises(RuleSafeError, match="no steps"):
        next(measures.probe_results(train, blind, memories, 2))


def test_students_interval():
    found = measures.t_interval([0.1, 0.2, 0.3])
    assert found.value == pytest.approx(0.2)
    assert found.high - found.value == pytest.approx(4.3027 * 0.1 / np.sqrt(3), rel=1e-4)


def test_the_mask_only_is_a_baseline():
    """It is the baseline for the information in tokens beyond the elapsed time."""
    memory = measures.sources(measures.token_memories([MODEL]))["joints, mask only"]
    found = frames(recorded(0, episodes=1), memory)
    assert memory.vocabulary == 1 and not found.tokens.any() and found.mask.any()


@pytest.mark.train
def test_the_command_writes_the_files_of_the_page(recordings, tmp_path):
    """Their columns are those of the stored files, from which the page and its figure are made."""
    shifted = ["--shifted", str(recordings), "--out", str(tmp_path)]
    assert main(["measure", str(recordings), "--model", MODEL, *shifted, "--seeds", "2"]) == 0
    assert main(["information", str(recordings), "--model", MODEL, *shifted[2:]]) == 0
    for name in ("token_stability", "step_probe", "token_information"):
        rows, kept = (read_csv(folder / f"{name}.csv") for folder in (tmp_path, DATA))
        assert list(rows[0]) == list(kept[0])
        inputs = {row.get("input", row.get("clusters")) for row in rows}
        assert inputs <= {row.get("input", row.get("clusters")) for row in kept}
    assert [row["unit"] for row in read_csv(tmp_path / "token_cost.csv")] == ["us"] * 3 + ["kB"] * 5


def test_two_models_of_one_name_are_refused():
    with pytest.raises(RuleSafeError, match="must have different names"):
        measures.token_memories([MODEL, MODEL])


# Cost -----------------------------------------------------------------------------------------


def test_both_paths_give_the_same_tokens(pytestconfig):
    positions, _ = load_states(pytestconfig.rootpath / "datasets/rule_001_rule_020.parquet")[150]
    quick = TokenMemory(MODEL, 32)
    eager = memory_cost.EagerMemory(MODEL, 32)
    windows = [window_at(positions, t) for t in range(0, len(positions), 7)]
    assert [eager.value(w) for w in windows] == [quick.value(w) for w in windows]
    assert len({quick.value(w) for w in windows}) > 3


def test_each_frame_is_timed_and_bytes_are_counted():
    cost = memory_cost.measure_apart(MODEL, 5)
    counts = {name: len(values) for name, values in cost.times.items()}
    assert counts == {
        "frame with a token, numpy": 5,
        "frame with a token, eager torch": 5,
        "frame with no token": 5 * (STRIDE - 1),
    }
    held = cost.memory_kb
    for kind in ("token", "raw"):  # sliding memories store the joint positions of 830 frames
        assert held[f"{kind} memory, sliding"] > 5 * held[f"{kind} memory, from the start"] > 0


def test_the_benchmark_has_a_part_for_the_memory(capsys):
    assert main(["bench", "--parts", "memory", "--seconds", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "frame with a token, numpy [us] (p99 " in printed
    assert "held by token memory, sliding [kB]" in printed
    assert main(["bench", "--parts", "memory", "--model", "none"]) == 1
