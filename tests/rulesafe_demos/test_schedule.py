"""Only the needed attempts are made, and the same ones in any order of completion."""

import json
import random

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import load_request, make_request
from rulesafe_demos.schedule import AttemptSchedule
from rulesafe_locks.rules import RULES
from rulesafe_sim.episodes import EVALUATION_SEEDS
from rulesafe_sim.episodes import attempt_seed as seed_of

REQUEST = make_request("rule_003,rule_001", 5, None, "safe_02,safe_04,safe_01", "nominal", 0)


def opens(attempt):
    """A world in which seven of ten attempts succeed."""
    return random.Random(f"{attempt.rule} {attempt.number}").random() < 0.7


def play(decided, workers, rng, interrupt_after=None):
    """Makes attempts that end in random order; the decided ones, after an interruption too."""
    schedule = AttemptSchedule(REQUEST, decided)
    decided = {rule: dict(decided[rule]) for rule in REQUEST.rules}
    hand, ended = [], 0
    while interrupt_after is None or ended < interrupt_after:
        while len(hand) < workers and (attempt := schedule.next()):
            hand.append(attempt)
        if not hand:
            break
        attempt = hand.pop(rng.randrange(len(hand)))
        decided[attempt.rule][attempt.number] = opens(attempt)
        schedule.done(attempt, opens(attempt))
        ended += 1
    return decided


def test_the_attempts_are_those_up_to_the_last_success_that_counts():
    empty = {rule: {} for rule in REQUEST.rules}
    alone = play(empty, 1, random.Random(0))
    for rule in REQUEST.rules:
        assert sum(alone[rule].values()) == REQUEST.episodes
        assert list(alone[rule]) == list(range(len(alone[rule])))
        assert alone[rule][max(alone[rule])]
    for seed in range(30):
        rng = random.Random(seed)
        part = play(empty, rng.randint(1, 8), rng, interrupt_after=rng.randint(0, 8))
        assert play(part, rng.randint(1, 8), rng) == alone


def test_rules_grow_evenly():
    schedule = AttemptSchedule(REQUEST, {rule: {} for rule in REQUEST.rules})
    issued = [schedule.next() for _ in range(6)]
    assert [attempt.rule for attempt in issued] == ["rule_001", "rule_003"] * 3
    assert [attempt.safe for attempt in issued[::2]] == ["safe_02", "safe_04", "safe_01"]


def test_a_rule_that_never_succeeds_ends_after_its_attempts():
    request = make_request("rule_001", 2, 4, "safe_02", "nominal", 0)
    schedule = AttemptSchedule(request, {"rule_001": {}})
    made = 0
    while attempt := schedule.next():
        schedule.done(attempt, success=False)
        made += 1
    assert made == 4
    assert schedule.short() == ["rule_001"]


def test_every_attempt_has_a_seed_of_its_own_and_none_of_the_evaluations():
    seeds = [seed_of(base, rule, n) for base in (0, 1, 4000) for rule in RULES for n in (0, 49_999)]
    assert len(set(seeds)) == len(seeds)
    assert min(seeds) == EVALUATION_SEEDS
    assert max(seeds) < 2**32


def test_seeds_of_other_rules_are_apart_from_those_of_the_twenty_and_of_evaluations():
    ends = (0, 49_999)
    twenty = max(seed_of(base, rule, n) for base in (0, 4000) for rule in RULES for n in ends)
    others = [
        seed_of(base, f"sampled_{k:03}", n) for base in (0, 4000) for k in range(200) for n in ends
    ]
    assert min(others) > twenty >= EVALUATION_SEEDS
    assert max(others) < 2**32
    assert seed_of(7, "sampled_001", 3) == seed_of(7, "sampled_001", 0) + 3
    assert len({seed_of(0, f"sampled_{k:03}", 0) for k in range(200)}) > 190


def test_the_seeds_of_the_twenty_stay_what_they_were():
    """Datasets that were published name them."""
    assert seed_of(0, "rule_001", 0) == 10_000
    assert seed_of(0, "rule_020", 7) == 10_000 + 19 * 50_000 + 7
    assert seed_of(3, "rule_002", 1) == 10_000 + 61 * 50_000 + 1


@pytest.mark.parametrize("by", ["path", "id", "set"])
def test_a_lock_of_one_s_own_is_asked_for_by_path_id_or_set(own_lock, tmp_path, monkeypatch, by):
    if by == "path":
        monkeypatch.chdir(own_lock.parent)
    else:
        monkeypatch.setenv("RULESAFE_LOCKS", str(own_lock.parent))
    name = {"path": own_lock.name, "id": "my_lock", "set": own_lock.parent.name}[by]
    request = make_request(f"{name},rule_003,rule_001", 1, None, "safe_02", "nominal", 0)
    assert request.rules == ("rule_001", "rule_003", "my_lock")
    assert request.locks == {"my_lock": str(own_lock)}
    assert list(request.files) == [str(own_lock)] and len(request.files[str(own_lock)]) == 64
    assert request.episode("my_lock", 0).source == str(own_lock)
    assert request.episode("rule_001", 0).source == "rule_001"
    assert f"--rules rule_001,rule_003,{own_lock} " in request.command()
    DemoFolder(tmp_path / "demos").settle(request)
    assert load_request(tmp_path / "demos") == request


