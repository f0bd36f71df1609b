"""Lifecycle node of VQ-Memory: subscribes to /joint_states and publishes /memory/tokens.

`configure` loads the model and fails if it is not valid; `activate` creates the subscriptions. With
`autostart` (the default) the node makes both transitions at startup and exits with code 2 if
`configure` fails. The memory is reset at each new stamp on /episode/started, after a gap in the
joint states, when the clock jumps back, by ~/reset, and when the node is activated.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import subscribe_to_first
from rulesafe_core.lifecycle_node import ManagedNode
from rulesafe_core.messages import to_ns
from rulesafe_core.repeated_ros import RepeatedPublisher
from rulesafe_core.reports import ReportPeriod, counted
from rulesafe_core.ros import run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node import convert
from vq_memory_node.grids import GRIDS, make_grid
from vq_memory_node.memory import TokenMemory, published_memory
from vq_memory_node.resampling import JointFrame, JointStream
from vq_memory_node.rolling import RollingMemory


def _token_memory(values: "MemoryParameters") -> TokenMemory:
    """Return the memory that the parameters select; raise RuleSafeError if there is none."""
    memory = published_memory(values.policy, values.model, values.clusters, values.length)
    if values.model_hash not in ("", memory.hash):
        raise RuleSafeError(
            f"model {memory.model!r} has the hash {memory.hash}; expected {values.model_hash} "
            "(parameter model_hash)"
        )
    return memory


@dataclass(frozen=True)
class MemoryParameters(Settings):
    """Parameters of the memory node."""

    policy: str = setting(
        "",
        "Policy whose memory is published: one that comes with the package, or a checkpoint's "
        "folder. Others, such as classes, have the default memory: all_rules, 4, 40.",
        changeable=True,
        check=_token_memory,
    )
    model: str = setting(
        "",
        "Tokenizer: name of a model that comes with the package, or path of a model folder; empty: "
        "that of the policy.",
        changeable=True,
        check=_token_memory,
    )
    clusters: int = setting(
        0,
        "Vocabulary size: one of the numbers of clusters that the model offers; 0: the policy's.",
        0,
        int(convert.MAX_VOCABULARY),
        changeable=True,
        check=_token_memory,
    )
    length: int = setting(
        0, "Number of tokens in the memory; 0: the policy's.", 0, 1000, changeable=True
    )
    grid: str = setting(
        "sliding",
        f"Where the windows end: {' or '.join(GRIDS)}.",
        changeable=True,
        check=lambda values: make_grid(values.grid),
    )
    model_hash: str = setting(
        "",
        "Required hash of the model, as in MemoryTokens.model_hash; empty: any.",
        changeable=True,
        check=_token_memory,
    )
    max_gap: float = setting(
        0.5,
        "Time without a joint state after which the memory is reset.",
        0.01,
        60,
        "s",
        changeable=True,
    )
    autostart: bool = setting(
        True, "Configure and activate at startup; if false, wait for a lifecycle manager."
    )


class MemoryNode(ManagedNode[MemoryParameters]):
    """Publishes the memory of the received joint states while the node is active."""

    def __init__(self) -> None:
        super().__init__("vq_memory_node", MemoryParameters, publishes="memory/tokens")
        self._memory: RollingMemory | None = None
        self._stream: JointStream | None = None  # set while the node is active
        self._stamp = 0  # ns, of the newest frame
        self._episodes = 0
        self._paused = False  # whether simulated time is paused
        self._statistics = ReportPeriod(time.monotonic())
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(Trigger, "~/publish", self._on_publish)
        self.create_timer(1.0, self.report, clock=Clock(clock_type=ClockType.STEADY_TIME))
        if self.values.autostart:
            self.start()

    # Transitions --------------------------------------------------------------------------

    def load(self) -> None:
        values = self.values
        tokens = _token_memory(values)
        memory = RollingMemory(tokens, make_grid(values.grid, tokens.length))
        self._memory = memory
        self._tokens = RepeatedPublisher(self, MemoryTokens, "memory/tokens", LATCHED_QOS)

    def subscribe(self) -> list[Subscription]:
        assert self._memory is not None
        self._memory.reset()
        self._stream = JointStream(max_gap=round(self.values.max_gap * SECOND))
        self._statistics = ReportPeriod(time.monotonic())
        self._paused = False
        return [
            self.create_subscription(Bool, "episode/paused", self._on_paused, LATCHED_QOS),
            self.create_subscription(Time, "episode/started", self._on_started, LATCHED_QOS),
            subscribe_to_first(self, JointState, "joint_states", self._on_joints, STATE_QOS),
        ]

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._stream = None
        return super().on_deactivate(state)

    def unload(self) -> None:
        self.destroy_lifecycle_publisher(self._tokens.publisher)
        self._memory = None

    # Subscriptions ------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        began = time.perf_counter()
        assert self._stream is not None
        self._statistics.inputs += 1
        repeated = self._stream.counts.duplicates
        stamp, positions = to_ns(message.header.stamp), np.asarray(message.position)
        try:
            frames = self._stream.push(stamp, message.name, positions)
        except RuleSafeError as error:
            self.warn(str(error))
            return
        self._take(frames, began)
        if self._stream.counts.duplicates > repeated:
            # A policy that lost the tokens could not act, and simulated time would never continue.
            self._tokens.repeat()

    def _on_started(self, message: Time) -> None:
        assert self._stream is not None and self._memory is not None
        began, stamp = time.perf_counter(), to_ns(message)
        frames = self._stream.start(stamp)
        if not frames and self._stream.pending:
            self._empty(stamp)
        self._take(frames, began)
        self._warn_if_incomplete()

    def _on_paused(self, message: Bool) -> None:
        self._paused = message.data

    def _take(self, frames: list[JointFrame], began: float) -> None:
        """Add the frames that a message received at `began` (s, perf_counter) completes."""
        assert self._memory is not None
        for frame in frames:
            if frame.begins:
                self.get_logger().info(f"memory reset: {frame.begins}")
                self._warn_if_incomplete()
                self._memory.reset()
                self._episodes += 1
            self._stamp = frame.stamp
            if self._memory.push(frame.position):
                self._send()
                self._statistics.latencies.append(time.perf_counter() - began)

    def _warn_if_incomplete(self) -> None:
        if self._stream and self._stream.incomplete:
            self.warn(self._stream.incomplete)

    def warn(self, text: str) -> None:
        self._statistics.warning = text
        super().warn(text)

    # Services -----------------------------------------------------------------------------

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._stream is None:
            response.message = "the node is not active; activate it first"
            return response
        self._stream.restart("requested by ~/reset")
        self._empty(self._stamp)
        response.success, response.message = True, "the memory was reset"
        return response

    def _on_publish(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._stream is None:
            response.message = "the node is not active; activate it first"
            return response
        mask = self._send()
        response.success = True
        response.message = f"{sum(mask)} of {len(mask)} tokens"
        return response

    # Publishers ---------------------------------------------------------------------------

    def _empty(self, stamp: int) -> None:
        """Reset the memory and publish it, so that subscribers do not use old tokens."""
        assert self._memory is not None
        self._memory.reset()
        self._stamp = stamp
        self._send()

    def _send(self) -> Sequence[bool]:
        """Publish the memory, and return its mask."""
        assert self._memory is not None
        message = convert.to_memory_tokens(self._memory, self._stamp)
        self._tokens.publish(message)
        return message.mask

    def report(self) -> None:
        now, statistics = time.monotonic(), self._statistics
        self._statistics = ReportPeriod(now)
        values: dict[str, object] = {}
        level, text = DiagnosticStatus.OK, "active"
        if self._memory is None:
            level = DiagnosticStatus.ERROR if self.refusal else level
            text = self.refusal or "not configured"
        elif self._stream is None:
            text = "not active"
        else:
            values = statistics.values("token", now) | {
                "episodes": self._episodes,
                "model hash": self._memory.memory.hash,
            }
            values |= counted(self._stream.counts)
            if warning := statistics.warning or self._stream.incomplete:
                level, text = DiagnosticStatus.WARN, warning
            elif self._paused:
                text = "the simulation is paused"
            elif not statistics.inputs:
                level, text = DiagnosticStatus.WARN, "no messages on /joint_states"
        self.diagnostics.publish(level, text, values)


main = partial(run_node, "vq_memory_node", MemoryNode)

if __name__ == "__main__":
    sys.exit(main())
