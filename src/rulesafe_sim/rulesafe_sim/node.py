"""ROS 2 node of the simulation: the topics and services of docs/interface.md, with /clock.

A single thread executes callbacks, simulates one control step of 10 ms, and publishes; images are
rendered in another thread (cameras_ros.py), at most one frame behind. With `wait_for_action`,
simulated time does not advance while no chunk is executed, so that an episode
depends only on its chunks and not on the speed of the machine. /clock never goes back: each reset
advances it to the next multiple of 0.1 s, so that stamps distinguish episodes.
"""

import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from rclpy.executors import Executor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool

from rulesafe_core import convert, ros
from rulesafe_core.cameras import CameraSet, load_cameras
from rulesafe_core.chunks import EXECUTORS, MAX_STEPS, PERIOD, SECOND, Chunk, load_executor
from rulesafe_core.chunks_ros import ChunkReceiver
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.frames_node import FramePublisher
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.repeated_ros import RepeatedPublisher
from rulesafe_core.settings import setting
from rulesafe_core.text_files import read_text
from rulesafe_core.urdf import BASE_LINK, to_urdf, with_frames
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_sim.bodies import ROBOT
from rulesafe_sim.cameras_ros import CameraPublisher, CameraRequest
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.convert import to_joint_state, to_status
from rulesafe_sim.episodes import Episode
from rulesafe_sim.reset_ros import FirstEpisode, answer_reset
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from rulesafe_sim.stand import safe_on_stand

REFRESH = 0.1
"""Period (s of wall time) at which the last states are published again while simulated time is
stopped, for late subscribers; see `SimNode._repeat`."""

RENDERING = 0.002
"""Period (s of wall time) at which the cameras are polled while simulated time is stopped and they
render."""

SLOW_IMAGES = 10.0
"""Wall time (s) without the images of a frame after which a warning is logged."""


def next_due(due: float, step: float, factor: float, now: float) -> float:
    """Return the scheduled wall time of the next control step, s; at most 0.1 s are caught up.

    Args:
        due: scheduled wall time of the last step, s.
        step: simulated time of a step, s.
        factor: ratio of simulated time to wall time.
        now: wall time, s.
    """
    return max(due + step / factor, now - 0.1)


@dataclass(frozen=True)
class SimulationParameters(FirstEpisode):
    """Parameters of the simulation node."""

    start: bool = setting(
        True, "Start an episode immediately; otherwise wait for a request to /episode/reset."
    )
    real_time_factor: float = setting(
        0.0,
        "Maximum ratio of simulated time to wall time; 0: without pacing.",
        0,
        100,
        changeable=True,
    )
    wait_for_action: bool = setting(
        True,
        "Stop simulated time while no chunk is executed; false: continue and hold the robot.",
    )
    execute_steps: int = setting(
        0, "Steps of a chunk after which the next one is due; 0: all.", 0, MAX_STEPS
    )
    execution: str = setting(
        "newest", f"How overlapping chunks are executed: {' or '.join(EXECUTORS)}."
    )
    cameras: bool = setting(True, "Publish images and point clouds at 10 Hz.")
    camera_file: str = setting(
        "", "YAML file of the cameras (docs/interface.md); empty: head and front."
    )
    film: bool = setting(False, "Publish larger images for a video, /film/CAMERA/compressed.")
    film_size: int = setting(480, "Width and height of the video images.", 64, 1080, "pixels")
    tf: bool = setting(
        True,
        "Publish the frames of links and cameras on /tf and /tf_static; set to false if "
        "robot_state_publisher runs.",
    )
    robot_urdf: str = setting(
        "", "The manufacturer's URDF with meshes; empty: the built-in primitives."
    )