def test_a_lock_that_has_changed_is_another_request(own_lock, tmp_path):
    def asked():
        return make_request(str(own_lock), 1, None, "safe_02", "nominal", 0)

    folder = DemoFolder(tmp_path / "demos")
    folder.settle(asked())
    folder.add({"rule": "my_lock", "number": 0})
    own_lock.write_text(own_lock.read_text().replace("Open the", "Turn the"), encoding="utf-8")
    with pytest.raises(RuleSafeError, match="files: "):
        folder.settle(asked())


def test_two_locks_of_one_id_are_refused(own_lock, tmp_path):
    copy = tmp_path / "copy.json"
    copy.write_bytes(own_lock.read_bytes())
    with pytest.raises(RuleSafeError, match="two rules have the id my_lock"):
        make_request(f"{own_lock},{copy}", 1, None, "safe_02", "nominal", 0)


def test_a_request_of_before_there_were_locks_is_read(tmp_path):
    DemoFolder(tmp_path).settle(REQUEST)
    path = tmp_path / "generate.json"
    content = json.loads(path.read_text())
    del content["locks"]
    path.write_text(json.dumps(content))
    assert load_request(tmp_path) == REQUEST
    DemoFolder(tmp_path).settle(REQUEST)


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        (
            ("rule_021", 1, None, "all", "nominal", 0),
            "unknown rule or set 'rule_021'; valid: rule_001, ",
        ),
        (("all", 1, None, "safe_11", "nominal", 0), "unknown safe 'safe_11'; valid: safe_01, "),
        (("all", 1, None, "all", "nominl", 0), "nominal, varied, shifted"),
        (("all", 0, None, "all", "nominal", 0), "episodes must be at least 1"),
        (
            ("all", 9, 8, "all", "nominal", 0),
            "at least as many, got 9 episodes and 8",
        ),
        (("all", 1, None, "all", "nominal", 4001), "0..4000"),
    ],
)
def test_a_wrong_request_is_refused_with_what_is_valid(arguments, valid):
    with pytest.raises(RuleSafeError) as error:
        make_request(*arguments)
    assert valid in str(error.value)


def test_a_safe_that_a_split_holds_out_is_refused():
    train = make_request("all", 1, None, "all", "varied", 0)
    held_out = make_request("all", 1, None, "all", "shifted", 0).safes
    assert not set(train.safes) & set(held_out)
    with pytest.raises(RuleSafeError, match="safe of the split varied"):
        make_request("all", 1, None, held_out[0], "varied", 0)


def test_a_directory_keeps_its_request_which_may_only_grow(tmp_path):
    DemoFolder(tmp_path).settle(REQUEST)
    assert load_request(tmp_path) == REQUEST
    more = make_request("rule_001,rule_003", 6, None, "safe_02,safe_04,safe_01", "nominal", 0)
    DemoFolder(tmp_path).settle(more)
    DemoFolder(tmp_path).add({"rule": "rule_001", "number": 0})
    assert load_request(tmp_path) == more
    other = make_request("rule_001", 5, None, "safe_02,safe_04,safe_01", "varied", 1)
    with pytest.raises(RuleSafeError) as error:
        DemoFolder(tmp_path).settle(other)
    for said in (
        "rules: rule_001,rule_003 in the directory, rule_001 requested",
        "split: nominal in the directory, varied requested",
        "seed: 0 in the directory, 1 requested",
        "episodes: 6 in the directory, 5 requested",
    ):
        assert said in str(error.value)
    assert load_request(tmp_path) == more


def test_somebody_else_s_directory_is_not_written_to(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RuleSafeError, match="not empty"):
        DemoFolder(tmp_path).settle(REQUEST)


def test_the_dataset_takes_rules_in_turn_and_only_what_is_certain(tmp_path):
    folder = DemoFolder(tmp_path)
    for rule, numbers in {
        "rule_001": {0: 1, 1: 0, 2: 1, 4: 1},
        "rule_003": {0: 0, 1: 1, 2: 1},
    }.items():
        for number, success in numbers.items():
            path = folder.file(rule, number, bool(success))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    rules = ("rule_001", "rule_003")
    both = [("rule_001", 0), ("rule_003", 1), ("rule_001", 2), ("rule_003", 2)]
    assert folder.episodes(rules, 5) == both  # attempt 3 may still put one before attempt 4's
    assert folder.episodes(rules, 1) == both[:2]
    folder.file("rule_003", 2, True).unlink()
    assert folder.episodes(rules, 5) == both[:2]


def test_lines_of_an_attempt_are_merged_and_a_torn_one_is_skipped(tmp_path):
    """Attempts and their rendering each add a line."""
    folder = DemoFolder(tmp_path)
    folder.add({"rule": "rule_001", "number": 1, "opened": True, "timing": {"wall_seconds": 2}})
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"rule": "rule_001", "num')
    folder.add({"rule": "rule_001", "number": 1, "timing": {"all_cpu": 3}})
    assert folder.lines()["rule_001", 1]["opened"]
    assert folder.timings() == {("rule_001", 1): {"wall_seconds": 2, "all_cpu": 3}}


def test_one_process_at_a_time(tmp_path):
    with (
        DemoFolder(tmp_path).exclusive_lock(),
        pytest.raises(RuleSafeError, match="in use"),
        DemoFolder(tmp_path).exclusive_lock(),
    ):
        pass
    with DemoFolder(tmp_path).exclusive_lock():
        pass
