"""Pre-flight checks of `rulesafe bridge check`. This module does not import ROS.

To add a check, write a function that takes a `RobotSnapshot` and returns a `Finding`, and add it to
CHECKS.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from h1_2_bridge.findings import FAIL, PASS, SKIP, Finding, pass_or_fail
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS, motors
from h1_2_bridge.snapshot import RobotSnapshot
from h1_2_bridge.watchdogs import MOVING, arm_speed
from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS_TOPIC
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.robot import HOME

RATE = 500.0
"""Expected rate of /lowstate, Hz."""

SLACK = 0.1
"""Relative tolerance of rates."""

JOINT_RATE = 100.0
CAMERA_RATE = 10.0
"""Nominal rates of /joint_states and the camera topics, Hz; SLACK is subtracted for the minimum."""

GAP = 0.05
"""Longest allowed time between two states, s; after a longer gap an engaged bridge enters FAULT."""

OUTSIDE = 0.03
"""Angle (rad) by which a measured joint may exceed its limit, because encoders have offsets."""

WARM = 60.0
"""Highest motor temperature before engaging, deg C."""

LATE = 0.2
"""Largest age of a stamp on arrival, s."""

AHEAD = 0.02
"""Largest time by which a stamp may lie in the future, s."""

AWAY = 0.3
"""Largest distance of a joint from its home position at which a policy should start, rad."""

SIMULATED_ROBOT = "robot_side_node"
"""Node that simulates the robot with target:=sim_dds."""

CAMERA_TOPICS = (
    DEFAULT_CAMERAS.depth.topic(),
    DEFAULT_CAMERAS.depth.topic("camera_info"),
    *(camera.topic() for camera in DEFAULT_CAMERAS if camera != DEFAULT_CAMERAS.depth),
    POINTS_TOPIC,
)
"""Camera topics that a policy may need."""


def robot_publishes(snapshot: RobotSnapshot) -> Finding:
    """Check the rate of /lowstate and the longest gap by the robot's own tick. The longest gap
    between arrivals also depends on this process and is only reported."""
    rate, ticks = snapshot.lowstate.rate, [state.tick for state in snapshot.states]
    gap = max((b - a for a, b in pairwise(ticks)), default=0) / 1e3
    found, remedy = (
        f"/lowstate at {rate:.0f} Hz, longest gap {1e3 * gap:.0f} ms at the robot, "
        f"{1e3 * snapshot.lowstate.gap:.0f} ms here",
        "No states: check that the robot is on, the cable is connected, network_interface is in "
        "the robot's network and ROS_DOMAIN_ID is 0. Low rate or gaps: try another cable or "
        "reduce the load on this computer.",
    )
    publishers = snapshot.publishers.get("/lowstate", [])
    if not len(snapshot.lowstate):
        found = "no message on /lowstate"
    elif len(publishers) > 1:
        found += f", {len(publishers)} publishers: {', '.join(publishers)}"
        remedy = (
            "Two robots or simulations publish /lowstate: end one, or separate them by "
            "network_interface or ROS_DOMAIN_ID. A killed one is listed for up to 20 s."
        )
    elif SIMULATED_ROBOT in snapshot.nodes:
        remedy = "This machine is too slow to simulate the robot: reduce its load, cameras:=false."
    return pass_or_fail(
        "robot state rate",
        abs(rate - RATE) <= SLACK * RATE and gap < GAP,
        found,
        remedy,
    )


def _no_states(name: str) -> Finding:
    """Return the result of a check that needs states; `robot_publishes` reports that none came."""
    return Finding(name, SKIP, "no valid state on /lowstate")


def crc_is_valid(snapshot: RobotSnapshot) -> Finding:
    """Check the CRC of every state."""
    if not len(snapshot.lowstate):
        return _no_states("CRC")
    wrong = sum(not state.valid for state in snapshot.states) + snapshot.malformed
    return pass_or_fail(
        "CRC",
        bool(snapshot.states) and not wrong,
        f"{wrong} of {len(snapshot.lowstate)} states invalid",
        "All invalid: the robot's firmware uses another message layout than unitree_hg; do not "
        "engage. Some invalid: replace the cable or the switch.",
    )


def tick_advances(snapshot: RobotSnapshot) -> Finding:
    """Check that the robot's tick advances."""
    if not snapshot.states:
        return _no_states("robot tick advances")
    ticks = {state.tick for state in snapshot.states}
    return pass_or_fail(
        "robot tick advances",
        len(ticks) > max(1, len(snapshot.states) // 2),
        f"{len(ticks)} different ticks in {len(snapshot.states)} states",
        "The robot repeats its states, so its computer hangs: switch the robot off and on.",
    )


def mode_is_constant(snapshot: RobotSnapshot) -> Finding:
    """Check that mode_machine and mode_pr do not change and that mode_pr is 0."""
    if not snapshot.states:
        return _no_states("mode")
    modes = {(state.mode_machine, state.mode_pr) for state in snapshot.states}
    found = ", ".join(f"mode_machine {machine}, mode_pr {pr}" for machine, pr in sorted(modes))
    return pass_or_fail(
        "mode",
        len(modes) == 1 and all(pr == 0 for _, pr in modes),
        found,
        "mode_pr must be 0 (ankles by pitch and roll) and the mode must not change: wait until the "
        "robot has finished its mode change, then check again.",
    )


def motors_are_healthy(snapshot: RobotSnapshot) -> Finding:
    """Check that no motor reports a fault or is too warm."""
    if not snapshot.states:
        return _no_states("motors")
    last = snapshot.states[-1]
    faults = [MOTOR_JOINTS[i] for i in range(MOTOR_COUNT) if last.motor_fault[i]]
    warmest = int(np.argmax(last.temperature[:MOTOR_COUNT].max(axis=1)))
    warmth = int(last.temperature[warmest].max())
    found = f"warmest {MOTOR_JOINTS[warmest]} at {warmth} deg C"
    if supply := last.voltage[:MOTOR_COUNT].min():
        found += f", supply voltage {supply:.1f} V"
    if faults:
        found += f"; faults: {', '.join(faults)}"
    return pass_or_fail(
        "motors",
        not faults and warmth <= WARM,
        found,
        "Let warm motors cool down. For a fault, see the manufacturer's documentation; do not "
        "engage.",
    )


def joints_are_within_limits(snapshot: RobotSnapshot) -> Finding:
    """Check that every measured body joint is within its limits."""
    if not snapshot.states:
        return _no_states("joints within limits")
    q, limits = np.asarray(snapshot.states[-1].q[:MOTOR_COUNT], np.float64), motors()
    beyond = np.flatnonzero((q < limits.lower - OUTSIDE) | (q > limits.upper + OUTSIDE))
    outside = [
        f"{MOTOR_JOINTS[i]} {q[i]:.2f} rad ({limits.lower[i]:.2f} to {limits.upper[i]:.2f})"
        for i in beyond
    ]
    return pass_or_fail(
        "joints within limits",
        not outside,
        ", ".join(outside) or f"{MOTOR_COUNT} joints",
        "Move the joint manually into its limits. If the joint is not at the measured position, "
        "its encoder or the motor index is wrong: do not engage.",
    )


def arm_is_at_rest(snapshot: RobotSnapshot) -> Finding:
    """Check that the arms do not move, as engaging does."""
    if not snapshot.states:
        return _no_states("arm at rest")
    speeds = [arm_speed(state) for state in snapshot.states]
    most = float(np.percentile(speeds, 95))
    return pass_or_fail(
        "arm at rest",
        most < MOVING,
        f"at most {most:.2f} rad/s",
        "Wait until the arm is at rest and do not touch it.",
    )


def bridge_is_idle(snapshot: RobotSnapshot) -> Finding:
    """Check that the bridge runs and is IDLE."""
    if snapshot.bridge is None:
        remedy = "Start launch/robot.launch.xml with the same ROS_DOMAIN_ID."
        return Finding("bridge", FAIL, "no message on /bridge/state", remedy)
    facts = snapshot.bridge
    found = f"{facts.state}: {facts.reason}; output {facts.output}, hand {facts.hand}"
    return pass_or_fail(
        "bridge",
        facts.state == "IDLE",
        found + (", DRY RUN" if facts.dry_run else ""),
        "DISCONNECTED: the bridge receives no valid states, see above. DAMPING or FAULT: fix the "
        "cause, then run rulesafe bridge reset. Engaged: run rulesafe bridge disengage.",
    )


def only_the_bridge_commands(snapshot: RobotSnapshot) -> Finding:
    """Check that only the bridge and its supervisor publish commands to the robot."""
    own = {"h1_2_bridge", "h1_2_bridge_supervisor"}
    publishers = {
        topic: set(snapshot.publishers.get(topic, [])) for topic in ("/arm_sdk", "/lowcmd")
    }
    others = [f"{topic}: {name}" for topic, names in publishers.items() for name in names - own]
    if not any(publishers.values()):
        return Finding("no other publisher", SKIP, "no publisher on /arm_sdk and /lowcmd")
    return pass_or_fail(
        "no other publisher",
        not others,
        ", ".join(others) or "only the bridge",
        "End those programs. Programs on the robot's own computers are not detected here.",
    )


def supervisor_runs(snapshot: RobotSnapshot) -> Finding:
    """Check that the supervisor, which ramps the weight down if the bridge dies, runs."""
    name = "supervisor"
    if snapshot.bridge is not None and snapshot.bridge.output != "arm_sdk":
        return Finding(name, SKIP, "not used: only arm_sdk has a weight to ramp down")
    if snapshot.bridge is not None and snapshot.bridge.dry_run:
        return Finding(name, SKIP, "nothing is sent in a dry run")
    return pass_or_fail(
        name,
        "h1_2_bridge_supervisor" in snapshot.nodes,
        "runs" if "h1_2_bridge_supervisor" in snapshot.nodes else "does not run",
        "Start launch/robot.launch.xml, which includes the supervisor.",
    )


def joint_states_agree(snapshot: RobotSnapshot) -> Finding:
    """Check that /joint_states is fast enough, has all joints and agrees with /lowstate."""
    arrivals = snapshot.arrivals("/joint_states")
    if not snapshot.states and not len(arrivals):
        return _no_states("joint states")
    handless = snapshot.bridge is not None and snapshot.bridge.hand == "none"
    required = MOTOR_JOINTS if handless else ALL_JOINTS
    missing = [name for name in required if name not in snapshot.joints]
    error = 0.0
    if snapshot.states and not set(MOTOR_JOINTS) & set(missing):
        positions = np.array([snapshot.joints[name] for name in MOTOR_JOINTS])
        error = float(np.abs(positions - snapshot.states[-1].q[:MOTOR_COUNT]).max())
    found = f"{arrivals.rate:.0f} Hz, {len(snapshot.joints)} joints, {error:.3f} rad from /lowstate"
    if missing and snapshot.joints:
        found += f"; missing {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}"
    return pass_or_fail(
        "joint states",
        arrivals.rate >= (1 - SLACK) * JOINT_RATE and not missing and error < 0.1,
        found,
        "Finger joints missing: the hands do not respond. Too slow: the bridge lacks processor "
        "time.",
    )


def posture_is_home(snapshot: RobotSnapshot) -> Finding:
    """State how far the joints that are commanded are from the posture in which episodes start."""
    name = "posture"
    offsets = {
        joint: abs(snapshot.joints[joint] - HOME[joint])
        for joint in ACTION_JOINTS
        if joint in snapshot.joints
    }
    if not offsets:
        return Finding(name, SKIP, "no joint states")
    farthest = max(offsets, key=lambda joint: offsets[joint])
    found = f"{farthest} is {offsets[farthest]:.2f} rad from its home position"
    if offsets[farthest] <= AWAY:
        return Finding(name, PASS, found)
    remedy = "Episodes start at HOME: move the joints there before a policy runs (docs/robot.md)."
    return Finding(name, SKIP, found, remedy)


def hand_responds(snapshot: RobotSnapshot) -> Finding:
    """Check that the hands respond."""
    facts = snapshot.bridge
    if facts is None or facts.hand == "none":
        return Finding("hand", SKIP, "no bridge" if facts is None else "no hand is configured")
    arrivals, found = snapshot.arrivals("/inspire/state"), facts.hand
    good = not facts.hand_trouble
    if facts.hand == "dfx":
        entries = 0 if snapshot.hand is None else len(snapshot.hand)
        found += f", /inspire/state at {arrivals.rate:.0f} Hz with {entries} entries"
        good = good and entries == 12
    if facts.hand_trouble:
        found += f": {facts.hand_trouble}"
    return pass_or_fail(
        "hand",
        good,
        found,
        "DFX: start the manufacturer's hand service on the robot. FTP: ping the hand and check "
        "hand_right_host and hand_left_host. Without hands: hand:=none.",
    )


def cameras_publish(snapshot: RobotSnapshot) -> Finding:
    """Check the rates of the camera topics that are published; a policy may need only some."""
    rates = {topic: snapshot.arrivals(topic).rate for topic in CAMERA_TOPICS}
    slow = {t for t, rate in rates.items() if 0 < rate < (1 - 2 * SLACK) * CAMERA_RATE}
    if all(rate == 0 for rate in rates.values()):
        remedy = "Start a camera driver (docs/robot.md) if the policy needs cameras."
        return Finding("cameras", SKIP, "no camera publishes", remedy)
    found = ", ".join(f"{topic} {rates[topic]:.0f} Hz" for topic in CAMERA_TOPICS)
    return pass_or_fail(
        "cameras",
        not slow,
        found,
        f"A policy that needs {', '.join(sorted(slow))} requires {CAMERA_RATE:g} Hz or more: check "
        "the driver's settings and the load. 0 Hz: not published, or the topic is not remapped, or "
        "camera_points receives no depth.",
    )


def clocks_agree(snapshot: RobotSnapshot) -> Finding:
    """Check that stamps of joint states and images are recent by this machine's clock."""
    ages = {topic: snapshot.arrivals(topic).age for topic in ("/joint_states", *CAMERA_TOPICS)}
    known = {topic: age for topic, age in ages.items() if not np.isnan(age)}
    if not known:
        return Finding("clocks", SKIP, "no stamped messages")
    wrong = [topic for topic, age in known.items() if not -AHEAD <= age <= LATE]
    found = ", ".join(f"{topic} {1e3 * age:.0f} ms" for topic, age in known.items())
    return pass_or_fail(
        "clocks",
        not wrong,
        f"age on arrival: {found}",
        f"{', '.join(wrong)}: synchronise the clocks of both machines (chrony, PTP). If images "
        "have a high latency, reduce the resolution or the load.",
    )


def instruction_is_published(snapshot: RobotSnapshot) -> Finding:
    """Check that an instruction is published for language-conditioned policies."""
    if snapshot.instruction is None:
        remedy = "A language-conditioned policy waits for it: launch with instruction:=..."
        return Finding("instruction", SKIP, "no publisher on /instruction", remedy)
    return Finding("instruction", PASS, snapshot.instruction.split("\n")[0][:60])


CHECKS: tuple[Callable[[RobotSnapshot], Finding], ...] = (
    robot_publishes,
    crc_is_valid,
    tick_advances,
    mode_is_constant,
    motors_are_healthy,
    joints_are_within_limits,
    arm_is_at_rest,
    bridge_is_idle,
    only_the_bridge_commands,
    supervisor_runs,
    joint_states_agree,
    posture_is_home,
    hand_responds,
    cameras_publish,
    clocks_agree,
    instruction_is_published,
)
"""All checks, in the order in which failures should be fixed."""


def run_checks(snapshot: RobotSnapshot) -> list[Finding]:
    """Return the findings of all checks."""
    return [check(snapshot) for check in CHECKS]
