"""Loading policies by name, including classes of users."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from policy_node.loading import SCHEMES, check_policy, find_policy, memory_of_policy
from policy_node.policy import CHUNK, Needs, Observation, check_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import INTEGRATIONS
from rulesafe_studies.controls import PastActions
from rulesafe_studies.keyframes import OraclePhases
from vq_memory_node.memory import WIDTHS, NoMemory, RawMemory

EXAMPLES = Path(__file__).parents[2] / "examples/policies"

MODULE = """
from vq_memory_node.memory import RawMemory
from policy_node.policy import Needs

class Blind: pass
class Asking:
    needs = Needs()
class Forgetful:
    needs = Needs(memory=True)
    def reset(self): ...
    def infer(self, observation): ...
class Recalling(Forgetful):
    memory = RawMemory(length=7)
class Greedy(Forgetful):
    def __init__(self, size): ...
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "my_policies.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "my_policies"
    sys.modules.pop("my_policies", None)


def test_the_example_is_a_policy(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    policy = find_policy("hold_still:HoldStill")
    policy.reset()
    joints = np.random.default_rng(0).uniform(-1, 1, (1, 13)).astype(np.float32)
    chunk = check_chunk(policy.infer(Observation(joints)))
    assert (chunk == joints[-1]).all() and len(chunk) == CHUNK
    assert memory_of_policy(policy) == NoMemory()


def test_a_policy_says_which_memory_it_needs(mine):
    assert memory_of_policy(find_policy(f"{mine}:Recalling")) == RawMemory(length=7)
    assert find_policy(f"{mine}:Recalling").needs == Needs(memory=True)
    with pytest.raises(RuleSafeError, match="this one has None"):
        memory_of_policy(find_policy(f"{mine}:Forgetful"))


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        (OraclePhases(), "OraclePhases observes phases, which are privileged; .*`rulesafe eval`"),
        (PastActions(), "PastActions observes actions; such a policy runs in `rulesafe eval` and"),
    ],
)
def test_a_memory_of_other_inputs_than_joint_positions_needs_an_evaluation(memory, reason, mine):
    """The policy node and policy servers observe joint positions only."""
    policy = find_policy(f"{mine}:Recalling")
    policy.memory = memory
    with pytest.raises(RuleSafeError, match=reason):
        memory_of_policy(policy)
    assert memory_of_policy(policy, WIDTHS) == memory


def test_what_is_wrong_in_it_is_shown_where_it_is(tmp_path, monkeypatch):
    """The traceback contains no lines of Python or of this package."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for number, (text, last) in enumerate(
        [
            ("class P\n", "SyntaxError: expected ':'"),
            ("import no_such_thing\n", "ModuleNotFoundError: No module named 'no_such_thing'"),
            ("x = [][1]\n", "IndexError: list index out of range"),
            ("class P:\n    def __init__(self): [][1]\n", "IndexError: list index out of range"),
        ]
    ):
        file = tmp_path / f"wrong_{number}.py"
        file.write_text(text)
        with pytest.raises(RuleSafeError, match=r"cannot be (imported|instantiated):") as raised:
            find_policy(f"{file.stem}:P")
        lines = str(raised.value).splitlines()
        assert lines[-1] == last
        assert [line.split('"')[1] for line in lines if line.startswith("  File ")] == [str(file)]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "no policy given"),
        (
            "my_policies:Nobody",
            "unknown attribute of my_policies 'Nobody'; valid: Blind, Asking, .*",
        ),
        ("my_policy:Nobody", "No module named 'my_policy'"),
        ("my_policies:Greedy", "cannot be instantiated: .* missing 1 required .* 'size'$"),
        ("my_policies:Blind", "`needs` must be a policy_node.policy.Needs"),
        ("my_policies:Asking", r"no method reset\(\)"),
    ],
)
def test_what_is_no_policy_is_refused_with_the_reason(mine, name, reason):
    with pytest.raises(RuleSafeError, match=reason):
        find_policy(name)


REMOTE = """
from policy_node.policy import Needs

class Remote:
    needs = Needs()

    def __init__(self, address):
        self.parse(address)

    @classmethod
    def parse(cls, address):
        if "host" not in address:
            raise ValueError(address)

    def reset(self): ...
    def infer(self, observation): ...
"""


def test_a_scheme_is_an_entry_point(installed):
    installed("my_remote", REMOTE, "[rulesafe.policy_schemes]\nmine = my_remote:Remote\n")
    assert type(find_policy("mine://host")).__name__ == "Remote"
    check_policy("mine://host")
    with pytest.raises(ValueError, match="mine://other"):
        check_policy("mine://other")
    for find in (find_policy, check_policy):
        with pytest.raises(RuleSafeError, match=r"unknown scheme .* 'yours'; valid: .*mine"):
            find("yours://host")


def test_a_scheme_that_is_not_installed_names_its_distribution(monkeypatch):
    monkeypatch.setitem(INTEGRATIONS[SCHEMES.group], "later", "my_folder")
    with pytest.raises(RuleSafeError, match=r"'later' .* pip install \./integrations/my_folder"):
        find_policy("later://host")


def test_a_device_that_is_not_available_is_refused():
    pytest.importorskip("torch")
    with pytest.raises(RuleSafeError, match=r"^device 'gpu' is not available: Expected"):
        find_policy("dp3_rule_001", device="gpu")


def test_a_chunk_with_gradients_is_refused_with_what_to_do():
    with pytest.raises(RuleSafeError, match=r"a Tensor that is not an array.*detach\(\)"):
        check_chunk(torch.zeros(CHUNK, 13, requires_grad=True))
