"""Simulate our scene in ManiSkill 3: exported URDFs, drives, rates and cameras, one environment.

The environment executes actions at 10 Hz; the drive targets move linearly within an action and are
set at 100 Hz, as in ours. The robot has no weight, and the joints have our friction (0).
"""

from timing import measure, parse, read_scene


def main(argv=None) -> None:
    options = parse(__doc__, argv)
    scene = read_scene(options)
    import gymnasium
    import mani_skill.envs  # noqa: F401
    import numpy as np
    import sapien
    import torch
    from mani_skill.agents.base_agent import BaseAgent, Keyframe
    from mani_skill.agents.controllers.pd_joint_pos import (
        PDJointPosController,
        PDJointPosControllerConfig,
    )
    from mani_skill.agents.registration import register_agent
    from mani_skill.envs.sapien_env import BaseEnv
    from mani_skill.sensors.camera import CameraConfig
    from mani_skill.utils.registration import register_env
    from mani_skill.utils.structs.types import SceneConfig, SimConfig

    substeps = round(1 / scene["timestep"] / scene["control_hz"])

    def pose(content: dict) -> sapien.Pose:
        return sapien.Pose(content["p"], content.get("q", [1, 0, 0, 0]))

    def set_up(articulation, groups) -> None:
        """Set collision groups and the joint friction of an articulation."""
        for link in articulation.links:
            for shape in link._objs[0].collision_shapes:
                shape.set_collision_groups(list(groups(link.name)))
        for joint in articulation._objs[0].active_joints:
            joint.set_friction(0.0)

    class LinearTargets(PDJointPosController):
        """Controller that moves targets linearly from action to action, at the control rate."""

        def set_action(self, action) -> None:
            self._begin, self._target_qpos = self._target_qpos, self._preprocess_action(action)
            self._step = 0
            self._step_size = (self._target_qpos - self._begin) / self._sim_steps * substeps

        def before_simulation_step(self) -> None:
            if self._step % substeps == 0:
                control = self._step // substeps + 1
                self.set_drive_targets(self._begin + self._step_size * control)
            self._step += 1

    @register_agent()
    class Robot(BaseAgent):
        uid = "exported_robot"
        urdf_path = str(options.scene / "robot.urdf")
        urdf_config = {  # noqa: RUF012
            "_materials": {
                "default": {
                    "static_friction": scene["friction"],
                    "dynamic_friction": scene["friction"],
                    "restitution": 0.0,
                }
            },
            "link": {name: {"material": "default"} for name in scene["groups"]},
        }
        keyframes = {  # noqa: RUF012
            "start": Keyframe(pose=sapien.Pose(), qpos=np.array(scene["start"]))
        }

        @property
        def _controller_configs(self):
            config = PDJointPosControllerConfig(
                scene["joints"],
                lower=-10.0,
                upper=10.0,
                stiffness=scene["stiffness"],
                damping=scene["damping"],
                force_limit=scene["effort"],
                normalize_action=False,
            )
            config.controller_cls = LinearTargets
            return {"pd_joint_pos": config}

        def _after_loading_articulation(self) -> None:
            set_up(self.robot, scene["groups"].__getitem__)
            found = [joint.name for joint in self.robot.active_joints]
            if found != scene["joints"]:
                raise SystemExit(f"the robot has the joints {found}, not {scene['joints']}")
            joints = self.robot._objs[0].active_joints
            for joint, armature in zip(joints, scene["armature"], strict=True):
                joint.set_armature(np.array([armature], np.float32))

    @register_env("ExportedSafe-v1", max_episode_steps=10**9)
    class ExportedSafe(BaseEnv):
        SUPPORTED_REWARD_MODES = ("none",)

        def __init__(self, *args, robot_uids="exported_robot", **kwargs):
            super().__init__(*args, robot_uids=robot_uids, **kwargs)

        @property
        def _default_sim_config(self):
            return SimConfig(
                sim_freq=round(1 / scene["timestep"]),
                control_freq=scene["frame_hz"],
                scene_config=SceneConfig(
                    contact_offset=0.01,
                    solver_position_iterations=scene["position_iterations"],
                    enable_enhanced_determinism=True,
                ),
            )

        @property
        def _default_sensor_configs(self):
            return [
                CameraConfig(
                    uid=camera["name"],
                    pose=pose(camera["pose"]),
                    width=camera["size"][0],
                    height=camera["size"][1],
                    fov=camera["fovy"],
                    near=camera["clip"][0],
                    far=camera["clip"][1],
                )
                for camera in scene["cameras"][: options.cameras]
            ]

        def _load_agent(self, options):
            super()._load_agent(options, sapien.Pose())

        def _load_scene(self, _):
            loader = self.scene.create_urdf_loader()
            loader.name, loader.fix_root_link = "safe", True
            loader.set_material(scene["friction"], scene["friction"], 0.0)
            builder = loader.parse(str(options.scene / "safe.urdf"))["articulation_builders"][0]
            builder.initial_pose = pose(scene["pose_safe"])
            set_up(builder.build(), lambda name: scene["safe_group"])
            for kind in ("stand", "room") if options.cameras else ("stand",):
                self._add_boxes(kind)

        def _add_boxes(self, kind: str) -> None:
            builder = self.scene.create_actor_builder()
            builder.initial_pose = sapien.Pose()
            for box in scene[kind]:
                if kind == "stand":
                    builder.add_box_collision(pose(box), box["half_size"])
                if options.cameras:
                    color = sapien.render.RenderMaterial(base_color=[*box["color"], 1.0])
                    builder.add_box_visual(pose(box), box["half_size"], material=color)
            builder.collision_groups = list(scene["safe_group"])
            builder.build_static(name=kind)

        def _load_lighting(self, chosen):
            if options.lights == "own":
                super()._load_lighting(chosen)
                return
            *directional, last = scene["lights"]
            self.scene.set_ambient_light(last["ambient"])
            for light in directional:
                self.scene.add_directional_light(**light)

        def _initialize_episode(self, env_idx, options):
            self.agent.robot.set_qpos(torch.tensor([scene["start"]]))

        def evaluate(self):
            return {}

        def _get_obs_extra(self, info):
            return {}

    env = gymnasium.make(
        "ExportedSafe-v1",
        num_envs=1,
        obs_mode="rgb" if options.cameras else "state",
        reward_mode="none",
        sim_backend="physx_cpu",
        render_backend="sapien_cpu" if options.cameras else "none",
    )
    env.reset(seed=scene["seed"])
    targets = np.array(scene["targets"], np.float32)
    state = {"frame": 0}

    def step() -> None:
        state["last"] = env.step(targets[state["frame"] % len(targets)])[0]
        state["frame"] += 1

    def positions() -> list[float]:
        return env.unwrapped.agent.robot.get_qpos()[0].tolist()

    def images() -> list:
        cameras = scene["cameras"][: options.cameras]
        return [state["last"]["sensor_data"][c["name"]]["rgb"][0].numpy() for c in cameras]

    packages = ("mani_skill", "sapien", "numpy", "gymnasium", "torch")
    measure(options, step, 1 / scene["frame_hz"], positions, packages, images)


if __name__ == "__main__":
    main()