class SimNode(Node):
    """Runs the simulation and publishes its clock and topics; `run` is the main loop."""

    def __init__(self) -> None:
        super().__init__("sim_node")
        self._reservation = ros.reserve_topic(self, "/clock")
        values = ros.declare(self, SimulationParameters)
        self._wait_for_action = values.wait_for_action
        self._loaded = values.episode()  # report unknown names before the cameras start
        config = SimulationConfig(split=values.split, robot_urdf=values.robot_urdf)
        film_size = values.film_size if values.film else 0
        self._camera_set = load_cameras(values.camera_file)
        self._cameras: CameraPublisher | None = None
        if values.cameras or film_size:
            keys = self._camera_set.keys if values.cameras else ()
            self._cameras = CameraPublisher(self, self._camera_set, keys, film_size)
        self._simulation = Simulation(config)
        self._tick = SECOND // config.physics.control_hz
        self._now = 0  # ns
        self._episode = 0
        self._paused = False
        executor = load_executor(values.execution)
        self._chunks = executor(LOWER, UPPER, values.execute_steps)
        self._make_topics()
        urdf = config.robot_urdf
        self._robot_urdf = read_text(Path(urdf)) if urdf else to_urdf(ROBOT)
        self._frames = FramePublisher(self) if values.tf else None
        self._described: CameraSet | None = None  # with the published poses
        self._describe(self._camera_set)
        if values.start:
            self._begin(self._loaded)

    def _make_topics(self) -> None:
        publisher = self.create_publisher
        repeated = partial(RepeatedPublisher, self, qos=convert.STATE_QOS)
        self._clock_topic = repeated(Clock, "/clock")
        self._joint_states = repeated(JointState, "joint_states")
        self._status = repeated(EpisodeStatus, "episode/status")
        self._description = publisher(String, "robot_description", convert.LATCHED_QOS)
        self._instruction = publisher(String, "instruction", convert.LATCHED_QOS)
        self._started = publisher(Time, "episode/started", convert.LATCHED_QOS)
        self._safe_shape = publisher(String, "episode/safe_description", convert.LATCHED_QOS)
        self._pause = publisher(Bool, "episode/paused", convert.LATCHED_QOS)
        self._pause.publish(Bool(data=False))
        self._held: list[EpisodeStatus] = []  # until the images of the frame are published
        self.create_service(ResetEpisode, "episode/reset", self._on_reset)
        self.create_service(SetBool, "episode/pause", self._on_pause)
        self._receiver = ChunkReceiver(self, lambda: self._now, self._on_chunk, self._on_refused)

    # Episodes and chunks ------------------------------------------------------------------

    def _begin(self, episode: Episode) -> int:
        """Start an episode and return its number. On a RuleSafeError the current one continues."""
        self._send_status(wait=True)
        episode = replace(episode, variation=episode.fixed())
        episode.fixed().cameras.apply(self._camera_set)  # raises before anything is changed
        simulation = Simulation(self._simulation.config)
        simulation.reset(episode.source, episode.safe, episode.seed, episode.variation)
        if self._cameras:
            self._cameras.begin(simulation)
        self._simulation = simulation
        self._status.forget()  # that of the episode before
        # Later requests of a rule and a safe have the split of the parameters.
        self._loaded = replace(episode, split=self._loaded.split)
        self._action: NDArray[np.float64] | None = None
        self._episode += 1
        self._now = (self._now // PERIOD + 1) * PERIOD
        self._chunks.reset(self._now)
        self._receiver.exclusive.release()
        self._describe(self._simulation.variation.cameras.apply(self._camera_set))
        self._started.publish(convert.to_time(self._now))
        self._instruction.publish(String(data=self._simulation.rule.description))
        body = safe_on_stand(self._simulation.safe, self._simulation.pose_safe_in_pelvis)
        self._safe_shape.publish(String(data=to_urdf(body)))
        self._open: dict[str, bool] = {}
        self._was_done = False
        if self._wait_for_action:
            self.get_logger().info(
                "ready: the simulation is paused until the first message on /policy/action_chunk; "
                "set wait_for_action:=false to run without it"
            )
        self._publish()
        return self._episode

    def _describe(self, cameras: CameraSet) -> None:
        """Publish the robot's URDF with the cameras' frames, unless it is unchanged."""
        if cameras == self._described:
            return
        self._described = cameras
        urdf = with_frames(self._robot_urdf, [BASE_LINK, *cameras.frames()])
        self._description.publish(String(data=urdf))
        if self._frames:
            self._frames.describe(urdf, self._now)

    def _on_reset(self, request, response):
        return answer_reset(request, response, self._loaded, self._begin)

    def _on_pause(self, request, response):
        self._paused = request.data
        self._pause.publish(Bool(data=self._paused))
        response.success = True
        response.message = "simulation paused" if self._paused else "simulation resumed"
        return response

    def _on_chunk(self, chunk: Chunk, now: int) -> None:
        if not self._episode:
            raise RuleSafeError("no episode has started yet")
        self._chunks.accept(chunk, now, self._simulation.command)

    def _on_refused(self, reason: str, publisher: str, chunk: Chunk | None) -> None:
        self.get_logger().warning(f"action chunk of {publisher} refused: {reason}")

    @property
    def _waiting(self) -> bool:
        return bool(self._wait_for_action and self._chunks.done(self._now))

    @property
    def _time_is_stopped(self) -> bool:
        return not self._episode or self._paused or self._waiting

    # Stepping and publishing --------------------------------------------------------------

    def _step(self) -> None:
        simulation = self._simulation
        self._now += self._tick
        self._action = self._chunks.target(self._now, simulation.command)
        simulation.control(self._action)
        self._publish()

    def _publish(self) -> None:
        """Publish the messages that are due: clock and joint states at each control step, images
        at each frame, and the status at each frame and when a phase changes or a chunk ends.

        The status is published after the other messages of its stamp.
        """
        state = self._simulation.state()
        self._clock_topic.publish(Clock(clock=convert.to_time(self._now)))
        self._joint_states.publish(to_joint_state(state, self._now))
        frame = self._now % PERIOD == 0
        if frame and self._frames:
            positions = dict(zip(ALL_JOINTS, state.joint_positions.tolist(), strict=True))
            self._frames.publish(positions, self._now)
        if frame and self._cameras:
            self._send_status(wait=True)
            joints, instant = self._simulation.joints(), self._simulation.controls
            self._cameras.show(CameraRequest(self._now, joints, instant))
        done = self._chunks.done(self._now)
        if frame or state.part_open != self._open or done != self._was_done:
            self._open, self._was_done = dict(state.part_open), done
            status = to_status(
                self._simulation,
                state,
                self._now,
                safe=self._loaded.safe,
                action=self._action if frame else None,
                episode=self._episode,
                waiting=self._waiting,
                clipped=self._simulation.clipped_actions + self._chunks.clipped,
            )
            self._held.append(status)
        self._send_status()

    def _send_status(self, wait: bool = False) -> bool:
        """Publish the status unless images are being rendered; return whether it was published.

        Args:
            wait: whether to wait for the cameras.
        """
        began = time.monotonic()
        while self._cameras and not self._cameras.published(REFRESH if wait else 0):
            if not (wait and self.context.ok()):
                return False
            if time.monotonic() - began > SLOW_IMAGES:
                self.get_logger().warning(
                    f"the cameras have not rendered a frame for {SLOW_IMAGES:g} s; the simulation "
                    "waits for them",
                    throttle_duration_sec=SLOW_IMAGES,
                )
        for status in self._held:
            self._status.publish(status)
        self._held.clear()
        return True

    def run(self, executor: Executor) -> int:
        """Run the main loop until the context is shut down."""
        refreshed = due = time.monotonic()
        while executor.context.ok():
            if not self._time_is_stopped:
                executor.spin_once(timeout_sec=0)
                if self._time_is_stopped:  # a reset or pause was requested
                    continue
                self._step()
                due = self._pace(executor, due)
                continue
            executor.spin_once(timeout_sec=REFRESH if self._send_status() else RENDERING)
            due = now = time.monotonic()
            if now - refreshed >= REFRESH:
                refreshed = now
                self._repeat()
                if self._frames:
                    self._frames.publish_to_new_subscribers()
        return 0

    def destroy_node(self) -> None:
        if self._cameras:
            self._cameras.close()
        super().destroy_node()

    def _pace(self, executor: Executor, due: float) -> float:
        """Execute callbacks until the next control step, and return its scheduled time.

        The time (s, monotonic clock) follows from the real-time factor.
        """
        factor = self.get_parameter("real_time_factor").value
        now = time.monotonic()
        if factor <= 0:
            return now
        due = next_due(due, self._tick / SECOND, factor, now)
        while (remaining := due - time.monotonic()) > 0 and executor.context.ok():
            executor.spin_once(timeout_sec=remaining)
        return due

    def _repeat(self) -> None:
        """Publish the last clock, joint states and status again."""
        self._clock_topic.repeat(0)
        # A policy interprets a repeated joint state as a request for a chunk, so not while paused
        # or before the images of the frame are published.
        if self._waiting and not self._paused and not self._held:
            self._joint_states.repeat(0)
        self._status.repeat(0)


main = partial(ros.run_node, "sim_node", SimNode, run=SimNode.run)

if __name__ == "__main__":
    sys.exit(main())
