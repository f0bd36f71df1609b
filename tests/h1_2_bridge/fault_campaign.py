"""Random faults of bridge, supervisor, robot and policy, in virtual time, as the robot sees them.

    python tests/h1_2_bridge/fault_campaign.py runs/campaign.jsonl --runs 10000 --workers 2

Each run is one seed: several faults at random times in a random state. The commands of bridge and
supervisor are checked as the robot receives them, from both publishers. The command prints a
summary and the seeds that fail; run again, it continues. test_campaign.py runs the first seeds.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sdk_motors import MOTORS
from supervised import SHORTEST, SupervisedWorld
from virtual import MS, assert_safe, assert_valid, encode_remote

from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.states import ENGAGED, STOPPED, ControlState
from h1_2_bridge.supervisor import Turn
from h1_2_bridge.wire import encode_low_cmd, encode_low_state
from rulesafe_core.chunks import SECOND, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data import engines
from rulesafe_data.bars import ProgressBar

PATIENCE = 0.2
"""Of the supervisor, s."""


SENT_LATE = {"fault_pause_before_sending", "fault_pause_in_send", "fault_varying_delay"}
"""Faults after which the time between two commands is not the one that they were computed for."""

NOT_RECEIVED = "fault_commands_not_received"
"""The supervisor does not receive the commands, and takes over with the last one it received."""


class Run:
    """One run of the campaign."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.world = SupervisedWorld(
            patience=PATIENCE,
            output="lowcmd" if self.rng.random() < 0.25 else "arm_sdk",
            hand=bool(self.rng.random() < 0.5),
            receives_own=bool(self.rng.random() < 0.5),
            ramp=0.3,
            speed=float(self.rng.choice([0.1, 0.5])),
            damping_timeout=0.5,
        )
        self.faults: list[str] = []
        self.killed = 0  # ns, when the bridge is killed at the end

    def go(self) -> None:
        world, rng = self.world, self.rng
        world.run(0.1)
        for _ in range(int(rng.integers(2, 6))):
            self.recover()
            self.steps(int(rng.integers(2, 150)))
            name = str(rng.choice([name for name in dir(self) if name.startswith("fault_")]))
            self.faults.append(name)
            getattr(self, name)()
            self.steps(int(rng.integers(2, 150)))
            self.end_fault()
        self.end()

    def steps(self, count: int) -> None:
        """Run with a load that delays ticks, within what the bridge endures."""
        for _ in range(count):
            self.world.step(int(self.rng.choice([2, 4, 9, 40], p=[0.1, 0.8, 0.09, 0.01])))

    def recover(self) -> None:
        """Do what a user does: reset, engage, send chunks."""
        world = self.world
        try:
            if world.state in (ControlState.DAMPING, ControlState.FAULT):
                world.core.reset()
            elif world.state in (ControlState.IDLE, ControlState.HOLDING):
                world.core.engage(world.now)
            elif world.state is ControlState.ACTIVE:
                self.chunk()
        except RuleSafeError as error:
            assert str(error)

    def chunk(self) -> None:
        world, rng = self.world, self.rng
        steps = int(rng.integers(1, 50))
        rows = world.core.drive.command + np.cumsum(rng.normal(0, 0.1, (steps, 13)), axis=0)
        try:
            world.core.accept(make_chunk(ACTION_JOINTS, rows, world.clock), world.clock)
        except RuleSafeError as error:
            assert str(error)

    def end_fault(self) -> None:
        world = self.world
        world.alter, world.stopped, world.send_delay = (lambda state: state), False, 0
        world.hand_answers = world.supervisor_receives = world.supervisor_alive = True
        world.bridge_receives = True
        world.supervisor_period = 10

    def fault_pause(self) -> None:
        self.world.stop_for(float(self.rng.choice([0.05, 0.12, 0.16, 0.19, 0.3, 0.6, 2.0])))

    def fault_pause_before_sending(self) -> None:
        self.world.send_delay = int(self.rng.choice([20, 120, 180, 400]))
        self.world.step()
        self.world.send_delay = 0

    def fault_varying_delay(self) -> None:
        """Of sending, as on a busy machine; it ends at once."""
        for _ in range(int(self.rng.integers(50, 400))):
            self.world.send_delay = int(self.rng.integers(0, 4))
            self.world.step()
        self.world.send_delay = 0
        self.steps(20)

    def fault_pause_in_send(self) -> None:
        """The robot or the supervisor receives the command after the pause only."""
        seconds = float(self.rng.choice([0.05, 0.12, 0.16, 0.19, 0.3, 0.6, 2.0]))
        robot_first, supervisor_first = self.rng.random(2) < 0.5
        self.world.pause_in_send(seconds, bool(robot_first), bool(supervisor_first))

    def lost(self) -> bool:
        """Return whether the supervisor or the bridge is lost already, so that a fault of the other
        would be the loss of both, which docs/safety.md excludes."""
        world = self.world
        intruded = world.sources[-1:] == ["intruder"] and world.commands[-1].cmd.q[WEIGHT_SLOT] > 0
        return intruded or (world.supervised and world.supervisor.reported_weight < 0)

    def intruded(self) -> bool:
        """Return whether an intruder's command may be in effect next to a loss."""
        return "fault_intruder" in self.faults and self.lost()

    def fault_supervisor_paused(self) -> None:
        if self.intruded():
            return
        self.world.supervisor_alive = False
        self.steps(int(self.rng.integers(5, 300)))

    def fault_both_paused(self) -> None:
        if self.intruded():
            return
        self.world.supervisor_alive = False
        self.world.stop_for(float(self.rng.choice([0.3, 0.6, 5.0])))

    def fault_supervisor_restarts(self) -> None:
        """Not during a takeover, which would be the loss of both."""
        world = self.world
        if world.supervisor.turn is Turn.SUPERVISOR or self.intruded():
            return
        world.supervisor_alive = False
        self.steps(int(self.rng.integers(5, 300)))
        world.start_supervisor()

    def fault_late_supervisor(self) -> None:
        """On a busy machine; a bridge that is killed meanwhile is released more slowly."""
        world = self.world
        world.supervisor_period = int(self.rng.choice([60, 110, 300, 450]))
        self.steps(int(self.rng.integers(50, 300)))
        if self.lost() or self.rng.random() < 0.5:
            return
        world.stop_for(PATIENCE + 3 * 0.45 + 0.3 / 0.1 * 0.45)
        if world.supervised and world.commands:
            assert world.commands[-1].cmd.q[WEIGHT_SLOT] == 0.0, "not released by a late supervisor"

    def fault_commands_not_received(self) -> None:
        self.world.supervisor_receives = False

    def fault_takeover_not_received(self) -> None:
        """The socket of the paused bridge was full, and the user acts at once."""
        self.world.bridge_receives = False
        self.world.stop_for(float(self.rng.choice([0.16, 0.3, 0.6, 2.0])))
        self.steps(int(self.rng.integers(1, 100)))
        for _ in range(3):
            self.recover()
            self.steps(int(self.rng.integers(1, 50)))

    def fault_bridge_restarts(self) -> None:
        """Killed and started again, which takes longer than the supervisor's patience."""
        world = self.world
        if self.lost():
            return
        world.stop_for(float(self.rng.choice([0.25, 0.4, 1.0])))
        world.start_bridge()
        self.steps(int(self.rng.integers(1, 30)))

    def fault_intruder(self) -> None:
        """Another program publishes a command like the last one."""
        if self.world.commands and not self.lost():
            q = self.world.commands[-1].cmd.q.copy()
            q[20] += np.float32(1e-4)
            self.world.put(encode_low_cmd(replace(self.world.commands[-1].cmd, q=q)), "intruder")

    def fault_stop(self) -> None:
        """A second later, the motors are damped; with lowcmd also after another program."""
        world = self.world
        received = bool(self.rng.random() < 0.6)
        engaged = world.state in (*ENGAGED, *STOPPED)  # else nothing is sent after a stop
        world.request_stop(bridge=received)
        if received and not world.output.ends and engaged and world.commands:
            self.steps(300)
            assert not world.commands[-1].cmd.kp.any(), "lowcmd is not damped after a stop"

    def fault_stops_of_a_paused_bridge(self) -> None:
        """Many requests, as of several people, do not delay the supervisor."""
        world, rng = self.world, self.rng
        period, begin = int(rng.integers(1, 60)), world.now
        knows = world.supervised and world.supervisor.reported_weight >= 0
        world.stopped = True
        while world.now - begin < (PATIENCE + 0.3 + 0.3) * SECOND:
            world.request_stop(bridge=False)
            self.steps(period)
        if knows:
            assert world.commands[-1].cmd.q[WEIGHT_SLOT] == 0.0, "not released after many stops"

    def fault_interrupted_after_a_pause(self) -> None:
        """A signal in a pause of the bridge, or of both: it ends when it is not needed, and the
        supervisor releases the robot."""
        world = self.world
        if self.lost() or not world.output.ends or not world.supervised:
            return
        world.supervisor_alive = bool(self.rng.random() < 0.5)
        world.stop_for(float(self.rng.choice([0.16, 0.3, 0.6, 2.0])))
        world.supervisor_alive = True
        for _ in range(1000):
            world.core.shut_down(world.now)
            self.steps(1)
            if world.core.released:
                break
        assert world.core.released, "the bridge does not end"
        world.stop_for(PATIENCE + 0.3 + 0.5)
        assert not world.commands or world.commands[-1].cmd.q[WEIGHT_SLOT] == 0.0
        world.start_bridge()

    def fault_states_lost(self) -> None:
        share = float(self.rng.choice([0.3, 0.9, 1.0]))
        self.world.alter = lambda state: None if self.rng.random() < share else state

    def fault_states_repeated(self) -> None:
        last = self.world.low_state()
        self.world.alter = lambda state: last if self.rng.random() < 0.8 else state

    def fault_states_reordered(self) -> None:
        held: list = []

        def swap(state):
            held.append(state)
            return held.pop(int(self.rng.integers(len(held)))) if len(held) > 2 else None

        self.world.alter = swap

    def fault_states_corrupted(self) -> None:
        def corrupt(state):
            raw = bytearray(encode_low_state(state))
            raw[int(self.rng.integers(4, len(raw)))] ^= 1 << int(self.rng.integers(8))
            return bytes(raw)

        self.world.alter = corrupt

    def fault_clock(self) -> None:
        spread = float(self.rng.choice([0.03, 2.0]))  # of a correction, and of a jump
        self.world.shift += round(float(self.rng.normal(0, spread)) * SECOND)

    def fault_flood(self) -> None:
        for _ in range(30):
            self.chunk()

    def fault_chunks_disordered(self) -> None:
        """Chunks are lost, repeated and reordered."""
        world, rng = self.world, self.rng
        sent = []
        for _ in range(8):
            rows = world.core.drive.command + np.cumsum(rng.normal(0, 0.03, (20, 13)), axis=0)
            sent.append(make_chunk(ACTION_JOINTS, rows, world.clock))
            self.steps(3)
            for chunk in rng.choice(np.array(sent, object), int(rng.integers(3))):
                with suppress(RuleSafeError):
                    world.core.accept(chunk, world.clock)

    def fault_policy_silent(self) -> None:
        self.steps(200)

    def fault_load(self) -> None:
        tau = np.zeros(35, np.float32)
        tau[20] = 200.0
        self.world.alter = lambda state: replace(state, tau=tau)

    def fault_remote(self) -> None:
        self.world.alter = lambda state: replace(state, remote=encode_remote(["select"]))

    def fault_robot_restarts(self) -> None:
        self.world.tick = int(self.rng.integers(0, 100))

    def fault_hand(self) -> None:
        self.world.hand_answers = False

    def fault_disengage(self) -> None:
        try:
            self.world.core.disengage(self.world.now)
        except RuleSafeError as error:
            assert str(error)

    def end(self) -> None:
        """The bridge is killed, not at the same time as another part: the robot is released."""
        world = self.world
        self.steps(200)
        world.stopped, self.killed = True, world.now
        world.run(PATIENCE + 0.3 + 0.3)
        if world.output.ends and world.commands:
            assert world.commands[-1].cmd.q[WEIGHT_SLOT] == 0.0, "released within its time"
        world.assert_no_jump(PATIENCE + 0.04 if NOT_RECEIVED in self.faults else 0.0)
        self.assert_one_writer()
        self.assert_damped()
        assert_valid(world)
        assert self.late_effect() <= 0.05, "an old command remained in effect"
        assert world.oldest * MS <= world.config.gap_timeout * SECOND, "an old command was sent"
        # A command sent late moves the arm more slowly than it was computed for.
        if set(world.sources) <= {"bridge"} and not SENT_LATE & set(self.faults):
            assert_safe(world)

    def assert_one_writer(self) -> None:
        """After a command of another program, the bridge publishes at weight 0 only, from rest,
        unless it was paused while it sent the command."""
        pairs = zip(self.world.sources, self.world.commands, strict=True)
        in_time = [(source, command.cmd) for source, command in pairs if not command.late]
        for (source_before, before), (source, after) in pairwise(in_time):
            if source_before != "bridge" and source == "bridge":
                assert before.q[WEIGHT_SLOT] == 0, f"the {source_before} had not finished"
                assert after.q[WEIGHT_SLOT] <= (40 * MS / SECOND) / 0.3 + 1e-6
            assert np.isfinite(after.q[:MOTORS]).all()

    def assert_damped(self) -> None:
        """In DAMPING the bridge commands no stiffness, and only a reset ends it."""
        states = self.world.states
        for (begin, state, _), (end, following, _) in pairwise(states):
            if state is not ControlState.DAMPING:
                continue
            assert following in (ControlState.IDLE, ControlState.DISCONNECTED), "without a reset"
            for source, command in zip(self.world.sources, self.world.commands, strict=True):
                if begin < command.time < end and source == "bridge" and not command.late:
                    assert not command.cmd.kp.any(), "stiffness in DAMPING"

    def late_effect(self) -> float:
        """Return the longest time (s) for which a command sent late raised the weight."""
        longest, commands = 0.0, self.world.commands
        for before, late, after in zip(commands, commands[1:], commands[2:], strict=False):
            rise = late.cmd.q[WEIGHT_SLOT] - before.cmd.q[WEIGHT_SLOT]
            if late.late and rise > (40 * MS / SECOND) / 0.3:
                longest = max(longest, (after.time - late.time) / SECOND)
        return longest

    def figures(self) -> dict[str, Any]:
        """Return what the robot received."""
        world, commands = self.world, self.world.commands
        ramp = speed = 0.0
        for change in world.changes():
            ramp = max(ramp, change.weight / change.weight_limit)
            speed = max(speed, float((change.moved / change.moved_limit).max()))
        weighted = [c.time for c in commands if c.cmd.q[WEIGHT_SLOT] > 0]
        released = (weighted[-1] - self.killed) / SECOND if weighted else 0.0
        return {
            "output": "arm_sdk" if world.output.ends else "lowcmd",
            "hand": world.core.hand is not None,
            "faults": self.faults,
            "commands": len(commands),
            "takeovers": world.supervisor.counts.takeovers,
            "oldest_ms": world.oldest,
            "late_s": self.late_effect(),
            "ramp_share": ramp,
            "speed_share": speed,
            "release_s": max(0.0, released) if world.output.ends else None,
        }


