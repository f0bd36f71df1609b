"""The policy node: subscribes to the policy's inputs, publishes chunks on /policy/action_chunk.

A lifecycle node. `configure` loads the policy and fails if it is invalid; `activate` subscribes to
the policy's input topics and fails if one has no publisher. With `autostart` (the default) the node
configures itself at startup and activates itself when all input topics have publishers.
Inference runs in a separate thread and does not block callbacks. A chunk is inferred at the first
frame of an episode and whenever `execute_steps` steps of the last chunk have passed. If the
simulation waits for actions (`wait_for_action`), one chunk is published each time it waits. The
node does not subscribe to privileged topics such as /episode/status.
"""

import sys
import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.subscription import Subscription
from sensor_msgs.msg import Image, JointState, PointCloud2
from std_msgs.msg import String

from policy_node import convert
from policy_node.inference import InferenceRequest, InferenceWorker, RequestSchedule
from policy_node.loading import check_policy, close_policy, find_policy, memory_of_policy
from policy_node.policy import CHUNK, Policy
from policy_node.synchroniser import Synchroniser
from rulesafe_core.callbacks_ros import describe_error
from rulesafe_core.cameras import POINTS, POINTS_TOPIC
from rulesafe_core.chunks import SECOND
from rulesafe_core.chunks_ros import CHUNKS, ChunkPublisher
from rulesafe_core.convert import IMAGE_QOS, LATCHED_QOS, STATE_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import subscribe_to_first
from rulesafe_core.lifecycle_node import SUCCESS, ManagedNode
from rulesafe_core.messages import decode_cloud, decode_image, to_ns
from rulesafe_core.namespaces import relative
from rulesafe_core.reports import ReportPeriod, counted
from rulesafe_core.ros import reserve_topic, run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_interfaces.msg import MemoryTokens
from rulesafe_locks.lock_sets import instruction_for
from vq_memory_node.memory import TokenMemory, VqMemory
from vq_memory_node.rolling import RollingMemory

FIRST_LOG, NEXT_LOG = 5.0, 10.0
"""Wall time (s) after which missing inputs are logged first, and between later logs."""

ELSEWHERE = "; sim_evaluation.launch.xml and robot.launch.xml also accept expert and none"
"""Hint for a misspelt `policy:=expert`, with which these launch files start this node."""


@dataclass(frozen=True)
class PolicyParameters(Settings):
    """Parameters of the policy node."""

    policy: str = setting(
        "",
        "Name of a shipped policy, folder of a checkpoint, module:Class, or an address such as "
        "openpi://HOST:PORT.",
        changeable=True,
        check=lambda values: check_policy(values.policy),
    )
    execute_steps: int = setting(
        12, "Steps of a chunk after which the next chunk is inferred.", 1, CHUNK, changeable=True
    )
    threads: int = setting(1, "CPU threads of a trained policy.", 1, 256, changeable=True)
    device: str = setting("cpu", "Torch device of a checkpoint, such as cpu or cuda.")
    tolerance: float = setting(
        0.05,
        "Maximum difference between the stamps of an image or point cloud and of its frame.",
        0,
        0.05,
        "s",
        changeable=True,
    )
    max_gap: float = setting(
        0.5, "Gap in joint states that starts a new episode.", 0.01, 60, "s", changeable=True
    )
    autostart: bool = setting(
        True,
        "Configure at startup and activate when all input topics have publishers. False: a "
        "lifecycle manager triggers these transitions.",
    )
    patience: float = setting(
        60.0, "Wall time that autostart waits for publishers.", 0.1, 36000, "s"
    )


