"""Complete generations, with the grammar and with a scripted endpoint."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.commands import generate as cli_generate
from rulesafe_design.commands.model_options import ModelOptions
from rulesafe_design.difficulty import CELLS, Cell, cell_of
from rulesafe_design.endpoint import Endpoint
from rulesafe_design.exchanges import open_model
from rulesafe_design.generate import KINDS, Config, generate
from rulesafe_design.grammar import Grammar
from rulesafe_design.models import FAILURES
from rulesafe_design.prompts import examples, opening
from rulesafe_design.reports import Prices
from rulesafe_design.splits import WRITTEN
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_design.verify import behaviour, known_digests, verify
from rulesafe_locks.lock_files import read_lock
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.plans import opens_door, shortest_plan

CONFIG = Config(name="mine")


def endpoint(server, **options):
    given = {"timeout_s": 60.0, "tries": 2, **options}
    return Endpoint("tester", server.url, **given)


def run(server, out, count=1, config=CONFIG, replay=None):
    return generate(open_model(endpoint(server), out, replay), out, count, config)


def last_message(server, number=-1):
    """Return the last message of a request."""
    return server.requests[number]["messages"][-1]["content"]


def files(folder):
    """Return the content of every file in a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def test_prompt_contains_the_examples_and_they_are_correct(server, key, tmp_path):
    server.reply_counter(moves=2)
    run(server, tmp_path)
    system, user = (message["content"] for message in server.requests[0]["messages"])
    known = known_digests()
    for example in examples():
        verified = verify(example["program"], example["plan"])
        assert known[verified.digest] == example["rule"]
        assert len(example["plan"]) == verified.proof.steps
        assert example["description"] in system
        assert json.dumps(example["program"]) in system
    assert "$" not in system + user
    assert "This is conversation 1." in user


def test_lock_is_verified_and_written(server, key, tmp_path):
    server.reply_counter(
        moves=2, description="Move the knob exactly twice.", plan=["knob+", "knob-", "door+"]
    )
    report = run(server, tmp_path)
    lock = read_lock(tmp_path / "locks" / "mine_001.json")
    assert lock.id == "mine_001"
    assert lock.description == "Move the knob exactly twice."
    assert lock.origin == {"by": "model", "model": "tester", "number": 1, "repairs": 0}
    assert lock.split in WRITTEN
    assert lock.facts["steps"] == 3
    assert opens_door(lock.rule, shortest_plan(lock.rule))
    assert report.exit_code == 0
    assert (report.tokens_in, report.tokens_out, report.cost) == (100, 20, None)
    report_json = json.loads((tmp_path / "report.json").read_text())
    assert report_json["outcomes"] == {"accepted": 1}
    assert (report_json["wanted"], report_json["asked"], report_json["yield"]) == (1, 1, 1.0)
    assert report_json["locks"] == ["mine_001"]


def test_a_lock_that_cannot_be_opened_is_repaired(server, key, tmp_path):
    server.reply_counter(moves=2, also="knob")
    server.reply_counter(moves=2, also="not knob")
    report = run(server, tmp_path)
    assert report.outcomes == {"shut": 1, "accepted": 1}
    assert (report.repairs, report.repaired, report.failed) == (1, 1, 0)
    assert "no sequence of knob and handle moves ever frees the door" in last_message(server)
    assert server.requests[1]["messages"][2]["role"] == "assistant"
    assert read_lock(tmp_path / "locks" / "mine_001.json").origin["repairs"] == 1


HOSTILE = {
    "forbidden": "import os\ndef check_lock(self):\n    os.system('true')\n",
    "time": "def check_lock(self):\n    while True:\n        pass\n",
    "memory": "def check_lock(self):\n    self._a = [0] * 10**11\n",
    "syntax": "def check_lock(self)\n    pass\n",
    "error": "def check_lock(self):\n    return 1 // 0\n",
}


