"""Simulate the unmodified Door of robosuite: one camera, 20 Hz control, 500 Hz physics."""

import os

from timing import measure, parse


def main(argv=None) -> None:
    options = parse(__doc__, argv, cameras=1)
    os.environ.setdefault("MUJOCO_GL", "egl")
    import contextlib
    import io

    import numpy as np

    with contextlib.redirect_stdout(io.StringIO()):
        import robosuite

        env = robosuite.make(
            "Door",
            robots="Panda",
            has_renderer=False,
            has_offscreen_renderer=options.cameras > 0,
            use_camera_obs=options.cameras > 0,
            horizon=10**9,
        )
        env.reset()
    actions = np.random.default_rng(0).uniform(-0.3, 0.3, (100, env.action_dim))
    state = {"step": 0}

    def step() -> None:
        state["last"] = env.step(actions[state["step"] % len(actions)])[0]
        state["step"] += 1

    def positions() -> list[float]:
        return state["last"]["robot0_joint_pos"].tolist()

    def images() -> list:
        if not options.cameras:
            return []
        return [np.ascontiguousarray(state["last"]["agentview_image"][::-1])]

    packages = ("robosuite", "mujoco", "numpy")
    measure(options, step, 1 / env.control_freq, positions, packages, images)


if __name__ == "__main__":
    main()
