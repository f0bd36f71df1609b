"""ROS 2 node of the evaluator: runs the episodes of an evaluation in the simulation of a graph.

It is another engine of `rulesafe eval`: the same request, episodes, folder and results. The
episodes given by its parameters start at once; the exit code is 1 if a door was not opened, and 0
if all were or SIGINT interrupted the node. With `episodes` at 0 the node serves the action
/evaluate until it is stopped.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import CompressedImage, Image

from planner_node.reach import out_of_reach
from policy_node.convert import TOKENS_QOS
from rulesafe_core.cameras import load_cameras
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.convert import IMAGE_QOS, STATE_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_image, to_ns
from rulesafe_core.namespaces import relative
from rulesafe_core.repeated_ros import RepeatedRequest
from rulesafe_core.ros import (
    UNNAMED,
    declare,
    executing,
    publishers_of,
    reserve_topic,
    ros_context,
    run_node,
    serve,
)
from rulesafe_core.settings import Settings, setting
from rulesafe_data.films.episode import EpisodeMonitor, VideoRecorder
from rulesafe_data.films.messages import decode_memory, decode_status
from rulesafe_data.run_folder import Line, results_folder
from rulesafe_eval.agents import facts_of_agent
from rulesafe_eval.conclusion import conclude
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.convert import failures
from rulesafe_eval.diagnosis import Diagnosis
from rulesafe_eval.recorder_ros import wait_for_recorder
from rulesafe_eval.request import EXECUTE, EXECUTION, EvaluationRequest, Setup
from rulesafe_eval.results import evaluation, write_results
from rulesafe_eval.runner import line_out_of_reach, write_actions
from rulesafe_eval.videos import folder_of
from rulesafe_interfaces.action import Evaluate
from rulesafe_interfaces.msg import EpisodeStatus, MemoryTokens
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import DEFAULT_SPLIT, SECONDS_A_STEP, EpisodeRecord
from rulesafe_sim.episodes import EVALUATION_SEEDS, Episode, OutOfReach, place

MAX_EPISODES = 10_000
"""Maximum number of episodes of an evaluation."""


@dataclass(frozen=True)
class EvaluatorParameters(Settings):
    """Parameters of the evaluator node."""

    policy: str = setting(
        "none", "Name of the policy for the results; another node of the graph runs it."
    )
    rule: str = setting("rule_001", "Rules, rule sets and lock files, comma-separated.")
    safe: str = setting("safe_01", "Safes, comma-separated, used in turn; all: of the split.")
    split: str = setting(DEFAULT_SPLIT, "Split of the variations, or the path of a YAML file.")
    seed: int = setting(
        0, "Seed of the first episode; each further one adds 1.", 0, EVALUATION_SEEDS - 1
    )
    episodes: int = setting(
        1, "Number of episodes of each rule; 0: only serve /evaluate.", 0, MAX_EPISODES
    )
    step_seconds: float = setting(
        SECONDS_A_STEP, "Simulated time limit for each step of the shortest plan.", 0.01, 1000, "s"
    )
    benchmark: str = setting(
        "",
        "Benchmark whose episodes are run, instead of rule, safe, split, seed, episodes and "
        "step_seconds; empty: none.",
    )
    execute_steps: int = setting(
        EXECUTE, "Executed steps of each chunk of the policy, for the results.", 0, 1000
    )
    execution: str = setting(
        EXECUTION, "How the simulation executes overlapping chunks, for the results."
    )
    stall_limit: float = setting(
        180.0,
        "Wall time without progress of simulated time after which the episode fails.",
        1,
        36_000,
        "s",
    )
    recorded: bool = setting(
        False,
        "Wait for a recorder (rulesafe bag record, ros2 bag record) to subscribe, so that the bag "
        "has the complete first episode; without one the episodes start after 60 s. Goals of "
        "/evaluate do not wait.",
    )
    out: str = setting(
        "",
        "Directory of the results; empty: runs/(date and time). Each goal of /evaluate has its own "
        "folder, named by date and time.",
    )
    film: bool = setting(True, "Write film.mp4 and sheet.png if images are published.")
    camera_file: str = setting(
        "", "YAML file of the video's cameras (docs/interface.md); empty: head and front."
    )
    film_topics: bool = setting(
        False, "Use the larger images on /film/CAMERA/compressed (parameter film of sim_node)."
    )

    def conditions(self) -> Conditions:
        """Return the conditions of the episodes."""
        if self.benchmark:
            return Conditions(benchmark=self.benchmark)
        return Conditions(
            rules=self.rule,
            safes=self.safe,
            episodes=self.episodes,
            split=self.split,
            seed=self.seed,
            step_seconds=self.step_seconds,
        )

    def request(self, conditions: Conditions) -> EvaluationRequest:
        """Return the request for conditions. Raises RuleSafeError if one is not valid."""
        setup = Setup(self.policy, self.execute_steps, self.execution)
        return check_request(conditions.request(setup, facts_of_agent(self.policy)))


SERVICE_TIMEOUT = 60.0
"""Wall time (s) to wait for the simulation's service."""