def test_malicious_programs_are_refused_and_reported_to_the_model(server, key, tmp_path):
    for program in HOSTILE.values():
        server.reply_lock("A lock that is not what it seems.", program)
    server.reply_counter()
    limits = ProgramLimits(call_s=0.2, cpu_s=2)
    report = run(server, tmp_path, config=replace(CONFIG, repairs=len(HOSTILE), limits=limits))
    assert report.outcomes == {**dict.fromkeys(HOSTILE, 1), "accepted": 1}
    for number, kind in enumerate(HOSTILE, 1):
        assert f"({kind}: {KINDS[kind]})" in last_message(server, number)


def test_replies_without_an_answer(server, key, tmp_path):
    server.reply("I would rather talk about the weather.")
    server.reply('{"description": "Open the')
    server.reply('{"description": "Open the knob and wait.", "program": 5}')
    server.reply(None, refusal="I cannot help with safes.")
    server.reply('```json\n{"description": "Tu', finish="length")
    server.reply_counter()
    report = run(server, tmp_path, config=replace(CONFIG, repairs=5))
    assert report.outcomes == {
        **{"prose": 1, "truncated": 2, "schema": 1, "refusal": 1, "accepted": 1}
    }
    assert "must be a string" in last_message(server, 3)


def test_duplicates_are_refused_and_counted(server, key, tmp_path):
    server.reply_counter(moves=2)
    server.reply_counter(moves=2, description="The same with other words: two moves of the knob.")
    server.reply_lock(examples()[0]["description"], examples()[0]["program"])
    server.reply_counter(moves=3, description="move the knob exactly 2 times; condition: true.")
    server.reply_counter(moves=4)
    report = run(server, tmp_path, count=2)
    assert report.outcomes == {"accepted": 2, "duplicate": 2, "description": 1}
    assert "behaves exactly like mine_001" in last_message(server, 2)
    assert "behaves exactly like rule_014" in last_message(server, 3)
    assert "mine_001 already has this description" in last_message(server, 4)


def test_a_short_instruction_is_given_once(tmp_path):
    """Two locks of a model that differ, but have one short instruction."""

    class Same(Grammar):
        def complete(self, request):
            reply = super().complete(request)
            answer = json.loads(reply.text) | {"short_instruction": "to open the door: think"}
            return replace(reply, text=json.dumps(answer))

    report = generate(Same(seed=0), tmp_path, 2, Config("mine", attempts=4))
    assert report.accepted == 1 and report.outcomes["description"]


def test_a_claimed_plan_must_work(server, key, tmp_path):
    server.reply_counter(moves=2, plan=["knob+", "door+"])
    server.reply_counter(moves=2, plan=["knob+", "knob-", "door+"])
    assert run(server, tmp_path).outcomes == {"plan": 1, "accepted": 1}


def test_max_steps(server, key, tmp_path):
    server.reply_counter(moves=6)
    server.reply_counter(moves=4)
    report = run(server, tmp_path, config=replace(CONFIG, max_steps=5))
    assert report.outcomes == {"long": 1, "accepted": 1}
    assert "valid: at most 5" in last_message(server)


def test_a_conversation_ends_after_its_repairs(server, key, tmp_path):
    for _ in range(4):
        server.reply("No.")
    server.reply_counter()
    report = run(server, tmp_path, config=replace(CONFIG, repairs=1))
    assert (report.conversations, report.failed, report.accepted) == (3, 2, 1)
    assert report.outcomes == {"prose": 4, "accepted": 1}
    assert [len(sent["messages"]) for sent in server.requests] == [2, 4, 2, 4, 2]


def test_too_few_locks(server, key, tmp_path):
    server.reply_counter()
    server.reply("No.")
    report = run(server, tmp_path, 2, replace(CONFIG, repairs=0, attempts=2))
    assert (report.accepted, report.exit_code) == (1, 1)
    assert read_lock(tmp_path / "locks" / "mine_001.json").split


