"""The policy part of `make bench`: inference, memory, training and evaluation.

Networks have random weights, since the cost does not depend on the training.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from policy_node.configs import SkillsConfig, TwoLevelConfig
from policy_node.families import find_config, make_network
from policy_node.normaliser import Actions, Normaliser, min_max
from policy_node.policy import CHUNK, Observation
from policy_node.safe_frame import SafeFrame
from policy_node.train_config import TrainConfig
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.store import EpisodeStore
from rulesafe_eval.policies import PolicyAgent
from rulesafe_eval.request import EXECUTE
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import time_limit
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import Measure, Stopwatch, Wave, run_on_one_core
from vq_memory_node.memory import Memory, Reading, make_memory
from vq_memory_node.rolling import RollingMemory
from vq_memory_node.windows import LENGTH, RATE, STRIDE

if TYPE_CHECKING:
    from policy_node.checkpoints import Checkpoint
    from policy_node.network_policy import NetworkPolicy

REACH = 0.1
"""Largest distance (rad) of an untrained policy's targets from the present posture."""

BATCH = 64
"""Windows in a batch."""

PAIRS, FRAMES = 60, 1200
"""Of a policy of two levels: pairs of safe and subtask, and frames of each one's demonstrations."""

WARM_UP = 3
"""Chunks that are not measured."""

EPISODES = 3

Found = tuple[str, str, Sequence[float]]
"""Name, unit and samples of a measure."""


def measured(options: BenchOptions) -> list[Measure]:
    """Return the measures of each family with each memory; each runs in a separate process with one
    core and one thread.

    Raises:
        RuleSafeError: for an unknown family, size or memory, for a privileged memory, or if the
            dataset lacks observations of a family.
    """
    for family in options.policies:
        find_config(family, options.size)
    for memory in options.memories:
        if make_memory(memory).privileged:
            raise RuleSafeError(f"the privileged memory {memory} cannot be measured")
    with ExitStack() as stack:
        cache = options.cache
        if options.data is None:
            print("\npolicy: training is not measured; set --data to demonstrations", flush=True)
        else:
            EpisodeStore(options.data)  # raises before minutes of measurements if it is no dataset
            cache = cache or Path(stack.enter_context(TemporaryDirectory()))
        return [
            measure
            for family in options.policies
            for memory in options.memories
            for measure in run_on_one_core(_measure, options, cache, family, memory)
        ]


def _measure(options: BenchOptions, cache: Path | None, family: str, memory: str) -> list[Measure]:
    import torch

    torch.set_num_threads(1)
    model = make_memory(memory)
    policy = untrained(family, options.size, model)
    parameters = sum(weights.numel() for weights in policy.checkpoint.network().parameters())
    found: list[Found] = [("parameters", "", [parameters])]
    found += _inference(policy, options.rule, max(20, round(20 * options.seconds)))
    if options.data is not None and cache is not None:
        steps = max(4, round(3 * options.seconds))
        found += _training(policy.checkpoint, options.data, cache, steps)
    found.append(_evaluation(policy, options))
    subject = f"{family} {memory}"
    return [Measure.of(name, unit, samples, subject=subject) for name, unit, samples in found]


def untrained(family: str, size: str, memory: Memory) -> "NetworkPolicy":
    """Return a policy with random weights. Its targets stay within REACH of the present posture,
    and with a scene encoder it acts in the safe's frame, as a trained policy of this size does."""
    import torch

    from policy_node.checkpoints import Checkpoint
    from policy_node.network_policy import NetworkPolicy

    config = find_config(family, size)
    if isinstance(config, TwoLevelConfig) and isinstance(config.skills, SkillsConfig):
        config = replace(config, skills=replace(config.skills, stored=PAIRS * FRAMES))
    torch.manual_seed(0)
    network = make_network(family, config, memory.shape)
    weights = network.state_dict()
    if "skills.pair" in weights:
        weights["skills.pair"][:] = torch.arange(PAIRS).repeat_interleave(FRAMES)
        weights["skills.demonstration"][:] = weights["skills.pair"]
    reach = np.full((config.past + CHUNK, len(ACTION_JOINTS)), REACH, np.float32)
    joints = min_max(LOWER.astype(np.float32), UPPER.astype(np.float32))
    actions = Actions("relative", min_max(-reach, reach))
    frame = SafeFrame(0.60, -0.27, 0.28, 0.0) if network.scene_encoder() else None
    normaliser = Normaliser(joints, actions, frame)
    return NetworkPolicy(Checkpoint(family, size, config, memory, normaliser, weights))


