import json
import re
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

from policy_node.checkpoints import read_policy
from policy_node.families import FAMILIES
from policy_node.network_policy import load_policy
from policy_node.policy import Observation
from rulesafe_cli import cli
from rulesafe_locks.rules import load_rule
from vq_memory_node.rolling import RollingMemory

QUICK = ("--steps", "3", "--batch", "2", "--checkpoint-every", "2")


def run(*words):
    return cli.main(["policy", *map(str, words)])


def train(small_demos, out, *words):
    return run("train", small_demos, "--policy", "dp3", "--out", out, *QUICK, *words)


@pytest.fixture(scope="module")
def trained(small_demos, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "vq"
    assert train(small_demos, out, "--memory", "vq", "--clusters", "2", "--rules", "rule_020") == 0
    return out


def test_training_learns_from_the_rules_that_are_named(trained):
    found = read_policy(trained)
    assert found.data["instructions"] == [load_rule("rule_020").description]
    assert (found.data["episodes"], found.data["frames"]) == (1, 60)
    assert found.memory.vocabulary == 2
    assert [path.name[:6] for path in trained.parent.iterdir() if path != trained] == ["cache_"]


def test_a_checkpoint_is_described(trained, capsys):
    assert run("describe", trained) == 0
    printed = capsys.readouterr().out
    weights = sum(value.numel() for value in read_policy(trained).network().parameters())
    assert f"{weights:,}" in printed
    assert load_rule("rule_020").description in printed
    assert "(40) int64" in printed
    assert "chunk (50, 13)" in printed


def test_what_a_name_of_one_s_own_loads_is_described(trained, tmp_path, monkeypatch, capsys):
    loads = (
        "from policy_node.network_policy import load_policy\n"
        f"def it(): return load_policy({str(trained)!r})\n"
    )
    (tmp_path / "loading_mine.py").write_text(loads)
    monkeypatch.syspath_prepend(tmp_path)
    assert run("describe", "loading_mine:it") == 0
    mine = capsys.readouterr().out
    assert run("describe", trained) == 0
    assert mine == capsys.readouterr().out


FAMILY = """
from dataclasses import dataclass
import torch
from torch import nn
from policy_node.batches import Network
from policy_node.configs import NetworkConfig
from policy_node.families import Family

@dataclass(frozen=True)
class Config(NetworkConfig):
    width: int = 8

class Linear(Network):
    def __init__(self, config, memory):
        super().__init__()
        self.layer = nn.Linear(13, 50 * 13)
    def predict(self, batch):
        return self.layer(batch.joints[:, -1]).view(-1, 50, 13)
    def loss(self, batch):
        return (self.predict(batch) - batch.actions).abs().mean()
    def sample(self, batch, generator=None):
        return self.predict(batch)

SIZES = {"tiny": Config(), "other": 8}
LINEAR = Family("linear_policy:SIZES", "linear_policy:Linear", "a test", batch=2)
"""


@pytest.fixture
def linear(tmp_path, monkeypatch):
    """Return the name of a family of another package."""
    (tmp_path / "linear_policy.py").write_text(FAMILY)
    monkeypatch.syspath_prepend(tmp_path)
    yield "linear_policy:LINEAR"
    sys.modules.pop("linear_policy", None)


def test_a_configuration_of_another_class_is_refused(linear, capsys):
    assert run("describe", "--policy", linear, "--size", "other") == 2
    assert "other is 8; its class must derive from policy_node.configs.NetworkConfig" in (
        capsys.readouterr().err
    )


def test_a_family_of_another_package_is_trained_loaded_and_described(
    linear, demos, tmp_path, capsys
):
    words = ("--policy", linear, "--memory", "raw", "--out", tmp_path / "out", "--steps", "2")
    assert run("train", demos, *words) == 0
    found = read_policy(tmp_path / "out")
    assert (found.family, found.training["facts"]["config"]["batch"]) == (linear, 2)
    policy = load_policy(tmp_path / "out")
    reading = RollingMemory(policy.memory).read()
    observation = Observation(np.zeros((1, 13), np.float32), memory=reading)
    assert policy.infer(observation).shape == (50, 13)
    capsys.readouterr()
    assert run("describe", tmp_path / "out") == 0
    assert f"{linear} tiny  (a test)" in capsys.readouterr().out


def test_a_family_that_is_unknown_or_is_none_is_refused(linear, tmp_path, capsys):
    for name, message in (
        ("mlp", "unknown policy 'mlp'; valid: dp3, bc, skills, two_level, rdt, cogact, pi0"),
        ("linear_policy:Linear", "valid: a policy_node.families.Family"),
        ("linear_policy:Nothing", "unknown attribute of linear_policy 'Nothing'"),
    ):
        assert run("describe", "--policy", name) == 2
        assert message in capsys.readouterr().err
        words = ("--policy", name, "--memory", "none", "--out", tmp_path / "y")
        assert run("train", "x", *words) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("family", "size"),
    [(name, size) for name, each in FAMILIES.builtin.items() for size in each.configs()],
)
def test_a_family_is_described_without_weights(family, size, capsys):
    pytest.importorskip("transformers")
    assert run("describe", "--policy", family, "--size", size, "--memory", "none") == 0
    printed = capsys.readouterr().out
    assert "GFLOP" in printed
    assert "memory_mask" not in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("describe",), "either the name of a checkpoint or a family"),
        (("describe", "nowhere"), "no policy 'nowhere'"),
        (("describe", "--policy", "dp3", "--size", "huge"), "valid: tiny, base"),
        (
            ("train", ".", "--policy", "two_level", "--memory", "vq", "--out", "x"),
            "requires --skills",
        ),
        (("describe", "--policy", "dp3", "--memory", "tape"), "valid: none, raw, vq, "),
    ],
)
def test_what_cannot_be_described_is_said(words, message, capsys):
    assert run(*words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--memory", "tape"), "valid: none, raw, vq, "),
        (("--memory", "raw", "--clusters", "2"), "the memory raw has no setting 'clusters'"),
        (("--memory", "none", "--rules", "rule_002"), "has no demonstration of"),
        (("--memory", "none", "--batch", "0"), "batch is 0"),
    ],
)
def test_what_cannot_be_trained_is_said(words, message, small_demos, tmp_path, capsys):
    try:
        code = train(small_demos, tmp_path / "out", *words)
    except SystemExit as error:
        code = error.code
    assert code == 2
    shown = capsys.readouterr()
    assert message in " ".join((shown.err + shown.out).split())
    assert not (tmp_path / "out").exists()


def test_training_again_goes_on_and_tells_what_it_took(small_demos, trained, capsys):
    words = ("--memory", "vq", "--clusters", "2", "--rules", "rule_020")
    assert train(small_demos, trained, *words) == 0
    printed = capsys.readouterr().out
    assert "share_waiting_for_data" in printed
    (line,) = (line for line in printed.splitlines() if "share_waiting_for_data" in line)
    for figure in re.findall(r"\d+\.\d+", line):
        assert len(figure.replace(".", "").lstrip("0")) <= 4, line
    about = json.loads((trained / "policy.json").read_text())
    assert about["training"]["facts"]["config"]["steps"] == 3