def test_full_cells_are_surplus(server, key, tmp_path):
    server.reply_counter("knob", 2)
    server.reply_counter("handle", 2)
    server.reply_counter("knob", 4)
    report = run(server, tmp_path, 2, replace(CONFIG, per_cell=1))
    assert report.outcomes == {"surplus": 1, "accepted": 2}
    assert "enough locks of 2-4 steps, memory 2" in last_message(server)
    asked_instead = next(
        cell for cell in CELLS if cell.name in last_message(server).split("Write")[1]
    )
    assert asked_instead != Cell(2, 2)
    cells = [cell_of(lock.facts) for lock in report.locks]
    assert len(set(cells)) == 2


def test_every_cell_is_requested(server, key, tmp_path):
    count = len(CELLS)
    for _ in range(count):
        server.reply("No.")
    run(server, tmp_path, 1, replace(CONFIG, repairs=0, attempts=count))
    asked = [sent["messages"][1]["content"] for sent in server.requests]
    assert {cell for cell in CELLS for text in asked if f"{cell.name}." in text} == set(CELLS)


def test_a_request_that_gave_a_lock_of_another_cell_is_not_repeated_at_once(server, key, tmp_path):
    """With four steps there are two cells; the first lock needs no memory."""
    server.reply_lock(
        "Open the knob and keep the handle closed.",
        "def check_lock(self):\n"
        "    knob = self.is_open(obj_name='safe', link_name='knob')\n"
        "    handle = self.is_open(obj_name='safe', link_name='handle')\n"
        "    self.set_lock(obj_name='safe', link_name='door', lock=handle or not knob)\n",
    )
    server.reply_counter()
    report = run(server, tmp_path, 2, replace(CONFIG, max_steps=4))
    assert [cell_of(lock.facts) for lock in report.locks] == [Cell(2, 1), Cell(2, 2)]
    asked = [sent["messages"][1]["content"] for sent in server.requests]
    assert f"{Cell(2, 2).name}." in asked[0] and f"{Cell(2, 1).name}." in asked[1]


def test_a_request_lists_the_locks_of_its_difficulty_only(server, key, tmp_path):
    server.reply_counter("knob", 1, description="Open the knob, and leave it open.")
    server.reply_counter()
    server.reply_counter("handle", 1)
    run(server, tmp_path, 3, replace(CONFIG, max_steps=4))
    asked = [sent["messages"][1]["content"] for sent in server.requests]
    listed = ["Open the knob, and leave it open." in text for text in asked]
    cells = [next(cell for cell in CELLS if f"{cell.name}." in text) for text in asked]
    assert listed == [False, *(cell == Cell(2, 1) for cell in cells[1:])] and any(listed)


def test_requested_cells_are_within_max_steps(server, key, tmp_path):
    for _ in range(4):
        server.reply("No.")
    run(server, tmp_path, 1, replace(CONFIG, repairs=0, attempts=4, max_steps=4))
    assert all("2-4 steps" in sent["messages"][1]["content"] for sent in server.requests)


def test_request_contains_recent_descriptions():
    (_, (_, text)) = opening(3, CELLS[0], [f"Lock number {n}." for n in range(30)], 12)
    assert "Lock number 29." in text
    assert "Lock number 9." not in text


def test_cost_and_unknown_tokens(server, key, tmp_path):
    server.reply_counter(moves=2)
    server.reply_counter(moves=4, usage=None)
    prices = Prices(tokens_in=2.0, tokens_out=10.0)
    report = run(server, tmp_path, 2, replace(CONFIG, prices=prices))
    assert report.cost == pytest.approx(100 * 2e-6 + 20 * 10e-6)
    assert report.uncounted == 1


def test_endpoint_that_fails_during_a_run(server, key, tmp_path):
    complete = tmp_path / "complete"
    for _ in range(2):  # once for each run
        server.reply_counter(moves=2)
        server.reply("No.")
        server.reply_counter(moves=4)
        server.reply_counter("handle", 2)
    run(server, complete, 3)
    broken = tmp_path / "broken"
    del server.script[2:]
    report = run(server, broken, 3)
    assert report.exit_code == 2
    assert "no connection" in report.stopped
    assert report.retries == {"connection": 2}
    assert read_lock(broken / "locks" / "mine_001.json").split
    before = len(server.requests)
    server.reply_counter(moves=4)
    server.reply_counter("handle", 2)
    assert run(server, broken, 3).exit_code == 0
    assert len(server.requests) == before + 2  # recorded replies are not requested again
    assert files(broken) == files(complete)


