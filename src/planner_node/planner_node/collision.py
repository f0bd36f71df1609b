"""Collision checks of the robot against itself, the safe and its stand (Pinocchio and coal)."""

from collections.abc import Iterable, Mapping

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from planner_node.kinematics import upper_body, upper_body_model
from rulesafe_core.body import Body, Shape, joint_position
from rulesafe_core.joints import ARM_JOINTS, HAND_JOINTS
from rulesafe_core.meshes import Hull, MeshShape, scaled_hull
from rulesafe_core.transforms import Transform

MARGIN = 0.004
"""Clearance (m) that collision-free motions keep."""


def shape_geometry(shape: Shape) -> coal.CollisionGeometry:
    """Return the collision geometry of a shape."""
    if isinstance(shape, MeshShape):
        return _convex(scaled_hull(shape))
    if shape.kind == "box":
        return coal.Box(*shape.size)
    if shape.kind == "sphere":
        return coal.Sphere(shape.size[0])
    if shape.kind == "capsule":
        return coal.Capsule(*shape.size)
    return coal.Cylinder(*shape.size)


def _convex(hull: Hull) -> coal.CollisionGeometry:
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(hull.vertices))
    triangles.extend([coal.Triangle(*corners) for corners in hull.triangles.tolist()])
    return coal.Convex(points, triangles)


def is_forearm(link: str) -> bool:
    """Return whether a link is the right forearm, from the elbow down, or part of the hand."""
    return link.startswith(("R_", "right_wrist", "right_elbow"))


def is_finger(link: str) -> bool:
    return link.startswith("R_") and link != "R_hand_base_link"


class CollisionWorld:
    """Collision geometries of robot, safe and stand, in the pelvis frame.

    `set_safe` sets the poses of the safe's parts. `collides` and `contacts` check a configuration
    of arm and fingers. `permit` allows contact between the fingers and the part that they hold.
    """

    def __init__(self, safe: Body, extra: Iterable[Shape] = ()):
        robot = upper_body()
        self._mimics = {j.name: j for j in robot.joints if j.mimic}
        self.model = upper_body_model()
        self.data = self.model.createData()
        self._arm = [self.model.joints[self.model.getJointId(n)].idx_q for n in ARM_JOINTS]
        self._fingers = {
            name: self.model.joints[i].idx_q
            for i, name in enumerate(self.model.names)
            if name in HAND_JOINTS or name in self._mimics
        }
        self.geometry = pin.GeometryModel()
        self._link_of: list[str] = []
        self._safe_body = safe
        self._safe_local: list[tuple[int, str, Transform]] = []
        self._add_robot(robot)
        self._add_safe(safe, extra)
        self._pairs: list[tuple[str, str]] = []
        self._add_pairs()
        self._geometry_data = pin.GeometryData(self.geometry)
        for request in self._geometry_data.collisionRequests:
            request.security_margin = MARGIN

    def _add_robot(self, robot: Body) -> None:
        for link in robot.links:
            frame = self.model.frames[self.model.getBodyId(link.name)]
            for shape in link.shapes:
                if shape.collides:
                    placement = frame.placement * pin.SE3(shape.pose)
                    self._add(link.name, frame.parentJoint, placement, shape)

    def _add_safe(self, safe: Body, extra: Iterable[Shape]) -> None:
        for link in safe.links:
            for shape in link.shapes:
                if shape.collides:
                    index = self._add(f"safe/{link.name}", 0, pin.SE3.Identity(), shape)
                    self._safe_local.append((index, link.name, shape.pose))
        for shape in extra:
            self._add("stand", 0, pin.SE3(shape.pose), shape)

    def _add(self, link: str, joint: int, placement: pin.SE3, shape: Shape) -> int:
        name = f"{link}#{len(self._link_of)}"
        self._link_of.append(link)
        thing = pin.GeometryObject(name, joint, placement, shape_geometry(shape))
        return self.geometry.addGeometryObject(thing)

    def _add_pairs(self) -> None:
        def named(*starts: str) -> list[int]:
            return [i for i, link in enumerate(self._link_of) if link.startswith(starts)]

        forearm = [i for i, link in enumerate(self._link_of) if is_forearm(link)]
        # The shoulder's first two links turn within the torso's outline, where primitives overlap.
        upper_arm = named("right_shoulder_yaw")
        moving = {*forearm, *named("right_shoulder")}
        rest = [i for i in range(len(self._link_of)) if i not in moving]
        hand = named("R_", "right_wrist")
        pairs = ((forearm, rest), (upper_arm, rest), (hand, named("right_shoulder")))
        for movers, others in pairs:
            for i in movers:
                for j in others:
                    self.geometry.addCollisionPair(pin.CollisionPair(i, j))
                    self._pairs.append((self._link_of[i], self._link_of[j]))

    def set_safe(self, pose_safe_in_pelvis: Transform, positions: Mapping[str, float]) -> None:
        """Set the pose of the safe and the positions (rad, by part name) of its parts."""
        joints = {f"{part}_joint": value for part, value in positions.items()}
        poses = self._safe_body.link_poses(joints)
        for index, link, local in self._safe_local:
            pose = pose_safe_in_pelvis @ poses[link] @ local
            self.geometry.geometryObjects[index].placement = pin.SE3(pose)

    def permit(self, holding: str | None = None) -> None:
        """Allow contact of the fingers with the part `holding` only; None allows no contact."""
        for k, (mover, other) in enumerate(self._pairs):
            if holding is not None and other == f"safe/{holding}" and is_finger(mover):
                self._geometry_data.deactivateCollisionPair(k)
            else:
                self._geometry_data.activateCollisionPair(k)

    def configuration(self, arm: NDArray[np.float64], hand: NDArray[np.float64]):
        """Return the configuration of the model for arm (7,) and finger (6,) positions, rad.

        Mimic joints follow the joints that drive them.
        """
        q = pin.neutral(self.model)
        q[self._arm] = arm
        fingers = dict(zip(HAND_JOINTS, hand.tolist(), strict=True))
        for name, index in self._fingers.items():
            q[index] = (
                fingers[name] if name in fingers else joint_position(self._mimics[name], fingers)
            )
        return q

    def collides(self, arm: NDArray[np.float64], hand: NDArray[np.float64]) -> bool:
        """Return whether any two links touch or are nearer to each other than the margin."""
        q = self.configuration(arm, hand)
        return bool(
            pin.computeCollisions(
                self.model, self.data, self.geometry, self._geometry_data, q, True
            )
        )

    def contacts(self, arm: NDArray[np.float64], hand: NDArray[np.float64]) -> set[tuple[str, str]]:
        """Return the pairs of link names that touch or are nearer than the margin."""
        q = self.configuration(arm, hand)
        found = pin.computeCollisions(
            self.model, self.data, self.geometry, self._geometry_data, q, False
        )
        if not found:
            return set()
        results = self._geometry_data.collisionResults
        return {
            pair
            for k, pair in enumerate(self._pairs)
            if self._geometry_data.activeCollisionPairs[k] and results[k].isCollision()
        }
