"""Sealed evaluations: a key determines seeds and locks, and a submission is compared with it."""

import copy
import hashlib
import json
from collections import Counter
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_design.difficulty import cell_of
from rulesafe_eval import sealed
from rulesafe_eval.benchmark_names import SEALED, SEALED_LOCKS, benchmark_of
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.sealed import SealedKey, read_key, unseal
from rulesafe_eval.submission import obstacle, read_submission
from rulesafe_locks.automata import possible, smallest
from rulesafe_locks.lock_files import dump_lock, find_lock
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_sim.episodes import MAX_BASE, SEEDS_PER_RULE, attempt_seed, plan_episodes
from rulesafe_sim.randomisation import SPLITS, sample_variation

SECRET = bytes(range(32))
OTHER = bytes(range(1, 33))
COMMITMENT = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
SEED = 249974690327689
LOCKS_DIGEST = "0e63d3e5bb4e76a2df8fac7b887bb4f2dddd5e6fadeaa84cf86db62fc3ab7a2d"


def lock_id(number):
    return f"sealed_{COMMITMENT[:8]}_{number:03d}"


@pytest.fixture(scope="session")
def key_files(tmp_path_factory):
    """The files of SECRET and OTHER."""
    folder = tmp_path_factory.mktemp("keys")
    paths = folder / "sealed.key", folder / "other.key"
    for path, secret in zip(paths, (SECRET, OTHER), strict=True):
        path.write_text(secret.hex() + "\n")
    return paths


@pytest.fixture(scope="module", autouse=True)
def keys_are_read_once():
    """Sample the locks of a key file once, which takes up to a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sealed, "read_key", cache(read_key))
        yield


def test_a_key_has_a_fixed_commitment_and_seed():
    """Computed with the functions of Python's hashlib and hmac as the documentation states."""
    key = SealedKey(SECRET)
    assert (key.commitment, key.seed) == (COMMITMENT, SEED)
    assert SECRET.hex() not in repr(key) and str(SECRET) not in repr(key)


def test_seeds_differ_by_key_and_from_those_of_demonstrations():
    seeds = [SealedKey(secret).seed for secret in (SECRET, OTHER)]
    assert min(seeds) > attempt_seed(MAX_BASE, "my_lock", SEEDS_PER_RULE - 1)
    ranges = SPLITS["nominal"].randomisation
    first, second = (sample_variation(ranges, "safe_02", seed) for seed in seeds)
    assert first.placement != second.placement


def test_the_commitment_is_printed(key_files, capsys):
    assert main(["eval", "commitment", str(key_files[0])]) == 0
    assert capsys.readouterr().out == f"{COMMITMENT}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SECRET.hex()[:62], "has only 62 digits; valid: 64 or more hexadecimal digits"),
        ("", "has only 0 digits"),
        ("correct horse battery staple " * 4, "has no key; valid: 64 or more hexadecimal"),
    ],
)
def test_a_key_that_is_too_short_or_no_number_is_refused(text, message, tmp_path):
    (tmp_path / "bad.key").write_text(text)
    with pytest.raises(RuleSafeError) as error:
        read_key(tmp_path / "bad.key")
    assert message in str(error.value)
    assert not text or text.strip() not in str(error.value)
    with pytest.raises(RuleSafeError, match=r"does not exist; it contains 64 or more"):
        read_key(tmp_path / "none.key")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--benchmark", "sealed"], "derived from a secret key: add --key-file"),
        (["--benchmark", "multi_task", "--key-file", "KEY"], "are not secret: omit --key-file"),
        (["--rules", "rule_002", "--key-file", "KEY", "--seed", "3"], "omit --seed"),
        (["--benchmark", "sealed", "--key-file", "KEY", "--episodes", "3"], "omit --episodes"),
    ],
)
def test_conditions_of_a_sealed_evaluation(options, text, key_files, capsys, tmp_path):
    options = [str(key_files[0]) if option == "KEY" else option for option in options]
    assert main(["eval", "--policy", "expert", "--out", str(tmp_path / "x"), *options]) == 2
    assert text in capsys.readouterr().err


def test_the_sealed_benchmark_is_recognised():
    plan = plan_episodes("rule_001", ",".join(SEALED.safes), "nominal", SEALED.episodes, SEED)
    request = make_request(Setup("expert"), {}, plan, COMMITMENT)
    locks = tuple(map(lock_id, range(1, SEALED_LOCKS + 1)))
    assert benchmark_of(request) == ""
    assert benchmark_of(replace(request, rules=locks)) == "sealed"
    for change in ({"rules": locks[1:]}, {"rules": locks[:1] * 27}, {"episodes": 9}):
        assert benchmark_of(replace(request, **{"rules": locks, **change})) == ""
    assert benchmark_of(replace(request, rules=locks, commitment="0" * 64)) == ""


def test_large_seeds_need_a_commitment():
    with pytest.raises(RuleSafeError, match=r"evaluations have the seeds 0\.\.9999"):
        make_request(Setup("expert"), {}, plan_episodes("rule_001", "safe_01", seed=SEED))


def test_files_besides_the_locks_of_the_key_are_not_submitted():
    request = {"rules": [lock_id(1)], "safes": ["safe_01"], "split": "nominal", "setup": {}}
    request |= {"commitment": COMMITMENT, "locks": {lock_id(1): "a.json"}}
    request["files"] = {f"{lock_id(1)}.json": "0" * 64}
    assert obstacle(request) == ""
    assert "my_safe.yaml" in obstacle(request | {"files": {"my_safe.yaml": "0" * 64}})
    assert "my_lock" in obstacle(request | {"rules": ["my_lock"]})
    assert lock_id(1) in obstacle(request | {"commitment": ""})
    assert lock_id(1) in obstacle(request | {"commitment": "0" * 64})