def test_the_command(server, key, tmp_path, capfd):
    server.reply_counter(moves=2, description=f"Move the knob twice, as {key} says.")
    server.reply("No.")
    server.reply_counter(moves=4)
    server.fail(401, f"{key} is no key")
    words = {"model": "tester", "options": ModelOptions(server.url, tries=1), "count": 2}
    assert cli_generate.generate(tmp_path / "one", **words, price_in=1.0, price_out=1.0) == 0
    shown = capfd.readouterr()
    assert "2 of 2 locks" in shown.out
    assert "the reply contains no JSON object" in shown.out
    assert "yield 100%" in shown.out
    assert "cost 0.00036" in shown.out
    assert "lock" in shown.err
    offline = {**words, "options": ModelOptions(replay=tmp_path / "one")}
    assert cli_generate.generate(tmp_path / "two", **offline) == 0
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert {k: v for k, v in one.items() if k != "report.json"} == {
        k: v for k, v in two.items() if k != "report.json"
    }
    assert cli_generate.generate(tmp_path / "three", **words) == 2
    last = capfd.readouterr()
    assert "rulesafe: stopped: tester: HTTP 401: [OPENAI_API_KEY] is no key" in last.err
    texts = [shown.out, shown.err, last.out, last.err]
    seen = [*files(tmp_path).values(), *(text.encode() for text in texts)]
    assert not any(key.encode() in text for text in seen)


def test_program_in_the_documentation_runs(tmp_path, monkeypatch, capfd):
    text = (Path(__file__).parents[2] / "docs/lock_design.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], {})
    assert list((tmp_path / "my_locks" / "locks").glob("mine_*.json"))
    assert capfd.readouterr().out


def test_documentation_names_every_kind():
    text = (Path(__file__).parents[2] / "docs/lock_design.md").read_text("utf-8")
    for kind in {*KINDS, *FAILURES} - {"planner"}:  # only for task programs
        assert f"`{kind}`" in text


def test_the_grammar_is_the_default_and_has_no_endpoint(tmp_path, capfd):
    assert cli_generate.generate(tmp_path / "one", count=3, repairs=9) == 0
    lock = read_lock(tmp_path / "one" / "locks" / "drawn_001.json")
    assert lock.origin["by"] == "sampled"
    assert lock.origin["seed"] == 0
    assert lock.short_instruction and lock.short_instruction != lock.description
    assert not (tmp_path / "one" / "exchanges").exists()
    with pytest.raises(RuleSafeError, match="--model NAME"):
        cli_generate.generate(tmp_path / "two", options=ModelOptions(replay=tmp_path / "one"))


def test_locks_have_their_origin(server, key, tmp_path):
    """Also in Python, where the origin comes only from the model."""
    (lock,) = generate(Grammar(seed=4), tmp_path / "one", 1, Config(repairs=9)).locks
    assert (lock.origin["by"], lock.origin["seed"]) == ("sampled", 4)
    server.reply_counter()
    warm = replace(endpoint(server), temperature=0.5)
    for name, replay in (("two", None), ("three", tmp_path / "two")):
        model = open_model(warm, tmp_path / name, replay)
        (lock,) = generate(model, tmp_path / name, 1).locks
        assert lock.origin == {
            **{"by": "model", "model": "tester", "temperature": 0.5, "number": 1, "repairs": 0}
        }


def test_unlike_excludes_the_locks_of_a_set(tmp_path):
    """Samples that are in the shipped set are refused if `unlike` contains the set."""
    config = Config(name="mine", unlike="twenty,sampled", attempts=12, repairs=0)
    report = generate(Grammar(0), tmp_path / "one", 12, config)
    assert report.outcomes["duplicate"] >= 6
    taken = set(known_digests(expand_rules("twenty,sampled")))
    assert not taken & {behaviour(lock.automaton) for lock in report.locks}
