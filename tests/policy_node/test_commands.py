import json
import re

import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

from policy_node.checkpoints import read_policy
from policy_node.families import FAMILIES
from rulesafe_cli import cli
from rulesafe_locks.rules import load_rule

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
    told = capsys.readouterr().out
    weights = sum(value.numel() for value in read_policy(trained).network().parameters())
    assert f"{weights:,}" in told
    assert load_rule("rule_020").description in told
    assert "(40) int64" in told
    assert "chunk (50, 13)" in told


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


def test_a_family_of_one_s_own_is_reached_by_name(tmp_path, capsys):
    (tmp_path / "policy.json").write_text('{"family": "mlp"}')
    for words in ((tmp_path,), ("--policy", "mlp")):
        assert run("describe", *words) == 2
        told = capsys.readouterr().err
        assert "unknown policy 'mlp'; valid: dp3" in told and "module:name" in told
    assert run("train", "x", "--policy", "mlp", "--memory", "none", "--out", tmp_path / "y") == 2
    assert "train.py that imports it" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["tiny", "base"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_described_without_weights(family, size, capsys):
    pytest.importorskip("transformers")
    assert run("describe", "--policy", family, "--size", size, "--memory", "none") == 0
    told = capsys.readouterr().out
    assert "GFLOP" in told
    assert "memory_mask" not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("describe",), "name a checkpoint or a family"),
        (("describe", "nowhere"), "no policy 'nowhere'"),
        (("describe", "--policy", "act"), "unknown policy 'act'; valid: dp3"),
        (("describe", "--policy", "dp3", "--size", "huge"), "valid: tiny, base"),
        (("describe", "--policy", "dp3", "--memory", "tape"), "valid: none, raw, vq, fsq"),
    ],
)
def test_what_cannot_be_described_is_said(words, message, capsys):
    assert run(*words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--memory", "tape"), "valid: none, raw, vq, fsq"),
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
