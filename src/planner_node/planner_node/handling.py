"""Grasping and moving a safe's parts in process with the simulation, with retries."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner_node import episode
from planner_node.expert import ExpertConfig
from planner_node.grasping import Operation, Unreachable
from planner_node.motion import NoPath, Path
from planner_node.moves import ExpertObservation, Move, MovePlanner
from planner_node.primitives import ContactForceError, Primitives, Run
from rulesafe_sim.episode import Activity, AgentError, AgentLog
from rulesafe_sim.runtime import Runtime


@dataclass(frozen=True)
class ActiveGrasp:
    """The part that the hand is at, the operation used, and the intended move. `pinched`: whether
    the fingers are closed on the part."""

    operation: Operation
    move: Move
    pinched: bool = False


def event_of(move: Move) -> str:
    """Return the event of a move: "knob+" if it opens the knob, "knob-" if it closes it."""
    return move.part + ("+" if move.goal > move.start else "-")


class Handling:
    """Executes primitives in a simulation and keeps track of the part that the hand is at."""

    def __init__(self, runtime: Runtime, config: ExpertConfig, seed: int):
        self._runtime = runtime
        self.simulation = simulation = runtime.simulation
        self.config = config
        self.log = AgentLog()
        self.hand = Primitives(config.pace)
        self.moves = MovePlanner(
            simulation.safe, simulation.pose_safe_in_pelvis, config.moves, seed
        )
        self.active_grasp: ActiveGrasp | None = None
        self._tried: set[tuple] = set()
        self._step = 0
        self._event = ""  # event of the current step

    def observe(self) -> ExpertObservation:
        return episode.observe(self.simulation)

    def play(self, run: Run) -> None:
        """Run a primitive in the simulation."""
        try:
            chunk = next(run)
            while True:
                for target in chunk:
                    self._runtime.step(target, self.hand.activity)
                chunk = run.send(self.observe())
        except StopIteration:
            return

    def posture(self, fingers: NDArray[np.float64]) -> None:
        """Move the fingers to a posture (6,); the arm stays where it is."""
        command = self.simulation.command
        self.play(self.hand.posture(command[:7], command[7:], fingers))

    def plan(self, obs: ExpertObservation, move: Move) -> tuple[Operation, Path]:
        """Return an operation not yet tried in the present step, and the path to it. Raises
        Unreachable or NoPath."""
        return self.moves.plan(obs, move, self._tried)

    def approach(self, operation: Operation, path: Path, move: Move) -> None:
        """Move the open hand to the part.

        Raises:
            ContactForceError: the contact force is too large.
        """
        if self.hand.activity.attempt < 2:  # a retry belongs to the step that runs already
            self._begin(event_of(move))
        self._tried.add(operation.pinch.key)
        self.play(self.hand.travel(self.observe(), path))
        self.active_grasp = ActiveGrasp(operation, move)
        self.play(self.hand.approach(operation.approach))

    def pinch(self) -> None:
        """Close the fingers on the part that was approached. Raises ContactForceError."""
        assert self.active_grasp is not None
        self.active_grasp = replace(self.active_grasp, pinched=True)
        self.play(self.hand.pinch(self.active_grasp.operation.motion[0]))

    def release_part(self) -> None:
        """If the hand is at a part, open the fingers and retreat. Raises ContactForceError."""
        if self.active_grasp is None:
            return
        active_grasp, self.active_grasp = self.active_grasp, None
        if active_grasp.pinched:
            command = self.simulation.command
            self.play(self.hand.release(command[:7], command[7:]))
        back = self.moves.retreat(self.observe(), active_grasp.move, active_grasp.operation.pinch)
        self.play(self.hand.retreat(back))

    def end_step(self) -> None:
        """Release the part and end the step: pinches tried before may be used again."""
        self._tried.clear()
        self._event = ""
        self.hand.activity = replace(self.hand.activity, attempt=1)
        self.release_part()

    def execute(self, move: Move, motion: Path | None) -> None:
        """Move the held part along `motion`, and grasp it again if it slips.

        With None for `motion`, the part is released and grasped with a new pinch first.

        Raises:
            AgentError: after `config.attempts` attempts.
        """
        event = event_of(move)
        if self._event != event:
            self._begin(event)
        was_open = self.observe().part_open[move.part]
        for attempt in range(1, self.config.attempts + 1):
            self.hand.activity = Activity(self._step, event, attempt)
            self.hand.peak_force = 0.0
            if attempt > 1:
                self.log.retries += 1
                motion = None
            trouble = self._move(move, motion)
            obs = self.observe()
            reached = f"{move.part} at {np.degrees(obs.part_positions[move.part]):.0f} deg"
            self.log.steps.append(
                f"step {self._step} ({event}), try {attempt}: {reached}, "
                + (trouble or f"largest force {self.hand.peak_force:.0f} N")
            )
            if self._arrived(obs, move):
                if obs.part_open[move.part] != was_open:
                    self.log.events.append(event)
                self._event = ""
                self._tried.clear()
                return
        raise AgentError(
            f"step {self._step} ({event}) failed {attempt} times: the {move.part} slipped or is "
            f"locked; {reached}"
        )

    def _begin(self, event: str) -> None:
        """Start the next step, as it is labelled in recordings."""
        self._step += 1
        self._event = event
        self.hand.activity = Activity(self._step, event, 1)

    def _move(self, move: Move, motion: Path | None) -> str:
        """Make one attempt; return what failed, or an empty string."""
        try:
            if motion is None:
                self.release_part()
                obs = self.observe()
                move = replace(move, start=obs.part_positions[move.part])
                operation, path = self.plan(obs, move)
                self.approach(operation, path, move)
                self.pinch()
                motion = operation.motion
            self.play((self.hand.pull if move.part == "door" else self.hand.turn)(motion))
            assert self.active_grasp is not None
            self.active_grasp = replace(self.active_grasp, move=move)
        except (Unreachable, NoPath) as error:
            self._tried.clear()  # allow the pinches that slipped before
            return str(error)
        except ContactForceError as error:
            return str(error)
        return ""

    def _arrived(self, obs: ExpertObservation, move: Move) -> bool:
        """Return whether the motion has succeeded: the part is open (closed) if the goal is in the
        open (closed) range, and has covered more than half of the way if the goal is between."""
        part = self.simulation.safe.parts[move.part]
        fraction = move.goal / part.range
        if fraction > part.open_above:
            return obs.part_open[move.part]
        if fraction < part.closed_below:
            return not obs.part_open[move.part]
        return abs(obs.part_positions[move.part] - move.goal) < 0.5 * abs(move.goal - move.start)
