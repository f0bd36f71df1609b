"""Test that nodes reject changes of parameters with which they would fail later."""

from dataclasses import fields
from importlib.metadata import entry_points

import pytest

from rulesafe_core.settings import Settings
from rulesafe_core.start import NODES

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient

pytestmark = pytest.mark.ros


def test_each_changeable_parameter_is_validated():
    """A number has both bounds, and a text a check."""
    for entry in entry_points(group=NODES):
        entry.load()
    kinds = [Settings]
    for kind in kinds:
        kinds += kind.__subclasses__()
    found = {
        f"{kind.__name__}.{of.name}": of
        for kind in kinds
        for of in fields(kind)
        if of.metadata.get("changeable")
    }
    assert {"MemoryParameters.model", "PolicyParameters.policy"} <= found.keys()
    for name, of in found.items():
        if of.type in (int, float):
            assert {"low", "high"} <= of.metadata.keys(), name
        else:
            assert of.type is bool or of.metadata["check"], name


@pytest.fixture
def change(client):
    """change(NODE, atomically=False, **VALUES) -> "" or the reason why it was rejected."""
    clients = {}

    def set_(node, atomically=False, **values):
        remote = clients.setdefault(node, AsyncParameterClient(client, node))
        client.until(remote.services_are_ready, f"the parameter services of {node}")
        client.until_discovered(remote)
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        how = remote.set_parameters_atomically if atomically else remote.set_parameters
        future = how(parameters)
        client.until(future.done, "a reply")
        reply = future.result()
        (result,) = [reply.result] if atomically else reply.results
        assert result.successful == (not result.reason)
        return result.reason

    return set_


def test_the_memory_node_rejects_what_it_cannot_load(
    client, change, start, model_dir, save_random_model
):
    node = "vq_memory_node"
    start(f"{node}.node", f"model:={model_dir}", "autostart:=false")
    assert change(node, clusters=7) == "unknown number of clusters 7; valid: 4, 16"
    assert "no model 'nobody'; valid: " in change(node, model="nobody")
    assert change(node, grid="end") == "unknown grid 'end'; valid: sliding, from_start"
    assert "expected abc" in change(node, model_hash="abc")
    assert "out of range. Min: 0, Max: 1000" in change(node, length=1001)
    assert not change(node, clusters=16)
    assert "valid: " in change(node, model="all_rules")  # which has no 16 clusters
    assert not change(node, atomically=True, model="all_rules", clusters=32)
    configure = client.create_client(ChangeState, f"/{node}/change_state")
    client.meet(configure)
    transition = Transition(id=Transition.TRANSITION_CONFIGURE)
    future = configure.call_async(ChangeState.Request(transition=transition))
    client.until(future.done, "the transition")
    assert future.result().success


def test_the_policy_node_rejects_what_it_cannot_load(change, start, tmp_path):
    node = "policy_node"
    start(f"{node}.node", "autostart:=false")
    assert not change(node, execute_steps=10)  # no policy is given yet
    assert "no policy 'nobody'; valid: dp3_rule_001, " in change(node, policy="nobody")
    assert "No module named 'nobody'" in change(node, policy="nobody:Nobody")
    assert "unknown attribute of json" in change(node, policy="json:Nobody")
    (tmp_path / "policy.json").write_text("[]")
    assert "it must be an object, not []" in change(node, policy=str(tmp_path))
    assert "no policy given" in change(node, policy="")
    assert not change(node, policy="dp3_rule_001")


@pytest.mark.parametrize(
    ("module", "given", "line"),
    [
        (
            "rulesafe_sim.node",
            ("rul:=rule_002", "safe:=safe_03", "seed:=4", "split:=varied", "cameras:=false"),
            "[sim_node]: parameters: rule='rule_001', safe='safe_03', seed=4, split='varied', ",
        ),
        (
            "vq_memory_node.node",
            ("model:=all_rules", "clusters:=32"),
            "[vq_memory_node]: parameters: policy='', model='all_rules', clusters=32, length=0, ",
        ),
        (
            "policy_node.node",
            ("policy:=dp3_rule_001",),
            "[policy_node]: parameters: policy='dp3_rule_001', execute_steps=12, ",
        ),
        (
            "rulesafe_eval.node",
            ("safe:=safe_03", "seed:=4"),
            "[evaluator_node]: parameters: policy='none', rule='rule_001', safe='safe_03', ",
        ),
        (
            "h1_2_bridge.node",
            ("speed:=0.2", "dry_run:=true"),
            "[h1_2_bridge]: parameters: speed=0.2, hand_speed=1.0, ",
        ),
    ],
)
def test_a_node_logs_its_parameters_once(start, module, given, line):
    process = start(module, *given)
    output = ""
    while line not in output:
        output += (read := process.process.stdout.readline())
        assert read, output
    _, rest = process.stop()
    assert (output + rest).count("parameters: ") == 1, output + rest
