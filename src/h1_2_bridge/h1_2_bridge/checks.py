"""The checks before a robot is switched on: each one a function of a `RobotSnapshot`. No ROS here.

To add one: a function of `RobotSnapshot` that gives a `Finding`, and its place in CHECKS.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from h1_2_bridge.findings import FAIL, PASS, SKIP, Finding, judged
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS, RIGHT_ARM, motors
from h1_2_bridge.snapshot import RobotSnapshot
from rulesafe_core.joints import ALL_JOINTS

RATE = 500.0
"""States a second of the robot."""

SLACK = 0.1
"""Share by which a rate may differ."""

JOINT_RATE = 100.0
CAMERA_RATE = 10.0
"""Least rates of /joint_states and of the cameras' topics, Hz, less SLACK."""

GAP = 0.05
"""Longest time between two states, s: after it an engaged bridge takes the robot for lost."""

OUTSIDE = 0.03
"""rad that a measured joint may be beyond its limit by, for encoders have offsets."""

WARM = 60.0
"""deg C above which one should wait before a robot is switched on."""

MOVING = 0.2
"""rad/s above which an arm is not at rest."""

LATE = 0.2
"""Oldest age of a picture's stamp on arrival, s; and how far ahead a stamp may be is AHEAD."""

AHEAD = 0.02
"""s by which a stamp may lie in the future."""

SIMULATED_ROBOT = "robot_side_node"
"""The node that speaks as the robot does in target:=sim_dds."""

PICTURES = (
    "/camera/head/image_raw",
    "/camera/head/camera_info",
    "/camera/front/image_raw",
    "/camera/points",
)
"""What a policy may ask for."""


def robot_publishes(snapshot: RobotSnapshot) -> Finding:
    """The rate of /lowstate, and that none is missing for long by the robot's own clock. When they
    came is this process's affair too, and only said."""
    rate, ticks = snapshot.lowstate.rate, [state.tick for state in snapshot.states]
    gap = max((b - a for a, b in pairwise(ticks)), default=0) / 1e3
    found, remedy = (
        f"/lowstate at {rate:.0f} Hz, longest gap {1e3 * gap:.0f} ms at the robot, "
        f"{1e3 * snapshot.lowstate.gap:.0f} ms here",
        "Is the robot on, the cable in, network_interface the one of the robot's network, "
        "ROS_DOMAIN_ID 0? A rate that is too low or has gaps: another cable, less load.",
    )
    if not len(snapshot.lowstate):
        found = "no /lowstate"
    elif SIMULATED_ROBOT in snapshot.nodes:
        remedy = "The robot is simulated: this machine is too slow for it. Less load, no cameras."
    return judged(
        "robot speaks",
        abs(rate - RATE) <= SLACK * RATE and gap < GAP,
        found,
        remedy,
    )


def _no_states(name: str) -> Finding:
    """Of an item that looks at states: that there are none is said once, by `robot_publishes`."""
    return Finding(name, SKIP, "no states")


def crc_is_right(snapshot: RobotSnapshot) -> Finding:
    """Every state has the CRC that its content asks for."""
    if not len(snapshot.lowstate):
        return _no_states("CRC")
    wrong = sum(not state.valid for state in snapshot.states) + snapshot.malformed
    return judged(
        "CRC",
        bool(snapshot.states) and not wrong,
        f"{wrong} wrong of {len(snapshot.lowstate)} states",
        "All wrong: the robot's firmware speaks another message than unitree_hg's; do not go on. "
        "Some: a bad cable or switch.",
    )