RETRY_PERIOD = 20.0
"""Wall time (s) after which an unanswered /episode/reset request is sent again."""

STATUS_TIMEOUT = 30.0
"""Wall time (s) without a status after which the episode fails. A running simulation publishes ten
statuses per second, also while simulated time is paused."""

Report = Callable[[list[Line]], None]


def check_request(request: EvaluationRequest) -> EvaluationRequest:
    """Return a request. Raises RuleSafeError if it cannot be run over ROS."""
    count = len(request.rules) * request.episodes
    if count > MAX_EPISODES:
        raise RuleSafeError(f"an evaluation has at most {MAX_EPISODES} episodes, got {count}")
    return request


def conditions_of(goal: Evaluate.Goal) -> Conditions:
    """Return the conditions of a goal."""
    if goal.benchmark:
        return Conditions(benchmark=goal.benchmark)
    return Conditions(
        rules=goal.rules or "all",
        safes=goal.safes or "all",
        episodes=goal.episodes,
        split=goal.split or DEFAULT_SPLIT,
        seed=goal.seed,
        step_seconds=goal.step_seconds or SECONDS_A_STEP,
    )


def ends_frame(status: EpisodeStatus) -> bool:
    """Return whether a status is that of the end of a frame, or of a simulation that waits.

    An episode ends at the end of a frame, as in process.
    """
    frames = status.episode_time * SECOND / PERIOD
    return bool(status.waiting) or abs(frames - round(frames)) < 0.01


class FrameLog:
    """Diagnosis and actions of an episode, from its statuses at the ends of frames."""

    def __init__(self) -> None:
        self.diagnosis = Diagnosis()
        self.actions: list[NDArray] = []
        self._frame = -1

    def update(self, status: EpisodeStatus) -> None:
        """Take a status; one that was taken before is ignored."""
        if status.frame <= self._frame:
            return
        self._frame = status.frame
        if status.frame and len(status.action):
            self.actions.append(np.array(status.action, np.float32))
        forces = dict(zip(status.contact_names, status.contact_forces, strict=True))
        self.diagnosis.update(decode_status(status), status.remaining, forces)


