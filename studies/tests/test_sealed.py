"""Sealed evaluations: a key determines seeds and locks, and a submission is compared with it."""

import copy
import hashlib
import json
import shutil
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.difficulty import cell_of
from rulesafe_eval.benchmark_names import benchmark_of
from rulesafe_eval.commands_verify import verify
from rulesafe_eval.request import Setup
from rulesafe_eval.submission import read_submission
from rulesafe_locks.automata import possible, smallest
from rulesafe_locks.lock_files import dump_lock, find_lock
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_sim.episodes import MAX_BASE, SEEDS_PER_RULE, attempt_seed
from rulesafe_sim.randomisation import SPLITS, sample_variation
from rulesafe_sim.safes import FILES
from rulesafe_studies import sealed
from rulesafe_studies.__main__ import main
from rulesafe_studies.sealed import SealedKey, read_key, sealed_rules, unseal

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
    assert main(["sealed_commitment", str(key_files[0])]) == 0
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


def test_a_request_has_the_seed_of_the_key_and_files_of_its_locks_only(tmp_path):
    key = SealedKey(SECRET)
    request = key.make_request(tmp_path, ["rule_001"], "safe_01", 2, Setup("expert"), {})
    assert (request.seed, request.commitment) == (SEED, COMMITMENT)
    assert [episode.seed for episode in request] == [SEED, SEED + 1]
    assert benchmark_of(request) == ""
    safe = shutil.copy(FILES["safe_01"], tmp_path / "safe.yaml")
    with pytest.raises(RuleSafeError, match=r"cannot be sealed: .*: .*safe\.yaml"):
        key.make_request(tmp_path, ["rule_001"], str(safe), 2, Setup("expert"), {})


def test_the_locks_are_those_of_the_commitment():
    assert sealed_rules([lock_id(1), "rule_001"], COMMITMENT) == [lock_id(1)]
    assert sealed_rules([lock_id(1)], "0" * 64) == []


@pytest.mark.episode
def test_the_locks_of_a_key(key_files):
    """Fixed by their digest, with the difficulty of sampled_test, and none of a shipped lock."""
    locks = sealed.read_key(key_files[0]).locks
    text = "".join(map(dump_lock, locks.values()))
    assert hashlib.sha256(text.encode()).hexdigest() == LOCKS_DIGEST
    test = [find_lock(rule) for rule in rule_sets()["sampled_test"]]
    cells = [Counter(cell_of(lock.facts) for lock in found) for found in (locks.values(), test)]
    assert cells[0] == cells[1] and len(locks) == 27
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
    assert main(["sealed_eval", "--policy", "expert", *options]) == 0
    return folder


@pytest.fixture
def content(run):
    return copy.deepcopy(read_submission(run))


@pytest.mark.episode
def test_a_sealed_submission_is_verified_with_its_key(run, key_files, capsys):
    assert main(["sealed_verify", str(run), "--key-file", str(key_files[0])]) == 0
    output = capsys.readouterr().out
    assert f"commitment {COMMITMENT}" in output
    assert output.splitlines()[-1] == "verified: 2 of 2 opened"


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
    with pytest.raises(RuleSafeError, match="is sealed; verify it with its key"):
        verify(run)
    assert main(["sealed_verify", str(run), "--key-file", str(key_files[1])]) == 2
    assert f"and the submission {COMMITMENT}" in capsys.readouterr().err
    content["request"]["commitment"] = ""
    with pytest.raises(RuleSafeError, match="not sealed: use rulesafe eval verify"):
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
    request["files"] = {}


def add_a_file(request):
    request["files"]["my_safe.yaml"] = "0" * 64


def add_a_rule(request):
    request["rules"] = [*request["rules"], "my_lock"]


@pytest.mark.episode
@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (change_commitment, "the key has the commitment 630dcd"),
        (change_seed, f"the seed of the key is {SEED}, but is stated as {SEED + 1}"),
        (change_a_lock, "but is stated as 00000"),
        (omit_the_hash_of_a_lock, "but is stated as None"),
        (invent_a_lock, "_999 is not a lock of the key"),
        (add_a_file, "not part of RuleSafe: my_safe.yaml"),
        (add_a_rule, "not part of RuleSafe: my_lock"),
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
    assert main(["sealed_eval", "--policy", "expert", *options]) == 2
    assert f"commitment: {COMMITMENT} in the directory" in capsys.readouterr().err