def clock_goes(snapshot: RobotSnapshot) -> Finding:
    """The robot's own tick goes on."""
    if not snapshot.states:
        return _no_states("robot's clock goes")
    ticks = {state.tick for state in snapshot.states}
    return judged(
        "robot's clock goes",
        len(ticks) > max(1, len(snapshot.states) // 2),
        f"{len(ticks)} ticks in {len(snapshot.states)} states",
        "The states repeat: the robot's computer hangs. Switch it off and on.",
    )


def mode_is_one(snapshot: RobotSnapshot) -> Finding:
    """One kind of robot all the time, which has a number."""
    if not snapshot.states:
        return _no_states("mode")
    modes = {(state.mode_machine, state.mode_pr) for state in snapshot.states}
    found = ", ".join(f"mode_machine {machine}, mode_pr {pr}" for machine, pr in sorted(modes))
    return judged(
        "mode",
        len(modes) == 1 and all(pr == 0 for _, pr in modes),
        found,
        "mode_pr must be 0 (ankles by pitch and roll) and the mode must not change: finish what "
        "the remote has begun, then check again.",
    )


def motors_are_well(snapshot: RobotSnapshot) -> Finding:
    """No fault, nothing hot."""
    if not snapshot.states:
        return _no_states("motors")
    last = snapshot.states[-1]
    faults = [MOTOR_JOINTS[i] for i in range(MOTOR_COUNT) if last.motor_fault[i]]
    warmest = int(np.argmax(last.temperature[:MOTOR_COUNT].max(axis=1)))
    warmth = int(last.temperature[warmest].max())
    found = f"warmest {MOTOR_JOINTS[warmest]} at {warmth} deg C"
    if faults:
        found += f"; faults: {', '.join(faults)}"
    return judged(
        "motors",
        not faults and warmth <= WARM,
        found,
        "Let warm motors cool down. A fault is the manufacturer's to read: do not go on.",
    )


def joints_are_within_limits(snapshot: RobotSnapshot) -> Finding:
    """Every body joint is where it may be, by index and name."""
    if not snapshot.states:
        return _no_states("joints within limits")
    q, figures = np.asarray(snapshot.states[-1].q[:MOTOR_COUNT], np.float64), motors()
    beyond = np.flatnonzero((q < figures.lower - OUTSIDE) | (q > figures.upper + OUTSIDE))
    said = [
        f"{MOTOR_JOINTS[i]} {q[i]:.2f} rad ({figures.lower[i]:.2f} to {figures.upper[i]:.2f})"
        for i in beyond
    ]
    return judged(
        "joints within limits",
        not said,
        ", ".join(said) or f"{MOTOR_COUNT} joints",
        "Move the joint by hand. If it is not where the figure says, its encoder or the motor "
        "index is wrong: do not go on.",
    )


def arm_is_at_rest(snapshot: RobotSnapshot) -> Finding:
    """The right arm does not move."""
    if not snapshot.states:
        return _no_states("arm at rest")
    speeds = [np.abs(state.dq[list(RIGHT_ARM)]).max() for state in snapshot.states]
    most = float(np.percentile(speeds, 95))
    return judged(
        "arm at rest",
        most < MOVING,
        f"at most {most:.2f} rad/s",
        "Wait until the arm hangs still; nobody may touch it.",
    )


def bridge_is_idle(snapshot: RobotSnapshot) -> Finding:
    """The bridge is there and does nothing yet."""
    if snapshot.bridge is None:
        remedy = "Start it: launch/robot.launch.xml. Same ROS_DOMAIN_ID?"
        return Finding("bridge", FAIL, "no /bridge/state", remedy)
    facts = snapshot.bridge
    found = f"{facts.state}: {facts.reason}; output {facts.output}, hand {facts.hand}"
    return judged(
        "bridge",
        facts.state == "IDLE",
        found + (", DRY RUN" if facts.dry_run else ""),
        "DISCONNECTED: it does not hear the robot, see above. DAMPING or FAULT: read the reason, "
        "then rulesafe bridge reset. Engaged: rulesafe bridge disengage.",
    )


def only_the_bridge_commands(snapshot: RobotSnapshot) -> Finding:
    """Only the bridge and its supervisor write to the robot."""
    own = {"h1_2_bridge", "h1_2_bridge_supervisor"}
    writers = {topic: set(snapshot.writers.get(topic, [])) for topic in ("/arm_sdk", "/lowcmd")}
    others = [f"{topic}: {name}" for topic, names in writers.items() for name in names - own]
    return judged(
        "nobody else commands",
        not others,
        ", ".join(others) or "only the bridge",
        "End those programs. What the robot's own computers run does not show here.",
    )


def supervisor_watches(snapshot: RobotSnapshot) -> Finding:
    """The process that lets the arm down if the bridge dies."""
    name = "supervisor"
    if snapshot.bridge is not None and snapshot.bridge.output != "arm_sdk":
        return Finding(name, SKIP, "only arm_sdk has a weight to take back")
    if snapshot.bridge is not None and snapshot.bridge.dry_run:
        return Finding(name, SKIP, "nothing is sent in a dry run")
    return judged(
        name,
        "h1_2_bridge_supervisor" in snapshot.nodes,
        "runs" if "h1_2_bridge_supervisor" in snapshot.nodes else "does not run",
        "Start it: launch/robot.launch.xml does.",
    )


def joint_states_agree(snapshot: RobotSnapshot) -> Finding:
    """/joint_states comes, has all joints, and says what /lowstate says."""
    arrivals = snapshot.arrivals("/joint_states")
    if not snapshot.states and not len(arrivals):
        return _no_states("joint states")
    missing = [name for name in ALL_JOINTS if name not in snapshot.joints]
    apart = 0.0
    if snapshot.states and not set(MOTOR_JOINTS) & set(missing):
        said = np.array([snapshot.joints[name] for name in MOTOR_JOINTS])
        apart = float(np.abs(said - snapshot.states[-1].q[:MOTOR_COUNT]).max())
    found = f"{arrivals.rate:.0f} Hz, {len(snapshot.joints)} joints, {apart:.3f} rad from /lowstate"
    if missing and snapshot.joints:
        found += f"; without {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}"
    return judged(
        "joint states",
        arrivals.rate >= (1 - SLACK) * JOINT_RATE and not missing and apart < 0.1,
        found,
        "Without fingers: the hands do not answer. Too slow: the bridge lacks processor time.",
    )


def hand_is_there(snapshot: RobotSnapshot) -> Finding:
    """The hands answer."""
    facts = snapshot.bridge
    if facts is None or facts.hand == "none":
        return Finding("hand", SKIP, "no bridge" if facts is None else "none is configured")
    arrivals, found = snapshot.arrivals("/inspire/state"), facts.hand
    good = not facts.hand_trouble
    if facts.hand == "dfx":
        entries = 0 if snapshot.hand is None else len(snapshot.hand)
        found += f", /inspire/state at {arrivals.rate:.0f} Hz with {entries} entries"
        good = good and entries == 12
    if facts.hand_trouble:
        found += f": {facts.hand_trouble}"
    return judged(
        "hand",
        good,
        found,
        "DFX: does the manufacturer's hand service run on the robot? FTP: ping the hand, see "
        "hand_right_host and hand_left_host. No hand at all: hand:=none.",
    )


def cameras_publish(snapshot: RobotSnapshot) -> Finding:
    """The cameras' topics come."""
    rates = {topic: snapshot.arrivals(topic).rate for topic in PICTURES}
    slow = {topic for topic, rate in rates.items() if rate < (1 - 2 * SLACK) * CAMERA_RATE}
    if all(rate == 0 for rate in rates.values()):
        remedy = "Start a camera driver (docs/robot.md), unless the policy needs no camera."
        return Finding("cameras", SKIP, "none publishes", remedy)
    found = ", ".join(f"{topic} {rates[topic]:.0f} Hz" for topic in PICTURES)
    return judged(
        "cameras",
        not slow,
        found,
        f"A policy may need {', '.join(sorted(slow))} at {CAMERA_RATE:g} Hz or more: does the "
        "driver run, are its topics remapped, does camera_points get depth?",
    )


def clocks_agree(snapshot: RobotSnapshot) -> Finding:
    """Stamps of joints and pictures lie in the recent past of this machine's clock."""
    ages = {topic: snapshot.arrivals(topic).age for topic in ("/joint_states", *PICTURES)}
    known = {topic: age for topic, age in ages.items() if not np.isnan(age)}
    if not known:
        return Finding("clocks", SKIP, "nothing has stamps")
    wrong = [topic for topic, age in known.items() if not -AHEAD <= age <= LATE]
    found = ", ".join(f"{topic} {1e3 * age:.0f} ms" for topic, age in known.items())
    return judged(
        "clocks",
        not wrong,
        f"age on arrival: {found}",
        f"{', '.join(wrong)}: set both machines' clocks (chrony, PTP). Pictures that are late by "
        "nature: fewer pixels, less load.",
    )


def instruction_is_published(snapshot: RobotSnapshot) -> Finding:
    """A policy that reads language gets some."""
    if snapshot.instruction is None:
        remedy = "A policy that reads language waits for it: launch with instruction:=..."
        return Finding("instruction", SKIP, "no publisher on /instruction", remedy)
    return Finding("instruction", PASS, snapshot.instruction.split("\n")[0][:60])


CHECKS: tuple[Callable[[RobotSnapshot], Finding], ...] = (
    robot_publishes,
    crc_is_right,
    clock_goes,
    mode_is_one,
    motors_are_well,
    joints_are_within_limits,
    arm_is_at_rest,
    bridge_is_idle,
    only_the_bridge_commands,
    supervisor_watches,
    joint_states_agree,
    hand_is_there,
    cameras_publish,
    clocks_agree,
    instruction_is_published,
)
"""The list, in the order in which a person would mend things."""


def findings(snapshot: RobotSnapshot) -> list[Finding]:
    """What the whole list says."""
    return [check(snapshot) for check in CHECKS]
