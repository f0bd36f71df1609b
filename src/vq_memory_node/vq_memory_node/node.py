"""VQ-Memory on a ROS 2 graph: /joint_states in, /memory/tokens out.

A lifecycle node. `configure` loads the model, or refuses it with the reason; `activate` starts to
listen. With `autostart` (the default) it does both by itself, and ends with exit code 2 where
`configure` would refuse. The memory is emptied at each stamp that /episode/started tells, at a gap
or a jump of the clock, by ~/reset, and when the node is activated.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import LATCHED_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.lifecycle_node import ManagedNode
from rulesafe_core.messages import to_ns
from rulesafe_core.ros import run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node import convert
from vq_memory_node.grids import GRIDS, make_grid
from vq_memory_node.memory import TokenMemory
from vq_memory_node.resampling import JointFrame, JointStream
from vq_memory_node.rolling import RollingMemory
from vq_memory_node.windows import LENGTH


@dataclass(frozen=True)
class MemoryParameters(Settings):
    """Parameters of the memory node."""

    model: str = setting(
        "all_rules_hand",
        "Tokenizer: a model that comes with the package, or a model's folder.",
        changeable=True,
    )
    clusters: int = setting(
        4,
        "Tokens in the vocabulary: one of the model's clusterings.",
        1,
        int(convert.MAX_VOCABULARY),
        changeable=True,
    )
    length: int = setting(LENGTH, "Number of tokens in the memory.", 1, 1000, changeable=True)
    grid: str = setting("sliding", f"Where the windows end: {' or '.join(GRIDS)}.", changeable=True)
    model_hash: str = setting(
        "",
        "Hash that the model must have, as MemoryTokens carries it; empty: any.",
        changeable=True,
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
        True, "Configure and activate at once; otherwise wait for a lifecycle manager."
    )


@dataclass
class _Second:
    """What happened since the last report."""

    since: float  # s of wall time
    samples: int = 0
    tokens: int = 0
    latency: float = 0.0  # s, from a joint state's callback to its token's publication, summed
    worst: float = 0.0  # s
    complaint: str = ""


class MemoryNode(ManagedNode[MemoryParameters]):
    """A stream of joint states and the memory of it, while the node is active."""

    def __init__(self) -> None:
        super().__init__("vq_memory_node", MemoryParameters, publishes="/memory/tokens")
        self._memory: RollingMemory | None = None
        self._stream: JointStream | None = None  # while active
        self._stamp = 0  # ns, of the newest frame
        self._episodes = 0
        self._second = _Second(time.monotonic())
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(Trigger, "~/publish", self._on_publish)
        self.create_timer(1.0, self.report, clock=Clock(clock_type=ClockType.STEADY_TIME))
        if self.values.autostart:
            self.start()

    # Transitions --------------------------------------------------------------------------

    def load(self) -> None:
        values = self.values
        memory = TokenMemory(values.model, values.clusters, values.length)
        if values.model_hash not in ("", memory.hash):
            raise RuleSafeError(
                f"model {memory.model!r} has the hash {memory.hash}; expected {values.model_hash}"
            )
        self._memory = RollingMemory(memory, make_grid(values.grid, values.length))
        self._tokens = self.create_lifecycle_publisher(MemoryTokens, "/memory/tokens", LATCHED_QOS)

    def subscribe(self) -> list[Subscription]:
        assert self._memory is not None
        self._memory.reset()
        self._stream = JointStream(max_gap=round(self.values.max_gap * SECOND))
        self._second = _Second(time.monotonic())
        return [
            self.create_subscription(Time, "/episode/started", self._on_started, LATCHED_QOS),
            self.create_subscription(
                JointState, "/joint_states", self._on_joints, convert.JOINTS_QOS
            ),
        ]

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._stream = None
        return super().on_deactivate(state)

    def unload(self) -> None:
        self.destroy_lifecycle_publisher(self._tokens)
        self._memory = None

    # What comes in ------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        began = time.perf_counter()
        assert self._stream is not None
        self._second.samples += 1
        bad = self._stream.counts.not_finite
        stamp, positions = to_ns(message.header.stamp), np.asarray(message.position)
        try:
            frames = self._stream.push(stamp, message.name, positions)
        except RuleSafeError as error:
            self.complain(str(error))
            return
        if self._stream.counts.not_finite > bad:
            self.complain("joint states with NaN or infinity: left out")
        self._take(frames, began)

    def _on_started(self, message: Time) -> None:
        assert self._stream is not None and self._memory is not None
        began, stamp = time.perf_counter(), to_ns(message)
        if stamp == self._stream.started:
            return
        frames = self._stream.start(stamp)
        if not frames:
            self._empty(stamp)
        self._take(frames, began)

    def _take(self, frames: list[JointFrame], began: float) -> None:
        """Remembers frames that a message completed at `began` (s, perf_counter)."""
        assert self._memory is not None
        for frame in frames:
            if frame.begins:
                self.get_logger().info(f"the memory begins anew: {frame.begins}")
                self._memory.reset()
                self._episodes += 1
            self._stamp = frame.stamp
            if self._memory.push(frame.position):
                self._send()
                latency = time.perf_counter() - began
                self._second.tokens += 1
                self._second.latency += latency
                self._second.worst = max(self._second.worst, latency)

    def complain(self, text: str) -> None:
        self._second.complaint = text
        super().complain(text)

    # What is asked for --------------------------------------------------------------------

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._stream is None:
            response.message = "the node is not active"
            return response
        self._stream.restart("asked for")
        self._empty(self._stamp)
        response.success, response.message = True, "the memory is empty"
        return response

    def _on_publish(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._stream is None:
            response.message = "the node is not active"
            return response
        mask = self._send()
        response.success = True
        response.message = f"{sum(mask)} of {len(mask)} tokens"
        return response

    # What goes out ------------------------------------------------------------------------

    def _empty(self, stamp: int) -> None:
        """Forgets, and says so, lest somebody reads tokens of the past episode."""
        assert self._memory is not None
        self._memory.reset()
        self._stamp = stamp
        self._send()

    def _send(self) -> Sequence[bool]:
        """Publishes what the memory tells; its mask."""
        assert self._memory is not None
        message = convert.to_memory_tokens(self._memory, self._stamp)
        self._tokens.publish(message)
        return message.mask

    def report(self) -> None:
        now, second = time.monotonic(), self._second
        self._second = _Second(now)
        values: dict[str, object] = {}
        level, text = DiagnosticStatus.OK, "remembering"
        if self._memory is None:
            level = DiagnosticStatus.ERROR if self.refusal else level
            text = self.refusal or "not configured"
        elif self._stream is None:
            text = "not active"
        else:
            values = self._measures(now, second)
            if second.complaint:
                level, text = DiagnosticStatus.WARN, second.complaint
            elif not second.samples:
                level, text = DiagnosticStatus.WARN, "no joint states"
        self.diagnostics.publish(level, text, values)

    def _measures(self, now: float, second: _Second) -> dict[str, object]:
        """Rates per second of wall time, and what was left out since the activation."""
        assert self._memory is not None and self._stream is not None
        seconds = max(now - second.since, 1e-3)
        mean = second.latency / second.tokens if second.tokens else 0.0
        return {
            "input rate (Hz)": f"{second.samples / seconds:.1f}",
            "token rate (Hz)": f"{second.tokens / seconds:.1f}",
            "latency of a token, mean (ms)": f"{1e3 * mean:.3f}",
            "latency of a token, worst (ms)": f"{1e3 * second.worst:.3f}",
            "episodes": self._episodes,
            "model hash": self._memory.memory.hash,
        } | {key.replace("_", " "): count for key, count in asdict(self._stream.counts).items()}


main = partial(run_node, "vq_memory_node", MemoryNode)

if __name__ == "__main__":
    sys.exit(main())
