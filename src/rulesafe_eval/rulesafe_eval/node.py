"""ROS 2 node of the evaluator: runs episodes, records videos and writes the summary.

The episodes given by its parameters start at once; the exit code is 1 if a door was not opened, and
0 if all were or SIGINT interrupted the node. With `episodes` at 0 the node serves the action
/evaluate until it is stopped.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import CompressedImage, Image

from policy_node.convert import TOKENS_QOS
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import IMAGE_QOS, STATE_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_image, to_ns
from rulesafe_core.repeated_ros import RepeatedRequest
from rulesafe_core.ros import UNNAMED, declare, publishers_of, reserve_topic, run_node, serve
from rulesafe_core.settings import Settings, setting
from rulesafe_data.films.episode import EpisodeMonitor, VideoRecorder
from rulesafe_data.films.messages import decode_memory, decode_status
from rulesafe_data.films.summary import results_folder, totals, write_summary
from rulesafe_eval.convert import failures
from rulesafe_eval.jobs import MAX_EPISODES, MAX_SEED, Job, benchmark_jobs, seed_jobs
from rulesafe_eval.progress import EpisodeProgress
from rulesafe_eval.recorder_ros import wait_for_recorder
from rulesafe_interfaces.action import Evaluate
from rulesafe_interfaces.msg import EpisodeStatus, MemoryTokens
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import EpisodeRecord


@dataclass(frozen=True)
class EvaluatorParameters(Settings):
    """Parameters of the evaluator node."""

    rule: str = setting("rule_001", "Rule: an id or the path of a lock file.")
    safe: str = setting("safe_01", "Safe: an id or the path of a YAML file.")
    seed: int = setting(0, "Seed of the first episode; each further one adds 1.", 0, MAX_SEED)
    episodes: int = setting(1, "Number of episodes; 0: only serve /evaluate.", 0, MAX_EPISODES)
    benchmark: str = setting(
        "",
        "Benchmark whose episodes are run, with its variations and time limits, instead of rule, "
        "safe, seed and time_limit; empty: none.",
    )
    first_episode: int = setting(
        0, "First episode of the benchmark; the first one is 0.", 0, MAX_EPISODES
    )
    time_limit: float = setting(240.0, "Simulated time limit of an episode.", 0.1, 36_000, "s")
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
    out: str = setting("", "Directory of the results; empty: runs/(date and time).")
    film: bool = setting(True, "Write film.mp4 and sheet.png if images are published.")
    head_image: str = setting("/camera/head/image_raw", "Topic of the video's head camera.")
    front_image: str = setting("/camera/front/image_raw", "Topic of the video's front camera.")


SERVICE_TIMEOUT = 60.0
"""Wall time (s) to wait for the simulation's service."""

RETRY_PERIOD = 20.0
"""Wall time (s) after which an unanswered /episode/reset request is sent again."""

STATUS_TIMEOUT = 30.0
"""Wall time (s) without a status after which the episode fails. A running simulation publishes ten
statuses per second, also while simulated time is paused."""

Report = Callable[[list[EpisodeRecord]], None]


def _jobs_of(goal: Evaluate.Goal, time_limit: float) -> list[Job]:
    """Return the episodes of a goal, with a time limit (s) if it has none. Raises RuleSafeError if
    the goal is not valid."""
    limit = goal.time_limit or time_limit
    return seed_jobs(goal.rules, goal.safes, goal.first_seed, goal.episodes, limit)


def _first_jobs(values: EvaluatorParameters) -> list[Job]:
    """Return the episodes of the parameters. Raises RuleSafeError for an unknown name."""
    if not values.episodes:
        return []
    if values.first_episode and not values.benchmark:
        raise RuleSafeError("first_episode requires a benchmark; seed selects other episodes")
    if values.benchmark:
        return benchmark_jobs(values.benchmark, values.first_episode, values.episodes)
    where = (values.rule,), (values.safe,)
    return seed_jobs(*where, values.seed, values.episodes, values.time_limit)