class EvaluatorNode(Node):
    """Callbacks update the monitor of the running episode; coroutines await its end."""

    def __init__(self, film: bool = True) -> None:
        super().__init__("evaluator_node")
        self._reservation = reserve_topic(self, "evaluate")
        self._values = declare(self, EvaluatorParameters)
        self.folder = results_folder(self._values.out)
        self._cameras = load_cameras(self._values.camera_file)
        self._request: EvaluationRequest | None = None
        if self._values.episodes:
            # Unknown names are reported before the node waits for the simulation.
            self._request = self._values.request(self._values.conditions())
        self._busy = False
        self._monitor: EpisodeMonitor | None = None
        self._log = FrameLog()
        self._status = EpisodeStatus()
        self._episode = 0  # number of the running episode; 0 before the reset response
        self._early: list[EpisodeStatus] = []  # received before the reset response
        self._status_at = 0.0  # wall time of the last status, s
        self._status_publishers: set[bytes] = set()  # at the reset response
        self._call: RepeatedRequest | None = None
        self._end = Future()
        self._reset = self.create_client(ResetEpisode, "episode/reset")
        self.create_subscription(EpisodeStatus, "episode/status", self._on_status, STATE_QOS)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, STATE_QOS)
        if film and self._values.film:
            large = self._values.film_topics
            for camera in self._cameras:
                topic = camera.film_topic if large else camera.topic()
                kind = CompressedImage if large else Image
                callback = self._on_image(camera.name)
                self.create_subscription(kind, relative(topic), callback, IMAGE_QOS)
            self.create_subscription(MemoryTokens, "memory/tokens", self._on_tokens, TOKENS_QOS)
        self.create_timer(0.25, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._server = ActionServer(
            self,
            Evaluate,
            "evaluate",
            self._on_goal,
            goal_callback=self._on_goal_request,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    # Callbacks ----------------------------------------------------------------------------

    def _on_status(self, status: EpisodeStatus) -> None:
        self._status, self._status_at = status, time.monotonic()
        if self._monitor is None:
            return
        if not self._episode:
            self._early.append(status)
        elif status.episode == self._episode:
            if not ends_frame(status):
                return
            if self._monitor.result is None:
                self._log.update(status)
            stamp, now = to_ns(status.header.stamp), decode_status(status)
            self._monitor.update(stamp, now, status.waiting)
        elif status.episode > self._episode:
            self._monitor.give_up("another client of /episode/reset started a new episode")

    def _on_image(self, camera: str) -> Callable[[Image | CompressedImage], None]:
        def take(message: Image | CompressedImage) -> None:
            if self._monitor is None:
                return
            try:
                stamp = to_ns(message.header.stamp)
                self._monitor.add_image(camera, stamp, decode_image(message))
            except RuleSafeError as error:
                self.get_logger().warning(
                    f"images are missing in the video: {error}", throttle_duration_sec=5.0
                )

        return take

    def _on_tokens(self, message: MemoryTokens) -> None:
        if self._monitor is None:
            return
        try:
            self._monitor.tokens(to_ns(message.header.stamp), decode_memory(message))
        except RuleSafeError as error:
            self.get_logger().warning(
                f"tokens are missing in the video: {error}", throttle_duration_sec=5.0
            )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        status = self._status
        began = to_ns(status.header.stamp) - round(status.episode_time * SECOND)
        named = {"episode": self._episode}
        if status.episode == self._episode:
            named["episode_started"] = began
        for key, value, reason in failures(message):
            if self._monitor and named.get(key) == value:
                self._monitor.give_up(reason)

    def _on_timer(self) -> None:
        if self._monitor is None or self._call is None or self._end.done():
            return
        reply = self._call.response
        found = publishers_of(self, "episode/status")
        # A publisher just discovered may have no name yet.
        publishers = {gid: name for gid, name in found.items() if name != UNNAMED}
        if len(names := sorted(set(publishers.values()))) > 1:  # the second may be a bag player
            error = RuleSafeError(
                f"more than one publisher on /episode/status: {' and '.join(names)}; stop all "
                "but one, or use separate ROS_DOMAIN_IDs"
            )
            (self._end if reply.done() else reply).set_exception(error)
            return
        # Episode numbers and stamps of a restarted simulation may equal those before the restart.
        if self._episode and self._status.episode == self._episode:
            self._status_publishers = self._status_publishers or set(publishers)
            if set(publishers) - self._status_publishers:
                self._monitor.give_up("the simulation was restarted during the episode")
        limit = self._values.stall_limit
        if self._monitor.still > limit and not reply.done():
            reason = f"no response of /episode/reset within {limit:g} s"
            reply.set_exception(RuleSafeError(reason))
            return
        self._call.poll()
        if time.monotonic() - self._status_at > STATUS_TIMEOUT:
            self._monitor.give_up(
                f"no message on /episode/status for {STATUS_TIMEOUT:g} s; is the simulation "
                "running?"
            )
        if self._monitor.still > limit:
            self._monitor.give_up(
                f"simulated time did not advance for {limit:g} s: no action chunk was received"
            )
        if self._monitor.over or self._monitor.still > limit:
            self._end.set_result(None)

    def _on_goal_request(self, goal: Evaluate.Goal) -> GoalResponse:
        """Reject an invalid goal and log the reason, which a rejection does not carry."""
        try:
            if self._busy:
                raise RuleSafeError("an evaluation is running; cancel it or wait for its end")
            self._values.request(conditions_of(goal))
        except RuleSafeError as error:
            self.get_logger().error(f"goal of /evaluate rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    async def _on_goal(self, handle) -> Evaluate.Result:
        """Execute a goal of the action /evaluate."""
        folder = self._goal_folder()
        done: list[Line] = []
        message = ""

        def report(lines: list[Line]) -> None:
            done[:] = lines
            feedback = Evaluate.Feedback(
                episodes_done=len(lines),
                successes=sum(line["opened"] for line in lines),
                status=self._status,
            )
            handle.publish_feedback(feedback)

        try:
            request = self._values.request(conditions_of(handle.request))
            await self.evaluate(request, folder, report, lambda: bool(handle.is_cancel_requested))
        except RuleSafeError as error:
            message = str(error)
            self.get_logger().error(f"goal of /evaluate aborted: {message}")
            handle.abort()
        else:
            if handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.succeed()
        scores = [line["process_score"] for line in done]
        return Evaluate.Result(
            episodes=len(done),
            successes=sum(line["opened"] for line in done),
            mean_process_score=sum(scores) / len(scores) if scores else 0.0,
            results_path=str(folder / "results.json") if done else "",
            message=message,
        )

    def _goal_folder(self) -> Path:
        """Return a new folder for the results of a goal."""
        name = datetime.now().strftime("%Y-%m-%d_%H-%M-%S_%f")
        return Path(self._values.out or "runs", name).absolute()

    # Episodes -----------------------------------------------------------------------------

    async def evaluate(
        self,
        request: EvaluationRequest,
        folder: Path,
        report: Report = lambda lines: None,
        cancelled: Callable[[], bool] = lambda: False,
        films: int = MAX_EPISODES,
    ) -> dict[str, Any]:
        """Run the missing episodes of a folder one after the other; return what is in results.json.

        Args:
            request, folder: as for `results.evaluate`.
            report: called after each episode with the lines of those that this call ran.
            cancelled: returns whether no further episode is to be run.
            films: number of episodes of each rule with a video, if images are published.

        Raises:
            RuleSafeError: if the simulation rejects an episode or does not respond, or the folder
                has another request.
        """
        self._busy = True
        lines: list[Line] = []
        try:
            with evaluation(request, folder) as opened:
                for episode in opened.missing:
                    if cancelled():
                        break
                    filmed = folder_of(folder, *episode.key) if episode.number < films else None
                    lines.append(await self._run_episode(episode, folder, filmed))
                    opened.add(lines[-1])
                    content = write_results(folder)
                    report(lines)
                return content if lines else write_results(folder)
        finally:
            self._busy = False

    async def _run_episode(self, episode: Episode, folder: Path, filmed: Path | None) -> Line:
        """Run an episode, store its actions, print and return its line."""
        if not self._reset.wait_for_service(SERVICE_TIMEOUT):
            raise RuleSafeError(
                f"no service /episode/reset within {SERVICE_TIMEOUT:g} s; start the simulation"
            )
        began = time.monotonic()
        try:
            episode = place(episode, out_of_reach)
        except OutOfReach as error:
            print(f"{episode}: {error}", flush=True)
            return line_out_of_reach(episode, str(error)) | {"timing": {}}
        placing = time.monotonic() - began
        record = await self._run_in_simulation(episode, filmed)
        print(record.outcome, flush=True)
        if len(self._log.actions) == record.frame:
            write_actions(folder, episode, self._log.actions)
        timing = {
            "wall_seconds": round(record.wall_time, 3),
            "cpu_seconds": 0.0,  # of other processes
            "placing_seconds": round(placing, 3),
            "inference_seconds": [],
        }
        return episode.to_dict() | self._log.diagnosis.facts(record) | {"timing": timing}

    async def _run_in_simulation(self, episode: Episode, filmed: Path | None) -> EpisodeRecord:
        recorder = None
        if filmed and self._values.film:
            instruction = load_rule(episode.source).description
            recorder = VideoRecorder(filmed, instruction, self._cameras.names)
        request = ResetEpisode.Request(episode=episode.to_json())
        self._episode, self._early, self._log = 0, [], FrameLog()
        self._call = RepeatedRequest(lambda: self._reset.call_async(request), RETRY_PERIOD)
        self._end = Future()
        self._status_at = time.monotonic()
        self._call.poll()
        monitor = self._monitor = EpisodeMonitor(episode.time_limit, recorder)
        try:
            reply = await self._call.response
            if not reply.success:
                raise RuleSafeError(reply.message)
            self._episode = reply.episode
            self._status_publishers = set(publishers_of(self, "episode/status"))
            for status in self._early:
                self._on_status(status)
            await self._end
            if monitor.result is None:
                raise RuleSafeError("no message of the episode was received on /episode/status")
            return monitor.result
        finally:
            self._monitor = None
            if recorder:
                for path in recorder.close(monitor.result):
                    print(f"wrote {path}", flush=True)

    def unfinished(self) -> str:
        """Return what `run_node` prints if a signal ends `run`."""
        return "interrupted before the last episode ended" if self._values.episodes else ""

    def run(self, executor: Executor) -> int:
        """Run the episodes of the parameters, or serve the action; return the exit code."""
        if self._request is None:
            return serve(self, executor)
        self._busy = True  # goals are rejected, also while a recorder is awaited
        if self._values.recorded:
            wait_for_recorder(self, self._reset, executor)
        content = self.run_request(executor, self._request, self.folder)
        conclude(self.folder, content, films=0)
        opened = [line["opened"] for line in content["episodes"]]
        return 0 if opened and all(opened) else 1

    def run_request(
        self,
        executor: Executor,
        request: EvaluationRequest,
        folder: Path,
        films: int = MAX_EPISODES,
    ) -> dict[str, Any]:
        """Run the episodes of a request; see `evaluate`."""
        task = executor.create_task(self.evaluate(request, folder, films=films))
        executor.spin_until_future_complete(task)
        # A signal during the evaluation's own code makes it fail.
        if not task.done() or (task.exception() and not executor.context.ok()):
            raise ExternalShutdownException
        content: dict[str, Any] = task.result()
        return content


def evaluate_graph(request: EvaluationRequest, folder: Path, films: int) -> dict[str, Any]:
    """Run the episodes of a request in the simulation of a running graph: `rulesafe eval --engine
    ros`. Return the content of results.json. Raises RuleSafeError, see `EvaluatorNode.evaluate`."""
    check_request(request)
    serving = ["--ros-args", "-p", "episodes:=0"]
    with ros_context(serving), executing(lambda: EvaluatorNode(films > 0)) as (node, executor):
        return node.run_request(executor, request, folder, films)


main = partial(
    run_node,
    "evaluator_node",
    EvaluatorNode,
    run=EvaluatorNode.run,
    unfinished=EvaluatorNode.unfinished,
)

if __name__ == "__main__":
    sys.exit(main())
