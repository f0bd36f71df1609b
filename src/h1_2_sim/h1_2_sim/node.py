"""Node that simulates the robot behind the bridge: Unitree's topics, in real time.

It publishes /lowstate at 500 Hz and /inspire/state at 100 Hz, executes /arm_sdk or /lowcmd and
/inspire/cmd, and runs the cameras. It publishes no /clock, since the bridge's watchdogs measure
real time and are to be tested that way. For the evaluator and the expert it also publishes
/episode/status: an episode begins when the bridge has engaged and publishes /episode/started.
"""

import sys
import time
from dataclasses import dataclass, replace
from functools import partial

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.node import Node
from std_msgs.msg import String
from unitree_go.msg import MotorCmds, MotorStates
from unitree_hg.msg import LowCmd, LowState

from h1_2_bridge.ros import take
from h1_2_bridge.wire import encode_low_state
from h1_2_sim.cameras_ros import RobotCameras
from h1_2_sim.controllers import CONTROLLERS, load_controller
from h1_2_sim.convert import ROBOT_QOS
from h1_2_sim.hands import hand_states
from h1_2_sim.pace import StepClock
from h1_2_sim.robot import RATE, RobotSide
from rulesafe_core import convert, messages
from rulesafe_core.cameras import load_cameras
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import (
    Diagnostics,
    declare,
    executing,
    reserve_topic,
    run_beyond_signals,
)
from rulesafe_core.settings import setting
from rulesafe_core.urdf import to_urdf
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_sim.cameras_ros import CameraPublisher, CameraRequest
from rulesafe_sim.convert import to_status
from rulesafe_sim.episodes import Episode
from rulesafe_sim.reset_ros import FirstEpisode, answer_reset
from rulesafe_sim.stand import safe_on_stand

SLOWLY = RATE // 100
"""Steps between two updates of hand states, the lock, services and timers."""

SHUTDOWN_TIMEOUT = 15.0
"""Time to wait after a signal for the bridge to release the robot, s."""

HURRY = SECOND // 50
"""Delay behind real time (ns) above which only every fifth robot state is published, so that the
physics can catch up."""

WARNING_PERIOD = 5.0
"""Shortest time between two warnings, s."""


@dataclass(frozen=True)
class RobotParameters(FirstEpisode):
    """Parameters of the simulated robot's node."""

    start: bool = setting(True, "Start an episode immediately; otherwise wait for /episode/reset.")
    listens_to: str = setting(
        "arm_sdk", f"Topic whose commands are executed: {' or '.join(CONTROLLERS)}."
    )
    cameras: bool = setting(True, "Publish images and depth at 10 Hz.")
    camera_file: str = setting(
        "", "YAML file of the cameras (docs/interface.md); empty: head and front."
    )