class PolicyNode(ManagedNode[PolicyParameters]):
    """Runs inference and publishes action chunks while the node is active."""

    def __init__(self) -> None:
        super().__init__("policy_node", PolicyParameters)
        self._policy: Policy | None = None
        self._memory: RollingMemory | None = None
        self._published: TokenMemory | None = None  # memory whose tokens vq_memory_node publishes
        self._sync: Synchroniser | None = None  # set while the node is active
        self._schedule: RequestSchedule | None = None  # set while the node is active
        self._pending: tuple[RequestSchedule, InferenceRequest] | None = None  # the last request
        self._mismatch = ""  # difference between /memory/tokens and the policy's memory
        self._statistics = ReportPeriod(time.monotonic())
        self._stale = 0  # chunks of past episodes, which were discarded, since the activation
        self._start_time = time.monotonic()
        self._silent: set[str] = set()  # input topics without a message since activation
        self._log_due = self._start_time + FIRST_LOG
        result = self.create_guard_condition(self._on_result)
        self._worker = InferenceWorker(result.trigger)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0, self.report, clock=steady)
        self.create_timer(0.2, self._on_timer, clock=steady)
        self._autostarting = self.values.autostart
        if self._autostarting and self.trigger_configure() != SUCCESS:
            hint = ELSEWHERE if self.refusal.startswith("no policy") else ""
            raise RuleSafeError(f"not configured: {self.refusal}{hint}")

    # Transitions --------------------------------------------------------------------------

    def load(self) -> None:
        values = self.values
        policy = find_policy(values.policy, values.threads, values.device, self.warn)
        memory = memory_of_policy(policy)
        self._memory = RollingMemory(memory)
        self._published = memory if isinstance(memory, VqMemory) else None
        self._policy = policy
        self._chunks = ChunkPublisher(self)

    def _input_topics(self) -> dict[str, tuple]:
        """Return the policy's input topics: topic -> message type, QoS profile, callback."""
        assert self._policy is not None
        needs = self._policy.needs
        topics: dict[str, tuple] = {"/joint_states": (JointState, STATE_QOS, self._on_joints)}
        if needs.instruction:
            topics["/instruction"] = (String, LATCHED_QOS, self._on_instruction)
        if needs.memory and self._published:
            topics["/memory/tokens"] = (MemoryTokens, convert.TOKENS_QOS, self._on_tokens)
        if needs.points:
            topics[POINTS_TOPIC] = (PointCloud2, IMAGE_QOS, self._on_cloud)
        for camera in needs.image_cameras:
            on_image = partial(self._on_image, camera)
            topics[needs.cameras[camera].topic()] = (Image, IMAGE_QOS, on_image)
        return topics

    def _missing_topics(self) -> list[str]:
        return [
            topic for topic in self._input_topics() if not self.count_publishers(relative(topic))
        ]

    def subscribe(self) -> list[Subscription]:
        assert self._policy is not None
        if missing := self._missing_topics():
            raise RuleSafeError(f"no publisher on {', '.join(missing)}")
        self._reservation = reserve_topic(self, CHUNKS)
        own_memory = self._policy.needs.memory and not self._published
        self._sync = Synchroniser(
            self._policy.needs,
            round(self.values.tolerance * SECOND),
            round(self.values.max_gap * SECOND),
            self._memory if own_memory else None,
        )
        self._schedule = RequestSchedule(self._sync, self.values.execute_steps)
        self._chunk_episode = 0  # of the last chunk; no chunk yet
        self._mismatch, self._stale = "", 0
        self._statistics = ReportPeriod(time.monotonic())
        self._silent = set(self._input_topics())
        self._resized: set[str] = set()  # cameras with images of another size
        self._log_due = time.monotonic() + FIRST_LOG
        topics = {"/episode/started": (Time, LATCHED_QOS, self._on_started)} | self._input_topics()
        # Waiting messages are processed in the order in which subscriptions are created.
        # /joint_states is the last, since a joint state can complete an observation: messages that
        # belong to it must be processed before, above all /instruction, which has no stamp.
        exclusive = partial(subscribe_to_first, self)
        inputs = sorted(topics.items(), key=lambda item: item[0] == "/joint_states")
        return [
            (exclusive if topic == "/joint_states" else self.create_subscription)(
                kind, relative(topic), self._handler(topic, callback), qos
            )
            for topic, (kind, qos, callback) in inputs
        ]

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._sync, self._schedule = None, None
        if self._reservation:
            self._reservation.close()
        return super().on_deactivate(state)

    def unload(self) -> None:
        self.destroy_lifecycle_publisher(self._chunks.publisher)
        self._close_policy()

    def _close_policy(self) -> None:
        if self._policy is not None:
            close_policy(self._policy)  # also ends an inference on a server
        self._policy = None

    def _activate(self) -> None:
        """Activate if all input topics have publishers; raise RuleSafeError after `patience`."""
        if missing := self._missing_topics():
            if time.monotonic() - self._start_time > self.values.patience:
                raise RuleSafeError(f"not activated: no publisher on {', '.join(missing)}")
            return
        self._autostarting = False
        if self.trigger_activate() != SUCCESS:
            raise RuleSafeError(f"not activated: {self.refusal}")

    # Subscriptions ------------------------------------------------------------------------

    def _handler(self, topic, callback):
        """Return a callback that warns of invalid messages, and requests a chunk if one is due."""

        def handle(message) -> None:
            assert self._sync is not None
            self._silent.discard(topic)
            self._statistics.inputs += 1
            try:
                callback(self._sync, message)
            except RuleSafeError as error:
                self.warn(str(error))
            else:
                self._request_chunk()

        return handle

    def _on_started(self, sync: Synchroniser, message: Time) -> None:
        sync.start(to_ns(message))

    def _on_joints(self, sync: Synchroniser, message: JointState) -> None:
        stamp = to_ns(message.header.stamp)
        sync.joints(stamp, message.name, np.asarray(message.position))

    def _on_instruction(self, sync: Synchroniser, message: String) -> None:
        assert self._policy is not None
        sync.instruction = instruction_for(message.data, self._policy.needs.instruction_length)

    def _on_tokens(self, sync: Synchroniser, message: MemoryTokens) -> None:
        assert self._published is not None
        try:
            reading = convert.to_reading(message, self._published)
        except RuleSafeError as error:
            self._mismatch = str(error)
            raise
        self._mismatch = ""  # the memory was restarted with the right model
        sync.reading(to_ns(message.header.stamp), reading)

    def _on_cloud(self, sync: Synchroniser, message: PointCloud2) -> None:
        sync.camera_data(POINTS, to_ns(message.header.stamp), decode_cloud(message))

    def _on_image(self, camera: str, sync: Synchroniser, message: Image) -> None:
        assert self._policy is not None
        image, config = decode_image(message), self._policy.needs.cameras[camera]
        if image.shape != config.shape and camera not in self._resized:
            self._resized.add(camera)
            self.get_logger().warning(
                f"{config.topic()} has images of {message.width} x {message.height} pixels; their "
                f"central part is resized to {config.width} x {config.height}, as for the training"
            )
        sync.camera_data(camera, to_ns(message.header.stamp), image)

    def warn(self, text: str) -> None:
        self._statistics.warning = text
        super().warn(text)

    # Inference and publishers -------------------------------------------------------------

    def _request_chunk(self, fill: bool = False) -> None:
        """Start an inference if it is due; `fill`: take missing parts from neighbouring frames."""
        if self._schedule is None or self._worker.busy or self._mismatch:
            return
        try:
            request = self._schedule.request(fill)
        except RuleSafeError as error:
            self.warn(str(error))
            return
        if request:
            assert self._policy is not None
            self._pending = self._schedule, request
            self._worker.submit(self._policy, request)

    def _on_result(self) -> None:
        """Publish the chunk of the worker. An exception of the policy ends the episode."""
        schedule, request = self._pending or (None, None)
        same_schedule = schedule is not None and schedule is self._schedule
        try:
            result = self._worker.take()
        except Exception as error:
            # An error in a past episode does not affect the current one.
            if schedule and request and same_schedule and schedule.is_current(request):
                self._fail_episode(schedule, describe_error(error))
            else:
                self._stale += 1
                self._request_chunk()
            return
        if result is None:
            return
        if schedule and same_schedule and schedule.accept(result.request, len(result.chunk)):
            self._statistics.latencies.append(result.seconds)
            self._chunks.send(result.chunk, result.request.stamp)
            self._chunk_episode = result.request.episode
        else:
            self._stale += 1
        self._request_chunk()

    def _fail_episode(self, schedule: RequestSchedule, reason: str) -> None:
        schedule.failure = reason
        self.get_logger().error(reason)
        self.report()

    def _log_missing(self) -> None:
        """Log the input topics that the node waits for, after FIRST_LOG and every NEXT_LOG."""
        if time.monotonic() < self._log_due:
            return
        self._log_due = time.monotonic() + NEXT_LOG
        if self._autostarting and (missing := self._missing_topics()):
            self.get_logger().warning(f"waiting for a publisher on {', '.join(missing)}")
        elif self._sync and self._silent:
            topics = ", ".join(sorted(self._silent))
            self.get_logger().warning(f"no message yet on {topics}; check the publishing nodes")

    def _on_timer(self) -> None:
        self._log_missing()
        if self._autostarting:
            self._activate()
        elif self._sync and self._schedule and not self._worker.busy:
            self._check_time(self._sync, self._schedule)

    def _check_time(self, sync: Synchroniser, schedule: RequestSchedule) -> None:
        """If time has stopped, publish a lost chunk again, or complete the observation."""
        if not schedule.time_stopped(time.monotonic()) or self._resend(sync):
            return
        schedule.request_now()
        self._request_chunk(fill=True)
        if not self._worker.busy and (missing := sync.missing(sync.newest, fill=True)):
            self.warn(f"/joint_states repeats one stamp; the observation lacks {missing[0]}")

    def _resend(self, sync: Synchroniser) -> bool:
        """Publish the last chunk again if it is that of the newest frame."""
        return sync.episode == self._chunk_episode and self._chunks.resend(sync.newest)

    def report(self) -> None:
        now, statistics = time.monotonic(), self._statistics
        values: dict[str, object] = {}
        level, text = DiagnosticStatus.OK, "acting"
        if self._policy is None:
            text = "not configured"
            if self.refusal:
                level, text = DiagnosticStatus.ERROR, f"{text}: {self.refusal}"
        elif self._sync is None:
            text = "not active"
            if self._autostarting:
                missing = ", ".join(self._missing_topics())
                level, text = DiagnosticStatus.WARN, f"waiting for a publisher on {missing}"
            elif self.refusal:
                level, text = DiagnosticStatus.ERROR, f"not activated: {self.refusal}"
        else:
            self._statistics = ReportPeriod(now)
            values = statistics.values("chunk", now) | {
                "chunks of a past episode": self._stale,
                "episodes": self._sync.episode,
            }
            values |= counted(self._sync.counts) | counted(self._sync.stream.counts)
            failure = self._mismatch or (self._schedule.failure if self._schedule else "")
            if failure:
                level, text = DiagnosticStatus.ERROR, failure
                values["episode_started"] = self._sync.first or 0
            elif warning := statistics.warning or self._sync.incomplete:
                level, text = DiagnosticStatus.WARN, warning
        self.diagnostics.publish(level, text, values)

    def destroy_node(self) -> None:
        self._worker.close()
        self._close_policy()
        super().destroy_node()


main = partial(run_node, "policy_node", PolicyNode)

if __name__ == "__main__":
    sys.exit(main())