def run_seed(seed: int) -> dict[str, Any]:
    """Return the figures of one run, and its error, if any."""
    run = Run(seed)
    try:
        run.go()
        error = ""
    except AssertionError as found:
        error = f"{run.faults}: {found}"
    return {"seed": seed, "error": error, **run.figures()}


def summary(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the figures of all runs as a Markdown table."""
    faults = Counter(name for r in results for name in r["faults"])
    kinds = Counter((r["output"], r["hand"]) for r in results)
    behind = [r for r in results if NOT_RECEIVED in r["faults"]]
    others = [r for r in results if NOT_RECEIVED not in r["faults"]]

    def most(runs: Sequence[Mapping[str, Any]], key: str) -> float:
        return max((run[key] for run in runs), default=0.0)

    rows = {
        "runs": len(results),
        "runs that break an invariant": sum(bool(r["error"]) for r in results),
        "runs with arm_sdk, lowcmd; with a hand": (
            f"{sum(n for (o, _), n in kinds.items() if o == 'arm_sdk')}, "
            f"{sum(n for (o, _), n in kinds.items() if o == 'lowcmd')}; "
            f"{sum(n for (_, h), n in kinds.items() if h)}"
        ),
        "kinds of faults; faults": f"{len(faults)}; {sum(faults.values())}",
        "commands checked": sum(r["commands"] for r in results),
        "takeovers by the supervisor": sum(r["takeovers"] for r in results),
        "longest time from computing to sending a command": (
            f"{max(r['oldest_ms'] for r in results)} ms"
        ),
        "longest time for which a command of a bridge paused in sending raised the weight": (
            f"{1000 * most(results, 'late_s'):.0f} ms"
        ),
        "fastest change of the weight, of the limit": f"{most(others, 'ramp_share'):.3f}",
        "fastest joint command, of the limit": f"{most(others, 'speed_share'):.3f}",
        "runs whose supervisor loses commands; time by which its takeover steps back": (
            f"{len(behind)}; {most(behind, 'speed_share') * SHORTEST:.2f} s of motion"
        ),
        "latest weight above 0 after the bridge was killed": (
            f"{max(r['release_s'] or 0 for r in results):.2f} s "
            f"(patience {PATIENCE:g} s + ramp 0.3 s)"
        ),
    }
    return "\n".join(("| | |", "|---|---:|", *(f"| {k} | {v} |" for k, v in rows.items())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="results, JSON lines; an existing file is continued")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    results = {result["seed"]: result for result in map(json.loads, lines)}
    missing = [seed for seed in range(arguments.runs) if seed not in results]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with (
        arguments.out.open("a") as file,
        ProgressBar(total=arguments.runs, initial=len(results), unit="run") as bar,
    ):

        def note(seed: int, result: dict[str, Any]) -> None:
            results[seed] = result
            file.write(json.dumps(result) + "\n")
            file.flush()
            bar.update()

        engines.run(run_seed, missing, note, arguments.workers)
    chosen = [results[seed] for seed in range(arguments.runs)]
    print(summary(chosen))
    failed = [result for result in chosen if result["error"]]
    for result in failed:
        print(f"seed {result['seed']}: {result['error']}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
