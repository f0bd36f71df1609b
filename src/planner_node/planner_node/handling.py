"""The hand on a safe's part, in process with the simulation: take, move, let go, try again."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner_node import episode
from planner_node.expert import ExpertConfig
from planner_node.grasping import Operation, Unreachable
from planner_node.motion import NoPath, Path
from planner_node.moves import ExpertObservation, Move, MovePlanner
from planner_node.primitives import Pressed, Primitives, Run
from rulesafe_sim.episode import Activity, AgentLog, Stuck
from rulesafe_sim.runtime import Runtime


@dataclass(frozen=True)
class Taken:
    """A part that the hand is on, by which operation, and what for. `pinched`: the fingers are
    closed on it."""

    operation: Operation
    move: Move
    pinched: bool = False


def event_of(move: Move) -> str:
    """ "knob+" for a move that opens the knob, "knob-" for one that closes it."""
    return move.part + ("+" if move.goal > move.start else "-")


class Handling:
    """Executes primitives in a simulation and keeps what the hand is on."""

    def __init__(self, runtime: Runtime, config: ExpertConfig, seed: int):
        self._runtime = runtime
        self.simulation = simulation = runtime.simulation
        self.config = config
        self.log = AgentLog()
        self.hand = Primitives(config.pace)
        self.moves = MovePlanner(
            simulation.safe, simulation.pose_safe_in_pelvis, config.moves, seed
        )
        self.taken: Taken | None = None
        self._tried: set[tuple] = set()
        self._step = 0
        self._event = ""  # of the step that is under way

    def observe(self) -> ExpertObservation:
        return episode.observe(self.simulation)

    def play(self, run: Run) -> None:
        """Runs a primitive in the simulation."""
        try:
            chunk = next(run)
            while True:
                for target in chunk:
                    self._runtime.step(target, self.hand.activity)
                chunk = run.send(self.observe())
        except StopIteration:
            return

    def posture(self, fingers: NDArray[np.float64]) -> None:
        """The fingers (6,) to any posture, the arm as it stands."""
        command = self.simulation.command
        self.play(self.hand.posture(command[:7], command[7:], fingers))

    def plan(self, obs: ExpertObservation, move: Move) -> tuple[Operation, Path]:
        """A way to take a part that was not tried for the present step. Errors: Unreachable,
        NoPath."""
        return self.moves.plan(obs, move, self._tried)

    def approach(self, operation: Operation, path: Path, move: Move) -> None:
        """To the part, the hand open. Errors: Pressed."""
        if self.hand.activity.attempt < 2:  # else the step it is for runs already
            self._begin(event_of(move))
        self._tried.add(operation.pinch.key)
        self.play(self.hand.travel(self.observe(), path))
        self.taken = Taken(operation, move)
        self.play(self.hand.approach(operation.approach))

    def pinch(self) -> None:
        """Closes the fingers on the part that was approached. Errors: Pressed."""
        assert self.taken is not None
        self.taken = replace(self.taken, pinched=True)
        self.play(self.hand.pinch(self.taken.operation.motion[0]))

    def let_go(self) -> None:
        """Opens the fingers and backs off from the part, if the hand is on one. Errors:
        Pressed."""
        if self.taken is None:
            return
        taken, self.taken = self.taken, None
        if taken.pinched:
            command = self.simulation.command
            self.play(self.hand.release(command[:7], command[7:]))
        back = self.moves.retreat(self.observe(), taken.move, taken.operation.pinch)
        self.play(self.hand.retreat(back))

    def leave(self) -> None:
        """Lets go for good: what was tried at this step counts no more."""
        self._tried.clear()
        self._event = ""
        self.hand.activity = replace(self.hand.activity, attempt=1)
        self.let_go()

    def bring_about(self, move: Move, motion: Path | None) -> None:
        """Moves the held part along `motion`, or with a new pinch where that is None, and takes it
        anew where it slipped. Errors: Stuck after `config.attempts` tries."""
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
                + (trouble or f"at most {self.hand.peak_force:.0f} N")
            )
            if self._arrived(obs, move):
                if obs.part_open[move.part] != was_open:
                    self.log.events.append(event)
                self._event = ""
                self._tried.clear()
                return
        raise Stuck(
            f"step {self._step} ({event}), failed {attempt} times: the {move.part} slipped or is "
            f"locked; {reached}"
        )

    def _begin(self, event: str) -> None:
        """The next step, for the recording's marks."""
        self._step += 1
        self._event = event
        self.hand.activity = Activity(self._step, event, 1)

    def _move(self, move: Move, motion: Path | None) -> str:
        """One try; what went wrong, or an empty text."""
        try:
            if motion is None:
                self.let_go()
                obs = self.observe()
                move = replace(move, start=obs.part_positions[move.part])
                operation, path = self.plan(obs, move)
                self.approach(operation, path, move)
                self.pinch()
                motion = operation.motion
            self.play((self.hand.pull if move.part == "door" else self.hand.turn)(motion))
            assert self.taken is not None
            self.taken = replace(self.taken, move=move)
        except (Unreachable, NoPath) as error:
            self._tried.clear()  # do again what slipped before
            return str(error)
        except Pressed as error:
            return str(error)
        return ""

    def _arrived(self, obs: ExpertObservation, move: Move) -> bool:
        """Whether the part is in the phase where it was meant to go, or, short of a phase, most
        of the way."""
        part = self.simulation.safe.parts[move.part]
        fraction = move.goal / part.range
        if fraction > part.open_above:
            return obs.part_open[move.part]
        if fraction < part.closed_below:
            return not obs.part_open[move.part]
        return abs(obs.part_positions[move.part] - move.goal) < 0.5 * abs(move.goal - move.start)
