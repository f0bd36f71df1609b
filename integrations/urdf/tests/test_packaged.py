"""Conversion of MuJoCo models (mjcf_to_urdf.py), and safes assembled from the models that
other projects publish."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packaged_safes import CONVERTER, PACKAGED

from planner_node.episode import run_expert
from rulesafe_core.urdf_reader import read_kinematics
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safe_families import Bar, Lever
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.stand import stand_shapes
from rulesafe_urdf.importing import import_urdf
from rulesafe_urdf.propose import propose
from rulesafe_urdf.source import read_source

MODEL = """
<mujoco>
  <compiler angle="radian"/>
  <asset>
    <mesh name="a wedge" vertex="0 0 0  .3 0 0  0 .2 0  0 0 .1" scale="1 2 1"/>
    <material name="red" rgba="1 0 0 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="case" pos=".1 .2 .3" euler=".3 .4 .5">
      <geom type="box" size=".2 .1 .3" material="red"/>
      <geom type="sphere" size=".5" group="3"/>
      <body name="door" pos=".2 0 .1" euler="0 .7 .2">
        <joint name="hinge" axis="1 2 3" pos=".1 -.2 .3" range="-1 2" ref=".4"/>
        <geom type="mesh" mesh="a wedge" pos=".01 .02 .03" euler="1 2 3"/>
        <body name="bolt" pos="0 .1 0" euler="1.5707963 1.5707963 0">
          <joint name="slide" type="slide" axis="0 1 1" pos="0 0 .1" range="0 .2" ref=".05"/>
          <geom type="capsule" size=".02 .1" rgba="0 0 1 1"/>
          <body pos=".1 0 0">
            <joint axis="0 1 0" pos="0 .1 0"/>
            <geom type="cylinder" size=".02 .1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

POSES = """
import json, sys
import mujoco
model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
data.qpos[:] = json.loads(sys.argv[2])
mujoco.mj_kinematics(model, data)
found = {}
for body in range(1, model.nbody):
    turn, at = data.xmat[body].reshape(3, 3), data.xpos[body]
    if model.body_jntnum[body]:
        at = at + turn @ model.jnt_pos[model.body_jntadr[body]]
    found[model.body(body).name or f"body_{body}"] = [*at, *turn.flatten()]
mesh = next(i for i in range(model.ngeom) if model.geom_dataid[i] >= 0)
corners = model.mesh_vert @ data.geom_xmat[mesh].reshape(3, 3).T + data.geom_xpos[mesh]
print(json.dumps([found, corners.min(0).tolist(), corners.max(0).tolist()]))
"""


@pytest.fixture(scope="session")
def mujoco(peers) -> dict[str, str]:
    """The environment of processes that import mujoco."""
    return peers("mujoco", "mujoco==3.3.7") | {"MUJOCO_GL": "disable"}


@pytest.fixture
def converted(mujoco, tmp_path):
    def convert(model: str, *arguments: str) -> subprocess.CompletedProcess:
        (tmp_path / "model.xml").write_text(model)
        command = [sys.executable, CONVERTER, tmp_path / "model.xml", tmp_path / "out/model.urdf"]
        command += arguments
        return subprocess.run(command, capture_output=True, text=True, env=mujoco, timeout=100)

    return convert


@pytest.mark.parametrize("positions", [(0.4, 0.05, 0.0), (-0.7, 0.17, 2.5), (1.9, 0.0, -1.0)])
def test_links_are_where_mujoco_places_the_bodies(converted, mujoco, tmp_path, positions):
    run = converted(MODEL)
    assert run.returncode == 0, run.stderr
    assert "is a plane and is left out" in run.stdout
    model = str(tmp_path / "model.xml")
    command = [sys.executable, "-c", POSES, model, json.dumps(positions)]
    expected, low, high = json.loads(subprocess.check_output(command, text=True, env=mujoco))
    urdf = tmp_path / "out/model.urdf"
    source = read_source(urdf)
    values = dict(zip(("hinge", "slide", "body_4_joint"), positions, strict=True))
    poses = source.poses(values)
    for name, numbers in expected.items():
        np.testing.assert_allclose(poses[name][:3, 3], numbers[:3], atol=1e-6)
        np.testing.assert_allclose(poses[name][:3, :3].flatten(), numbers[3:], atol=1e-6)
    (wedge,) = source.links["door"].visual
    corners = wedge.moved(poses["door"]).vertices
    np.testing.assert_allclose([corners.min(0), corners.max(0)], [low, high], atol=1e-6)
    hinged = read_kinematics(urdf.read_text()).link_poses(values)  # slides are fixed there
    np.testing.assert_allclose(hinged["door"], poses["door"], atol=1e-9)


