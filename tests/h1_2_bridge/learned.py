"""Run a learned policy in the loop of simulated.py with observations as on a real robot.

Joint states come from the bridge and point clouds from `camera_points` with a rendered depth image.
Observations and chunks are delayed.
"""

from contextlib import suppress

import numpy as np
from simulated import Loop

from h1_2_bridge.camera_points import CloudMaker, Pinhole
from policy_node.inference import RequestSchedule
from policy_node.loading import find_policy, memory_of_policy
from policy_node.synchroniser import POINTS, Synchroniser
from rulesafe_core.chunks import PERIOD, SECOND, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_locks.rules import load_rule
from rulesafe_sim.observer import Observer
from vq_memory_node.rolling import RollingMemory

EXECUTE = 12
CAMERA_DELAY, INFERENCE_TIME = SECOND // 20, SECOND // 10
"""Delays of point clouds and of the inference, ns."""


class Eye:
    """The head camera of the simulated robot."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._observer = Observer(loop.robot.simulation)
        matrix = self._observer.rig.intrinsics("head")
        self._camera = Pinhole(224, 224, tuple(matrix.ravel().tolist()), (0.0,) * 5)
        self._maker = CloudMaker()

    def cloud(self) -> np.ndarray:
        """Return the current point cloud (1024, 6) of camera_points."""
        rgb = self._observer.observe(("head",))["head"]
        depth = self._observer.rig.depth("head")
        rng = np.random.default_rng(self._loop.now // PERIOD)
        return self._maker.cloud(depth, rgb, self._camera, self._loop.joints(), rng)


def play(loop: Loop, policy_name: str, patience: float) -> bool:
    """Return whether the policy opens the door within `patience` s in an engaged loop."""
    policy, eye = find_policy(policy_name, 1), Eye(loop)
    sync = Synchroniser(policy.needs, memory=RollingMemory(memory_of_policy(policy)))
    sync.instruction = load_rule(loop.rule).description
    sync.start(loop.clock)
    schedule, end = RequestSchedule(sync, EXECUTE), loop.clock + round(patience * SECOND)
    clouds: list[tuple[int, np.ndarray]] = []
    chunks: list[tuple[int, object, np.ndarray]] = []
    while loop.clock < end and not loop.robot.simulation.success:
        loop.step()
        now = loop.clock
        if now % (SECOND // 100):
            continue
        joints = loop.joints()
        sync.joints(now, ALL_JOINTS, np.array([joints[name] for name in ALL_JOINTS]))
        if now % PERIOD == 0:
            clouds.append((now, eye.cloud()))
        while clouds and clouds[0][0] + CAMERA_DELAY <= now:
            sync.camera_data(POINTS, *clouds.pop(0))
        if not chunks and (request := schedule.request()):
            if request.begins:
                policy.reset()
            chunks.append((now + INFERENCE_TIME, request, policy.infer(request.observation)))
        if chunks and chunks[0][0] <= now:
            _, request, rows = chunks.pop()
            if schedule.accept(request):
                with suppress(RuleSafeError):  # a refused chunk is ignored
                    loop.core.accept(make_chunk(ACTION_JOINTS, rows, request.stamp), now)
    return loop.robot.simulation.success
