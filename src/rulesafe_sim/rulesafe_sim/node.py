"""The simulation on a ROS 2 graph: the topics of docs/architecture.md, /clock, /episode/reset and
/episode/pause.

One thread: serve what has come in, take one control step of 10 ms, publish. With
`wait_for_action` simulated time does not advance while no chunk runs, so that an episode depends on
its chunks alone and not on the machine's speed. /clock never runs backwards: each reset moves it
on to the next tenth of a second, so that stamps tell episodes apart.
"""

import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core import convert, messages, ros
from rulesafe_core.chunks import EXECUTORS, MAX_ROWS, PERIOD, SECOND, load_executor
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import EpisodeParameters
from rulesafe_core.settings import setting
from rulesafe_core.urdf import to_urdf
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_locks.rules import load_rule
from rulesafe_sim.camera_topics import CameraTopics
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.convert import to_joint_state, to_status
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import LOWER, ROBOT, UPPER, Simulation
from rulesafe_sim.stand import safe_on_stand

REFRESH = 0.1
"""While nothing moves, the last states are published again this often (s of wall time), for
nodes that start late."""

REFRESH_IMAGES = 1.0
"""The same for images and clouds, s."""


@dataclass(frozen=True)
class SimulationParameters(EpisodeParameters):
    """Parameters of the simulation's node."""

    start: bool = setting(True, "Start an episode at once; otherwise wait for /episode/reset.")
    real_time_factor: float = setting(
        0.0,
        "Simulated time per wall time at most; 0: as fast as the machine can.",
        0,
        100,
        changeable=True,
    )
    wait_for_action: bool = setting(
        True,
        "Simulated time stands still while no chunk runs. False: it goes on and the robot holds.",
    )
    execute_rows: int = setting(
        0, "Steps of a chunk after which the next one is due; 0: all.", 0, MAX_ROWS
    )
    execution: str = setting(
        "newest", f"Which chunk is followed where some overlap: {' or '.join(EXECUTORS)}."
    )
    cameras: bool = setting(
        True, "Publish images and point clouds at 10 Hz. False needs no Vulkan."
    )
    film: bool = setting(False, "Publish larger images for a film, /film/{head,front}/compressed.")
    film_size: int = setting(480, "Width and height of the film's images.", 64, 1080, "pixels")
    robot_urdf: str = setting(
        "", "The manufacturer's URDF with meshes; empty: the project's own shapes."
    )