class RobotSideNode(Node):
    """The simulated robot and its topics; `run` is the main loop."""

    def __init__(self) -> None:
        super().__init__("robot_side_node")
        self._reservation = reserve_topic(self, "/lowstate")
        values = declare(self, RobotParameters)
        self._loaded = values.episode()  # raises for unknown names
        self._controller = load_controller(values.listens_to)()
        self._robot = RobotSide(self._controller, values.split)
        cameras = load_cameras(values.camera_file)
        self._cameras: CameraPublisher | None = None
        if values.cameras:
            self._cameras = RobotCameras(self, cameras)
        self._render = True
        self._episode = 0
        self._steps = 0
        self._pace: StepClock | None = None  # None before the first episode
        self._reset_at = 0  # ns of the system clock
        self._began: int | None = None  # ns, the first frame after the bridge has engaged
        self._open: dict[str, bool] = {}
        self._make_topics()
        if values.start:
            self._begin(self._loaded)

    def _make_topics(self) -> None:
        publisher, subscribe = self.create_publisher, self.create_subscription
        self._low_states = publisher(LowState, "/lowstate", ROBOT_QOS)
        self._hand_states = publisher(MotorStates, "/inspire/state", ROBOT_QOS)
        self._status = publisher(EpisodeStatus, "episode/status", convert.STATE_QOS)
        self._instruction = publisher(String, "instruction", convert.LATCHED_QOS)
        self._safe_shape = publisher(String, "episode/safe_description", convert.LATCHED_QOS)
        self._diagnostics = Diagnostics(self)
        self.create_service(ResetEpisode, "episode/reset", self._on_reset)
        controller, hands = self._controller, self._robot.hands
        self._commands = [
            subscribe(LowCmd, controller.topic, controller.receive, ROBOT_QOS, raw=True),
            subscribe(MotorCmds, "/inspire/cmd", hands.receive, ROBOT_QOS, raw=True),
        ]
        subscribe(Time, "episode/started", self._on_started, convert.LATCHED_QOS)
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    # Episodes -----------------------------------------------------------------------------

    def _begin(self, episode: Episode) -> int:
        """Begin an episode and return its number. Raises RuleSafeError and continues the running
        episode if the episode cannot be reset."""
        if self._controller.share:
            raise RuleSafeError(
                "cannot reset the robot while the bridge controls the arm (weight "
                f"{self._controller.share:.2f}): run rulesafe bridge disengage first"
            )
        episode = replace(episode, variation=episode.fixed())
        prepare = self._cameras.begin if self._cameras else lambda simulation: None
        self._robot.reset(episode.source, episode.safe, episode.seed, episode.variation, prepare)
        # Later requests of a rule and a safe have the split of the parameters.
        self._loaded = replace(episode, split=self._loaded.split)
        self._episode += 1
        self._steps = 0
        self._began, self._open = None, {}
        self._reset_at = time.time_ns()
        self._pace = StepClock(SECOND // RATE, time.monotonic_ns(), self._reset_at)
        simulation = self._robot.simulation
        self._instruction.publish(String(data=simulation.rule.description))
        shown = safe_on_stand(simulation.safe, simulation.pose_safe_in_pelvis)
        self._safe_shape.publish(String(data=to_urdf(shown)))
        return self._episode

    def _on_reset(self, request, response):
        return answer_reset(request, response, self._loaded, self._begin)

    def _on_started(self, message: Time) -> None:
        stamp = messages.to_ns(message)
        if stamp >= self._reset_at:  # an older stamp belongs to the previous episode
            self._began = -(-stamp // PERIOD) * PERIOD

    # Stepping and publishing --------------------------------------------------------------

    def _step(self, pace: StepClock) -> None:
        lost, clock = pace.lost, time.monotonic_ns()
        hurried = pace.behind(clock) > HURRY and self._steps % SLOWLY
        stamp = pace.step(clock)
        if pace.lost > lost:
            self.get_logger().warning(
                f"slower than real time: {pace.lost / SECOND:.1f} s skipped so far; reduce this "
                "machine's load or set cameras:=false",
                throttle_duration_sec=WARNING_PERIOD,
            )
        if not hurried:
            self._take_commands()
        self._robot.step()
        self._steps += 1
        if not hurried:
            self._low_states.publish(encode_low_state(self._robot.low_state(stamp)))
        if self._steps % SLOWLY == 0:
            self._hand_states.publish(hand_states(*self._robot.hand_state()))
            self._publish_status(pace)
        cameras = self._cameras if pace.frame and self._render else None
        if cameras and cameras.published():  # otherwise the cameras skip a frame
            cameras.show(CameraRequest(stamp, self._robot.simulation.joints(), 0))

    def _publish_status(self, pace: StepClock) -> None:
        """Publish the status of an episode, with its elapsed time, at frames and phase changes."""
        stamp = pace.stamp
        if self._began is None or stamp < self._began:
            return
        state = self._robot.simulation.state()
        if not pace.frame and state.part_open == self._open:
            return
        self._open = dict(state.part_open)
        since = stamp - self._began
        status = to_status(
            self._robot.simulation,
            replace(state, time=since / SECOND, frame=since // PERIOD),
            stamp,
            safe=self._loaded.safe,
            episode=self._episode,
            waiting=False,
            clipped=0,
        )
        self._status.publish(status)

    def _report(self) -> None:
        hands, body = self._robot.hands.counts, self._controller.counts
        refused = [f"{reason} {count}" for reason, count in body.items() if reason != "accepted"]
        bad = [f"hand {reason} {count}" for reason, count in hands.items() if reason != "accepted"]
        wrong = ", ".join(refused + bad)
        level = DiagnosticStatus.WARN if wrong else DiagnosticStatus.OK
        values = {
            "commands": body["accepted"],
            "hand commands": hands["accepted"],
            "share of the arm": f"{self._controller.share:.3f}",
            "lost (s)": f"{self._pace.lost / SECOND if self._pace else 0:.1f}",
        }
        text = f"commands refused: {wrong}" if wrong else "no commands refused"
        self._diagnostics.publish(level, text, values)

    def _take_commands(self) -> None:
        """Process received commands without an executor, which is too slow at 500 Hz."""
        for subscription in self._commands:
            take(subscription, ROBOT_QOS.depth)

    def run(self, executor: Executor, signals: list[int]) -> None:
        """Run until a signal, then until the bridge has released the arm.

        `ros2 launch` interrupts this node and the bridge together, so the node waits for the bridge
        for at most SHUTDOWN_TIMEOUT. A second signal ends the loop immediately.
        """
        end = float("inf")
        while not signals or (self._controller.share and len(signals) == 1):
            if signals and end == float("inf"):
                end = time.monotonic() + SHUTDOWN_TIMEOUT
                self._render = False
            if time.monotonic() > end:
                break
            if self._pace is None:
                executor.spin_once(timeout_sec=PERIOD / SECOND)
                continue
            if self._steps % SLOWLY == 0:
                executor.spin_once(timeout_sec=0)
            time.sleep(self._pace.wait(time.monotonic_ns()) / SECOND)
            self._step(self._pace)

    def destroy_node(self) -> None:
        if self._cameras:
            self._cameras.close()
        super().destroy_node()


def _run(signals: list[int]) -> None:
    with executing(RobotSideNode) as (node, executor):
        node.run(executor, signals)


main = partial(run_beyond_signals, "robot_side_node", _run)

if __name__ == "__main__":
    sys.exit(main())