def _inference(policy: "NetworkPolicy", rule: str, chunks: int) -> list[Found]:
    """Measure a chunk, and a full memory for the frames between two chunks."""
    memory, wave = RollingMemory(policy.memory), Wave()
    positions = (wave(frame / RATE).astype(np.float32) for frame in count())
    for _ in range(STRIDE * LENGTH):
        memory.push(next(positions))
    frames: list[float] = []
    updates: list[float] = []
    inference: list[float] = []
    for number in range(chunks + WARM_UP):
        push_times = []
        for _ in range(EXECUTE):
            position = next(positions)
            watch = Stopwatch()
            memory.push(position)
            push_times.append(watch.wall)
        watch = Stopwatch()
        reading = memory.read()
        read = watch.wall
        observation = _observation(policy, rule, position, reading)
        watch = Stopwatch()
        policy.infer(observation)
        if number >= WARM_UP:
            inference.append(1000 * watch.wall)
            frames += [1e6 * seconds for seconds in push_times]
            updates.append(1000 * (sum(push_times) + read))
    shares = 100 * np.array(updates) / np.median(inference)
    return [
        ("chunk", "ms", inference),
        ("chunk, p99", "ms", [float(np.percentile(inference, 99))]),
        ("memory, a frame", "us", frames),
        (f"memory, {EXECUTE} frames and a reading", "ms", updates),
        ("memory, the same as a share of the chunk", "%", shares.tolist()),
    ]


def _observation(
    policy: "NetworkPolicy", rule: str, position: NDArray[np.float32], reading: Reading
) -> Observation:
    """Return an observation of full size with everything that the policy needs; random scene."""
    needs, rng = policy.needs, np.random.default_rng(0)
    return Observation(
        joints=np.repeat(position[None], needs.frames, axis=0),
        points=rng.random((needs.cloud_frames, needs.points, 6), np.float32)
        if needs.points
        else None,
        images={
            camera: rng.integers(0, 256, (224, 224, 3), np.uint8) for camera in needs.image_cameras
        },
        instruction=load_rule(rule).description,
        memory=reading,
    )


def _training(checkpoint: "Checkpoint", data: Path, cache: Path, steps: int) -> list[Found]:
    """Measure the first steps of a training with the settings of `rulesafe policy train`, except
    that the batch size is the same for all families. The limit is the rate at which all operations
    would run at the speed of a large matrix product."""
    from torch.utils.flop_counter import FlopCounterMode

    from policy_node.checkpoints import read_policy
    from policy_node.training import TrainingTask, train

    family, size, memory = checkpoint.family, checkpoint.size, checkpoint.memory
    task = TrainingTask(family, size, find_config(family, size), memory, data, None, cache)
    ends: list[float] = []

    def run(steps: int) -> dict[str, Any]:
        with TemporaryDirectory() as out:
            config = TrainConfig(steps=steps, batch=BATCH)
            done = train(task, config, out, lambda _: ends.append(time.perf_counter()))
            found: dict[str, Any] = read_policy(done).training["results"]
            return found

    run(1)  # computes the scene features, which are stored in the cache
    operations = []
    for some in (1, 2):
        with FlopCounterMode(display=False) as counter:
            run(some)
        operations.append(counter.get_total_flops())
    ends.clear()
    results = run(steps)
    rates = BATCH / np.diff(ends[:-1])  # the last step also writes the checkpoint
    each = (operations[1] - operations[0]) / BATCH
    return [
        ("training samples a second", "1/s", rates.tolist()),
        ("the limit of these samples", "1/s", [_product_speed() / each]),
        ("training, waiting for data", "%", [100 * results["share_waiting_for_data"]]),
    ]


def _product_speed() -> float:
    """Return the speed of the product of two matrices (1024, 1024), operations per second."""
    import torch

    matrix, times = torch.rand(1024, 1024), []
    for _ in range(20):
        watch = Stopwatch()
        matrix @ matrix
        times.append(watch.wall)
    return float(2 * 1024**3 / np.median(times))


def _evaluation(policy: "NetworkPolicy", options: BenchOptions) -> Found:
    """Measure the throughput of an evaluation in episodes per core-hour: physics, observations and
    inference. A policy with random weights always reaches the time limit. Only the first chunks of
    each episode are therefore run, and the CPU time is extrapolated to the time limit."""
    limit = time_limit(load_rule(options.rule))
    chunks = max(1, round(options.seconds * RATE / EXECUTE))
    agent = PolicyAgent(policy, policy.memory, EXECUTE)
    simulation = Simulation()
    rates = []
    for number in range(EPISODES + 1):
        watch = Stopwatch()
        simulation.reset(options.rule, options.safe, number)
        reset_cpu = watch.cpu
        Runtime(simulation, chunks * EXECUTE / RATE).run(agent)
        rate = 3600 / (reset_cpu + (watch.cpu - reset_cpu) * limit / simulation.time)
        if number:  # the first one is a warm-up
            rates.append(rate)
    return f"evaluation episodes of {limit:g} s per core-hour", "1/h", rates