@pytest.mark.episode
def test_the_locks_of_a_key(key_files):
    """Fixed by their digest, with the difficulty of sampled_test, and none of a shipped lock."""
    locks = sealed.read_key(key_files[0]).locks
    text = "".join(map(dump_lock, locks.values()))
    assert hashlib.sha256(text.encode()).hexdigest() == LOCKS_DIGEST
    test = [find_lock(rule) for rule in rule_sets()["sampled_test"]]
    cells = [Counter(cell_of(lock.facts) for lock in found) for found in (locks.values(), test)]
    assert cells[0] == cells[1] and len(locks) == SEALED_LOCKS
    shipped = {smallest(possible(find_lock(rule).automaton)) for rule in rule_sets()["sampled"]}
    assert not shipped & {smallest(possible(lock.automaton)) for lock in locks.values()}


def test_locks_are_not_sampled_differently_on_a_busy_machine(monkeypatch):
    """A sample that exceeds a limit would otherwise be replaced by the next one."""
    counted = Counter(accepted=27, time=2, duplicate=40)
    report = SimpleNamespace(outcomes=counted, stopped="", accepted=27, count=27, locks=[])
    monkeypatch.setattr(sealed, "generate", lambda *given: report)
    with pytest.raises(RuleSafeError, match="2 samples exceeded the limits of the sandbox"):
        _ = SealedKey(SECRET).locks


@pytest.mark.episode
def test_another_key_gives_other_locks(monkeypatch):
    monkeypatch.setattr(sealed, "PER_CELL", 1)
    first, second = (list(SealedKey(secret).locks.values()) for secret in (SECRET, OTHER))
    assert len(first) == len(second) == 9
    assert not {lock.id for lock in first} & {lock.id for lock in second}
    assert {lock.description for lock in first} != {lock.description for lock in second}


@pytest.fixture(scope="module")
def run(key_files, tmp_path_factory, keys_are_read_once):
    """The directory of a sealed evaluation of the expert, under rule_002 and a lock of the key."""
    folder, key = tmp_path_factory.mktemp("sealed") / "run", sealed.read_key(key_files[0])
    lock = min(key.locks.values(), key=lambda lock: lock.facts["steps"])
    options = ["--rules", f"rule_002,{lock.id}", "--safes", "safe_02", "--episodes", "1"]
    options += ["--key-file", str(key_files[0]), "--films", "0", "--out", str(folder)]
    assert main(["eval", "--policy", "expert", *options]) == 0
    return folder


@pytest.fixture
def content(run):
    return copy.deepcopy(read_submission(run))


@pytest.mark.episode
def test_a_sealed_submission_is_verified_with_its_key(run, key_files, capsys):
    assert main(["eval", "verify", str(run), "--key-file", str(key_files[0])]) == 0
    output = capsys.readouterr().out
    assert f"commitment {COMMITMENT}" in output
    assert output.splitlines()[-1] == "verified: expert opened 2 of 2"


@pytest.mark.episode
def test_the_files_have_the_commitment_and_not_the_key(run):
    for name in ("eval.json", "results.json", "submission.json"):
        content = json.loads((run / name).read_text())
        assert content.get("request", content)["commitment"] == COMMITMENT
    assert COMMITMENT in (run / "report.html").read_text()
    for path in filter(lambda path: path.is_file(), run.rglob("*")):
        assert SECRET.hex() not in path.read_bytes().decode("latin1").lower()
        assert SECRET not in path.read_bytes()


@pytest.mark.episode
def test_a_sealed_submission_needs_its_key(run, content, key_files, capsys, tmp_path):
    verify = ["eval", "verify", str(run)]
    assert main(verify) == 2
    assert f"sealed, with commitment {COMMITMENT}: add --key-file" in capsys.readouterr().err
    assert main([*verify, "--key-file", str(key_files[1])]) == 2
    assert f"and the submission {COMMITMENT}" in capsys.readouterr().err
    content["request"]["commitment"] = ""
    with pytest.raises(RuleSafeError, match="not sealed: omit --key-file"):
        unseal(content, sealed.read_key(key_files[0]), tmp_path)


def change_commitment(request):
    request["commitment"] = SealedKey(OTHER).commitment


def change_seed(request):
    request["seed"] += 1


def change_a_lock(request):
    (name,) = request["files"]
    request["files"][name] = "0" * 64


def omit_the_hash_of_a_lock(request):
    request["files"] = {}


def invent_a_lock(request):
    request["rules"] = [lock_id(999)]


@pytest.mark.episode
@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (change_commitment, "the key has the commitment 630dcd"),
        (change_seed, f"the seed of the key is {SEED}, but is stated as {SEED + 1}"),
        (change_a_lock, "but is stated as 00000"),
        (omit_the_hash_of_a_lock, "but is stated as None"),
        (invent_a_lock, "_999 is not a lock of the key"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_changed_sealed_submission_is_refused(tamper, text, content, key_files, tmp_path):
    tamper(content["request"])
    with pytest.raises(RuleSafeError, match=text):
        unseal(content, sealed.read_key(key_files[0]), tmp_path)


@pytest.mark.episode
def test_an_evaluation_is_resumed_with_the_same_key_only(run, key_files, capsys):
    options = ["--rules", "rule_002", "--safes", "safe_02", "--episodes", "1"]
    options += ["--key-file", str(key_files[1]), "--films", "0", "--out", str(run)]
    assert main(["eval", "--policy", "expert", *options]) == 2
    assert f"commitment: {COMMITMENT} in the directory" in capsys.readouterr().err