class EvaluatorNode(Node):
    """Callbacks update the monitor of the running episode; coroutines await its end."""

    def __init__(self) -> None:
        super().__init__("evaluator_node")
        self._reservation = reserve_topic(self, "/evaluate")
        self._values = declare(self, EvaluatorParameters)
        # Unknown names are reported before the node waits for the simulation.
        self._jobs = _first_jobs(self._values)
        self._busy = False
        self._monitor: EpisodeMonitor | None = None
        self._progress = EpisodeProgress(0.0)
        self._status = EpisodeStatus()
        self._episode = 0  # number of the running episode; 0 before the reset response
        self._early: list[EpisodeStatus] = []  # received before the reset response
        self._status_at = 0.0  # wall time of the last status, s
        self._status_publishers: set[bytes] = set()  # at the reset response
        self._call: RepeatedRequest | None = None
        self._end = Future()
        self._reset = self.create_client(ResetEpisode, "/episode/reset")
        self.create_subscription(EpisodeStatus, "/episode/status", self._on_status, STATE_QOS)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, STATE_QOS)
        if self._values.film:
            for camera in ("head", "front"):
                topic = getattr(self._values, f"{camera}_image")
                kind = CompressedImage if topic.endswith("/compressed") else Image
                self.create_subscription(kind, topic, self._on_image(camera), IMAGE_QOS)
            self.create_subscription(MemoryTokens, "/memory/tokens", self._on_tokens, TOKENS_QOS)
        self.create_timer(0.25, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._server = ActionServer(
            self,
            Evaluate,
            "/evaluate",
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
            stamp, now = to_ns(status.header.stamp), decode_status(status)
            self._monitor.update(stamp, now, status.waiting)
            if self._monitor.result is None and (line := self._progress.line(now)):
                print(line, flush=True)
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
        found = publishers_of(self, "/episode/status")
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
            _jobs_of(goal, self._values.time_limit)
        except RuleSafeError as error:
            self.get_logger().error(f"goal of /evaluate rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    async def _on_goal(self, handle) -> Evaluate.Result:
        """Execute a goal of the action /evaluate."""
        goal = handle.request
        folder = results_folder(self._values.out)
        results: list[EpisodeRecord] = []
        message = ""

        def report(done: list[EpisodeRecord]) -> None:
            results[:] = done
            feedback = Evaluate.Feedback(
                episodes_done=len(results),
                successes=sum(result.success for result in results),
                status=self._status,
            )
            handle.publish_feedback(feedback)

        try:
            jobs = _jobs_of(goal, self._values.time_limit)
            await self.evaluate(jobs, folder, report, lambda: bool(handle.is_cancel_requested))
        except RuleSafeError as error:
            message = str(error)
            self.get_logger().error(f"goal of /evaluate aborted: {message}")
            handle.abort()
        else:
            if handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.succeed()
        found = totals(results)
        return Evaluate.Result(
            episodes=int(found["episodes"]),
            successes=int(found["opened"]),
            mean_process_score=float(found["mean_process_score"]),
            summary_path=str(folder / "summary.json") if results else "",
            message=message,
        )

    # Episodes -----------------------------------------------------------------------------

    async def evaluate(
        self,
        jobs: Sequence[Job],
        folder: Path,
        report: Report = lambda results: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[EpisodeRecord]:
        """Run the episodes one after the other; print a line and update the summary after each.

        Raises:
            RuleSafeError: if the simulation rejects an episode or does not respond.
        """
        self._busy = True
        results: list[EpisodeRecord] = []
        try:
            for job in jobs:
                if cancelled():
                    break
                place = folder if len(jobs) == 1 else folder / job.name
                results.append(await self._run_episode(job, place))
                print(results[-1].outcome, flush=True)
                done = jobs[: len(results)]
                limit, facts = max(each.time_limit for each in done), [each.facts for each in done]
                write_summary(folder / "summary.json", results, limit, facts)
                report(results)
        finally:
            self._busy = False
        return results

    async def _run_episode(self, job: Job, folder: Path) -> EpisodeRecord:
        if not self._reset.wait_for_service(SERVICE_TIMEOUT):
            raise RuleSafeError(
                f"no service /episode/reset within {SERVICE_TIMEOUT:g} s; start the simulation"
            )
        recorder = None
        if self._values.film:
            recorder = VideoRecorder(folder, load_rule(job.rule).description)
        request = ResetEpisode.Request(
            rule=job.rule, safe=job.safe, seed=job.seed, variation=job.variation
        )
        self._episode, self._early = 0, []
        self._call = RepeatedRequest(lambda: self._reset.call_async(request), RETRY_PERIOD)
        self._end = Future()
        self._status_at = time.monotonic()
        self._call.poll()
        monitor = self._monitor = EpisodeMonitor(job.time_limit, recorder)
        try:
            reply = await self._call.response
            if not reply.success:
                raise RuleSafeError(reply.message)
            self._episode = reply.episode
            self._status_publishers = set(publishers_of(self, "/episode/status"))
            self._progress = EpisodeProgress(job.time_limit)
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
        values = self._values
        if not values.episodes:
            return serve(self, executor)
        self._busy = True  # goals are rejected, also while a recorder is awaited
        if values.recorded:
            wait_for_recorder(self, self._reset, executor)
        folder = results_folder(self._values.out)
        task = executor.create_task(self.evaluate(self._jobs, folder))
        executor.spin_until_future_complete(task)
        # A signal during the evaluation's own code makes it fail.
        if not task.done() or (task.exception() and not executor.context.ok()):
            raise ExternalShutdownException
        results = task.result()
        print(f"wrote {folder / 'summary.json'}", flush=True)
        return 0 if results and all(result.success for result in results) else 1


main = partial(
    run_node,
    "evaluator_node",
    EvaluatorNode,
    run=EvaluatorNode.run,
    unfinished=EvaluatorNode.unfinished,
)

if __name__ == "__main__":
    sys.exit(main())