class SimNode(Node):
    """Owns the simulation, its clock and its topics; `run` is the loop."""

    def __init__(self) -> None:
        super().__init__("sim_node")
        self._claim = ros.claim(self, "/clock")
        values = ros.declare(self, SimulationParameters)
        self._waits = values.wait_for_action
        self._rule, self._safe = values.rule, values.safe
        config = SimulationConfig(split=values.split, robot_urdf=values.robot_urdf)
        self._cameras = CameraTopics(
            observe=values.cameras, film_size=values.film_size if values.film else 0
        )
        self._simulation = Simulation(config, render=self._cameras.needed)
        self._tick = SECOND // config.physics.control_hz
        self._now = 0  # ns
        self._episode = 0
        self._paused = False
        self._reported_ready = True  # there is no episode yet
        executor = load_executor(values.execution)
        self._chunks = executor(LOWER, UPPER, values.execute_rows)
        self._make_topics(self._cameras.topics())
        urdf = config.robot_urdf
        self._description.publish(String(data=Path(urdf).read_text() if urdf else to_urdf(ROBOT)))
        if values.start:
            self._begin(self._rule, self._safe, values.seed)
        else:  # unknown names are refused now, not at the first reset
            load_rule(self._rule)
            load_safe(self._safe)

    def _make_topics(self, pictures: dict[str, type]) -> None:
        publisher = self.create_publisher
        self._clock_topic = publisher(Clock, "/clock", convert.STATE_QOS)
        self._joint_states = publisher(JointState, "/joint_states", convert.STATE_QOS)
        self._status = publisher(EpisodeStatus, "/episode/status", convert.STATE_QOS)
        self._description = publisher(String, "/robot_description", convert.LATCHED_QOS)
        self._instruction = publisher(String, "/instruction", convert.LATCHED_QOS)
        self._started = publisher(Time, "/episode/started", convert.LATCHED_QOS)
        self._safe_shape = publisher(String, "/episode/safe_description", convert.LATCHED_QOS)
        self._pause = publisher(Bool, "/episode/paused", convert.LATCHED_QOS)
        self._pause.publish(Bool(data=False))
        self._image_publishers = {
            topic: publisher(kind, topic, convert.IMAGE_QOS) for topic, kind in pictures.items()
        }
        self._last: dict[Any, Any] = {}  # publisher -> its last message
        self._last_images: dict[Any, Any] = {}
        self.create_service(ResetEpisode, "/episode/reset", self._on_reset)
        self.create_service(SetBool, "/episode/pause", self._on_pause)
        self.create_subscription(
            JointTrajectory, "/policy/action_chunk", self._on_chunk, convert.STATE_QOS
        )

    # Episodes and chunks ------------------------------------------------------------------

    def _begin(self, rule: str, safe: str, seed: int) -> int:
        """Starts an episode; its number. Errors: RuleSafeError, and what runs goes on."""
        self._simulation.reset(rule, safe, seed)
        self._rule, self._safe = rule, safe
        self._episode += 1
        self._now = (self._now // PERIOD + 1) * PERIOD
        self._chunks.reset(self._now)
        self._cameras.reset(self._simulation)
        self._started.publish(convert.to_time(self._now))
        self._instruction.publish(String(data=self._simulation.rule.description))
        shown = safe_on_stand(self._simulation.safe, self._simulation.pose_safe_in_pelvis)
        self._safe_shape.publish(String(data=to_urdf(shown)))
        self._open: dict[str, bool] = {}
        self._was_done = False
        self._reported_ready = False
        self._publish()
        return self._episode

    def _on_reset(self, request, response):
        return ros.answer_reset(request, response, (self._rule, self._safe), self._begin)

    def _on_pause(self, request, response):
        self._paused = request.data
        self._pause.publish(Bool(data=self._paused))
        response.success = True
        response.message = "time stands still" if self._paused else "time goes on"
        return response

    def _on_chunk(self, message: JointTrajectory) -> None:
        if not self._episode:
            self.get_logger().warning("an action chunk came before the first episode: ignored")
            return
        try:
            chunk = messages.decode_chunk(message, self._now)
            self._chunks.accept(chunk, self._now, self._simulation.command)
            self._reported_ready = True
        except RuleSafeError as error:
            self.get_logger().warning(f"action chunk refused: {error}")

    @property
    def _waiting(self) -> bool:
        return bool(self._waits and self._chunks.done(self._now))

    @property
    def _time_is_stopped(self) -> bool:
        return not self._episode or self._paused or self._waiting

    # Stepping and publishing --------------------------------------------------------------

    def _step(self) -> None:
        simulation = self._simulation
        self._now += self._tick
        simulation.control(self._chunks.target(self._now, simulation.command))
        self._publish()

    def _publish(self) -> None:
        """What is due at this instant: clock and joints always; pictures each frame; the status
        each frame, and at once when a phase changes or a chunk ends. The status comes last, so
        that a subscriber that receives it has the rest of its stamp."""
        state = self._simulation.state()
        self._send(self._clock_topic, Clock(clock=convert.to_time(self._now)))
        self._send(self._joint_states, to_joint_state(state, self._now))
        frame = self._now % PERIOD == 0
        if frame:
            self._last_images.clear()
            for topic, message in self._cameras.take(self._now).items():
                self._last_images[self._image_publishers[topic]] = message
                self._image_publishers[topic].publish(message)
        done = self._chunks.done(self._now)
        if frame or state.part_open != self._open or done != self._was_done:
            self._open, self._was_done = dict(state.part_open), done
            status = to_status(
                self._simulation,
                state,
                self._now,
                safe=self._safe,
                episode=self._episode,
                waiting=self._waiting,
                clipped=self._simulation.clipped_actions + self._chunks.clipped,
            )
            self._send(self._status, status)

    def _send(self, publisher, message) -> None:
        self._last[publisher] = message
        publisher.publish(message)

    def run(self, executor: SingleThreadedExecutor) -> int:
        """The loop, until the context is shut down."""
        refreshed = pictured = due = time.monotonic()
        while executor.context.ok():
            if not self._time_is_stopped:
                executor.spin_once(timeout_sec=0)
                if self._time_is_stopped:  # a reset or a pause came in
                    continue
                self._step()
                due = self._pace(executor, due)
                continue
            self._report_ready()
            executor.spin_once(timeout_sec=REFRESH)
            due = now = time.monotonic()
            if now - refreshed >= REFRESH:
                refreshed = now
                self._republish(self._last)
            if now - pictured >= REFRESH_IMAGES:
                pictured = now
                self._republish(self._last_images)
        return 0

    def _report_ready(self) -> None:
        """Log once in an episode, before the first chunk, why time does not advance."""
        if self._waiting and not self._reported_ready:
            self._reported_ready = True
            self.get_logger().info(
                "ready: time waits for a chunk on /policy/action_chunk; "
                "wait_for_action:=false lets it run"
            )

    def _pace(self, executor: SingleThreadedExecutor, due: float) -> float:
        """Serves until the next step is due by the real-time factor; when that was (s)."""
        factor = self.get_parameter("real_time_factor").value
        now = time.monotonic()
        if factor <= 0:
            return now
        due = max(due + self._tick / SECOND / factor, now - 0.1)  # what is lost stays lost
        while (left := due - time.monotonic()) > 0 and executor.context.ok():
            executor.spin_once(timeout_sec=left)
        return due

    def _republish(self, messages: dict[Any, Any]) -> None:
        for publisher, message in messages.items():
            # Joint states that repeat tell a policy that its chunk is due: not in a pause.
            if publisher is not self._joint_states or self._waiting:
                publisher.publish(message)


main = partial(ros.run_node, "sim_node", SimNode, run=SimNode.run)

if __name__ == "__main__":
    sys.exit(main())
