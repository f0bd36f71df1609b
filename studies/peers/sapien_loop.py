"""Simulate our SAPIEN scene in a bare loop: only drive targets, physics steps and images.

The loop is the limit of our speed. There are no lock, detents, contact forces, episodes or point
clouds.
"""

from timing import measure, parse, read_scene


def main(argv=None) -> None:
    options = parse(__doc__, argv)
    scene = read_scene(options)
    import numpy as np

    from rulesafe_sim.observer import Views
    from rulesafe_sim.simulation import Simulation

    simulation = Simulation()
    simulation.reset(scene["rule"], scene["safe"], scene["seed"])
    robot, world = simulation._robot.articulation, simulation.scene
    names = ("front", "head")[: options.cameras]
    views = Views(simulation.bodies) if names else None
    controls = scene["control_hz"] // scene["frame_hz"]
    substeps = round(1 / scene["timestep"] / scene["control_hz"])
    targets = np.array(scene["targets"])
    state = {"frame": 0, "command": np.array(scene["start"]), "last": None}
    setters = [joint.set_drive_target for joint in robot.active_joints]

    def step() -> None:
        target = targets[state["frame"] % len(targets)]
        begin = state["command"]
        for i in range(1, controls + 1):
            command = begin + (target - begin) * (i / controls)
            for set_target, value in zip(setters, command.tolist(), strict=True):
                set_target(value)
            for _ in range(substeps):
                world.step()
        state["frame"] += 1
        state["command"] = target
        rig = views.take(simulation.joints(), *names) if views else None
        images = [rig.rgb(name) for name in names] if rig else []
        state["last"] = robot.qpos, images

    measure(
        options,
        step,
        1 / scene["frame_hz"],
        lambda: robot.qpos.tolist(),
        ("sapien", "numpy"),
        lambda: state["last"][1],
    )


if __name__ == "__main__":
    main()
