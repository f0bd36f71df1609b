"""Simulate our unmodified `RuleSafe-v1`, with its lock: actions and observations at 10 Hz."""

from timing import measure, parse, read_scene

OBSERVATIONS = ("front", "head")


def main(argv=None) -> None:
    options = parse(__doc__, argv)
    scene = read_scene(options)
    import gymnasium
    import numpy as np

    observations = ("joint_positions", *OBSERVATIONS[: options.cameras])
    arguments = {key: scene[key] for key in ("rule", "safe", "seed")}
    env = gymnasium.make(
        "rulesafe_sim.env:RuleSafe-v1", observations=observations, step_seconds=1e6, **arguments
    )
    env.reset()
    actions = np.array(scene["actions"])
    state = {"frame": 0}

    def step() -> None:
        state["last"] = env.step(actions[state["frame"] % len(actions)])[0]
        state["frame"] += 1

    def positions() -> list[float]:
        return env.unwrapped.simulation.joints().robot_positions.tolist()

    def images() -> list:
        return [state["last"][key] for key in observations[1:]]

    packages = ("sapien", "numpy", "gymnasium")
    measure(options, step, 1 / scene["frame_hz"], positions, packages, images)


if __name__ == "__main__":
    main()