def test_shapes_colours_and_limits_are_converted(converted, tmp_path):
    assert converted(MODEL, "--body", "case").returncode == 0
    source = read_source(tmp_path / "out/model.urdf")
    assert source.root == "case"
    assert [len(link.visual) for link in source.links.values()] == [1, 1, 3, 1]
    assert source.links["case"].visual[0].material.color == pytest.approx((1, 0, 0))
    assert source.links["bolt"].visual[0].material.color == pytest.approx((0, 0, 1))
    kinds = {joint.name: (joint.kind, joint.lower, joint.upper) for joint in source.joints}
    assert kinds["hinge"] == ("revolute", -1.0, 2.0)
    assert kinds["slide"] == ("prismatic", 0.0, 0.2)
    assert kinds["body_4_joint"][0] == "continuous"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<joint name="hinge"', '<joint name="lift" type="slide"/><joint name="hinge"', "2 joints"),
        (
            "<geom type=",
            '<body><freejoint/><geom size="1"/></body><geom type=',
            "free or ball joint",
        ),
        (' range="0 .2"', "", "slide joint slide has no range"),
        ("<body ", "<bodies ", "model.xml: "),
    ],
)
def test_a_model_that_a_urdf_cannot_express_is_refused(converted, tmp_path, old, new, message):
    changed = MODEL.replace(old, new, 1)
    run = converted(changed)
    assert run.returncode == 1 and message in run.stderr
    assert not (tmp_path / "out/model.urdf").exists()


def test_an_unknown_body_is_named(converted):
    run = converted(MODEL, "--body", "lid")
    assert "has no body 'lid'; valid: world, case, door, bolt" in run.stderr


DOOR = """
<robot name="door">
  <link name="frame">
    <visual><origin xyz="-.18 0 0"/>
    <geometry><cylinder radius=".02" length=".4"/></geometry></visual>
    <visual><origin xyz=".18 0 0"/>
    <geometry><cylinder radius=".02" length=".4"/></geometry></visual>
  </link>
  <link name="panel">
    <visual><origin xyz=".15 0 0"/><geometry><box size=".3 .03 .3"/></geometry></visual>
  </link>
  <joint name="hinge" type="revolute">
    <origin xyz="-.15 0 0"/><parent link="frame"/><child link="panel"/><axis xyz="0 0 1"/>
    <limit lower="{}" upper="{}"/>
  </joint>
</robot>
"""


@pytest.mark.parametrize(("limits", "front"), [((-1.5, 0.0), "-y"), ((0.0, 1.5), "+y")])
def test_a_door_in_a_frame_opens_to_its_front(limits, front, tmp_path):
    """It has neither case, knob nor handle, and is shallower than the insets of the stand."""
    urdf = tmp_path / "door.urdf"
    urdf.write_text(DOOR.format(*limits))
    assert propose(read_source(urdf)).mapping.front == front
    result = import_urdf(urdf, tmp_path / "safe.yaml")
    assert result.fault == ""
    safe = load_safe(result.file)
    stand = stand_shapes(safe_body(safe), np.eye(4))
    assert all(min(shape.size[:2]) > 0.003 for shape in stand)


@pytest.fixture(scope="session")
def packaged(mujoco, tmp_path_factory) -> dict[str, Path]:
    """The URDFs of the packaged safes. Run with RULESAFE_MUJOCO_PACKAGES set to a folder of the
    packages (packaged_safes.py has the command)."""
    packages = Path(os.environ.get("RULESAFE_MUJOCO_PACKAGES", ""))
    names = ("metaworld", "robosuite", "gymnasium_robotics")
    if not all((packages / name).is_dir() for name in names):
        pytest.skip(f"RULESAFE_MUJOCO_PACKAGES is no folder of {', '.join(names)}")
    out = tmp_path_factory.mktemp("packaged")
    script = Path(__file__).with_name("packaged_safes.py")
    command = [sys.executable, script, out, "--packages", packages]
    run = subprocess.run(command, capture_output=True, text=True, env=mujoco, timeout=300)
    assert run.returncode == 0, run.stderr
    return {name: out / f"{name}.urdf" for name in PACKAGED}


@pytest.mark.parametrize("name", PACKAGED)
def test_the_expert_opens_packaged_safes(packaged, name, tmp_path):
    result = import_urdf(packaged[name], tmp_path / f"{name}.yaml")
    assert result.fault == ""
    safe = load_safe(result.file)
    hinges = dict.fromkeys(PACKAGED, "right") | {"metaworld_safe": "left"}
    assert safe.hinge == (hinges | {"kitchen_microwave": "left"})[name]
    if name != "kitchen_microwave":  # which has neither knob nor handle
        assert isinstance(safe.handle.shape.grip, Lever)
    if name == "metaworld_safe":
        assert isinstance(safe.knob.shape.grip, Bar)  # on the face of a round dial
    simulation = Simulation()
    simulation.reset("rule_001", safe, seed=0)
    assert run_expert(simulation).success
