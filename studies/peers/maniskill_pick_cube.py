"""Simulate the unmodified PickCube-v1 of ManiSkill 3: one camera, 20 Hz control, 100 Hz physics."""

from timing import measure, parse


def main(argv=None) -> None:
    options = parse(__doc__, argv, cameras=1)
    import gymnasium
    import mani_skill.envs  # noqa: F401

    env = gymnasium.make(
        "PickCube-v1",
        num_envs=1,
        obs_mode="rgb" if options.cameras else "state",
        sim_backend="physx_cpu",
        render_backend="sapien_cpu" if options.cameras else "none",
    )
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [0.3 * env.action_space.sample() for _ in range(100)]
    state = {"step": 0, "last": None}

    def step() -> None:
        state["last"] = env.step(actions[state["step"] % len(actions)])[0]
        state["step"] += 1

    def positions() -> list[float]:
        return env.unwrapped.agent.robot.get_qpos()[0].tolist()

    def images() -> list:
        sensors = state["last"]["sensor_data"] if options.cameras else {}
        return [data["rgb"][0].numpy() for data in sensors.values()]

    rate = env.unwrapped.control_freq
    packages = ("mani_skill", "sapien", "numpy", "gymnasium", "torch")
    measure(options, step, 1 / rate, positions, packages, images)


if __name__ == "__main__":
    main()
