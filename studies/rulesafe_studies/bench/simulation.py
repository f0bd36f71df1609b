"""The simulation parts of `make bench`: physics, environments and observations, no ROS."""

from typing import Any

from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import (
    Measure,
    Stopwatch,
    Wave,
    peak_memory,
    run_apart,
    run_on_one_core,
)


def physics(options: BenchOptions) -> list[Measure]:
    """Measure control steps without any observation."""
    return run_apart(_physics, options)


def _physics(options: BenchOptions) -> list[Measure]:
    from rulesafe_sim.simulation import Simulation

    simulation, wave = Simulation(), Wave()
    simulation.reset(options.rule, options.safe, 0)
    rate, substeps = simulation.config.physics.control_hz, simulation.config.physics.substeps
    resets = []
    for _ in range(5):
        watch = Stopwatch()
        simulation.reset(options.rule, options.safe, 0)
        resets.append(watch.wall * 1000)
    samples = []
    for _ in range(max(2, round(options.seconds))):
        watch = Stopwatch()
        for _ in range(rate):
            simulation.control(wave(simulation.time))
        samples.append(rate * substeps / watch.cpu)
    return [
        Measure.of("physics steps per CPU second", "1/s", samples, "arm moving, one simulated s"),
        Measure.of("reset without cameras", "ms", resets),
        peak_memory("physics only"),
    ]


def loop(options: BenchOptions) -> list[Measure]:
    """Measure the Gymnasium environment with joint states only, then with all observations."""
    joints = ("joint_positions", "all_joint_positions")
    return [
        *run_apart(_environment, options, "joint states only", {"observations": joints}),
        *run_apart(_environment, options, "all observations at 10 Hz", {}),
    ]


def _environment(options: BenchOptions, title: str, chosen: dict[str, Any]) -> list[Measure]:
    """Measure simulated time per CPU and wall time of `env.step`, one sample per simulated s."""
    import gymnasium

    env = gymnasium.make(
        "rulesafe_sim.env:RuleSafe-v1", rule=options.rule, safe=options.safe, **chosen
    )
    env.reset()
    wave, frame = Wave(), 0
    cpu, wall = [], []
    for number in range(max(2, round(options.seconds)) + 1):
        watch = Stopwatch()
        for _ in range(10):
            frame += 1
            env.step(wave(frame / 10))
        if number:  # the first second is a warm-up
            cpu.append(1 / watch.cpu)
            wall.append(1 / watch.wall)
    env.close()
    return [
        Measure.of(f"simulated s per CPU s, {title}", "", cpu),
        Measure.of(f"simulated s per wall s, {title}", "", wall),
        peak_memory(title),
    ]


MOVES_COPIES = (256, 4096)
"""Numbers of copies for which the moves of RuleSafe-Moves-v1 are measured."""


def moves(options: BenchOptions) -> list[Measure]:
    """Measure random moves in RuleSafe-Moves-v1 with all 200 sampled locks, on one core."""
    return run_on_one_core(_moves, options)


def _moves(options: BenchOptions) -> list[Measure]:
    import gymnasium
    import numpy as np

    import rulesafe_studies.moves.env  # noqa: F401  (registers the environment)

    rng, found = np.random.default_rng(0), []
    for copies in MOVES_COPIES:
        envs = gymnasium.make_vec("RuleSafe-Moves-v1", num_envs=copies, rules="sampled")
        envs.reset(seed=0)
        actions = rng.integers(3, size=(50, copies))
        rates = []
        for number in range(max(2, round(options.seconds)) + 1):
            watch = Stopwatch()
            for action in actions:
                envs.step(action)
            if number:  # the first round is a warm-up
                rates.append(actions.size / watch.wall)
        name = f"moves per second and core, {copies} copies of a lock"
        found.append(Measure.of(name, "1/s", rates))
    return [*found, peak_memory("moves")]


def observation(options: BenchOptions) -> list[Measure]:
    """Measure a full observation, and each part of it separately, while the arm moves."""
    return run_apart(_observation, options)


def _observation(options: BenchOptions) -> list[Measure]:
    from rulesafe_core.cameras import DEFAULT_CAMERAS
    from rulesafe_sim.observer import Observer, Views
    from rulesafe_sim.simulation import Simulation

    simulation, wave = Simulation(), Wave()
    simulation.reset(options.rule, options.safe, 0)
    observer = Observer(simulation)
    requested: dict[str, tuple[str, ...]] = {
        "full observation": observer.keys,
        "head only": ("head",),
        "front only": ("front",),
        "points only (render and sample)": ("points",),
        "joint positions only": ("joint_positions", "all_joint_positions"),
    }
    samples: dict[str, list[float]] = {name: [] for name in requested}
    cpu: list[float] = []
    film: list[float] = []
    for number in range(max(4, round(options.seconds * 3))):
        for name, keys in requested.items():
            simulation.control(wave(simulation.time))
            watch = Stopwatch()
            observer.observe(keys)
            if number > 1:
                samples[name].append(watch.wall * 1000)
                if keys is observer.keys:
                    cpu.append(watch.cpu * 1000)
    memory = peak_memory("observations")
    views = Views(simulation.bodies, DEFAULT_CAMERAS.resized(480))
    for number in range(max(4, round(options.seconds * 3))):
        simulation.control(wave(simulation.time))
        watch = Stopwatch()
        views.take(simulation.joints())
        if number > 1:
            film.append(watch.cpu * 1000)
    return [
        *(Measure.of(name, "ms", values) for name, values in samples.items()),
        Measure.of("full observation, CPU time of all threads", "ms", cpu),
        Measure.of("film frame, two 480-pixel cameras, CPU time", "ms", film),
        memory,
    ]


def first_frame(options: BenchOptions) -> list[Measure]:
    """Measure the first full observation after building the scene, each time in a new process."""
    times = [run_apart(_first_frame, options) for _ in range(3)]
    scene, image = zip(*times, strict=True)
    return [
        Measure.of("imports and reset before the first frame", "ms", scene, "fresh process"),
        Measure.of("first full observation", "ms", image, "fresh process"),
    ]


def _first_frame(options: BenchOptions) -> tuple[float, float]:
    watch = Stopwatch()
    from rulesafe_sim.observer import Observer
    from rulesafe_sim.simulation import Simulation

    simulation = Simulation()
    simulation.reset(options.rule, options.safe, 0)
    ready = watch.wall
    Observer(simulation).observe()
    return ready * 1000, (watch.wall - ready) * 1000
