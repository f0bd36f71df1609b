"""Generations that are replayed, resumed, interrupted, or refused: the folder of a run."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from waiting import wait_for

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.endpoint import Endpoint
from rulesafe_design.exchanges import open_model
from rulesafe_design.files import run_folder
from rulesafe_design.generate import RUN_FILES, Config, generate
from rulesafe_design.grammar import Grammar
from rulesafe_design.reports import Prices
from rulesafe_locks.lock_files import read_lock

CONFIG = Config(name="mine")


def run(server, out, count=1, config=CONFIG, replay=None):
    endpoint = Endpoint("tester", server.url, timeout_s=60.0, tries=2)
    return generate(open_model(endpoint, out, replay), out, count, config)


def files(folder):
    """Return the content of every file in a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def test_replay_equals_the_run(server, key, tmp_path, monkeypatch):
    server.fail(500)
    server.reply_counter(moves=2)
    server.reply("No.")
    server.reply_counter(moves=4)
    run(server, tmp_path / "one", 2)
    monkeypatch.delenv("OPENAI_API_KEY")
    asked = len(server.requests)
    run(server, tmp_path / "two", 2, replay=tmp_path / "one")
    assert len(server.requests) == asked
    assert files(tmp_path / "two") == files(tmp_path / "one")


@pytest.mark.parametrize("end", ["its endpoint", "a kill"])
def test_replay_ends_at_the_same_request(server, key, tmp_path, end):
    """A replay writes the same locks with the same splits, and the same report."""
    server.reply_counter(moves=2)
    server.reply("No.")
    server.fail(500)
    server.fail(503, "overloaded")
    first = run(server, tmp_path / "one", 3)
    assert first.stopped.startswith("tester: HTTP 503: overloaded")
    if end == "a kill":
        (failed,) = (tmp_path / "one" / "exchanges").glob("0002_1_*.json")
        failed.unlink()
    again = run(server, tmp_path / "two", 3, replay=tmp_path / "one")
    assert again.exit_code == 2
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    if end == "a kill":
        assert re.search(r"message 1 of conversation 2: .* ended before", again.stopped)
        for found in (one, two):
            report_json = json.loads(found["report.json"])
            found["report.json"] = {**report_json, "stopped": "", "retries": {}}
    assert two == one


def test_attempts_may_increase(tmp_path):
    few, more = (replace(CONFIG, repairs=0, attempts=number) for number in (3, 12))
    generate(Grammar(0), tmp_path / "one", 12, few)
    with pytest.raises(RuleSafeError, match="attempts: was 3, now 2"):
        generate(Grammar(0), tmp_path / "one", 12, replace(few, attempts=2))
    generate(Grammar(0), tmp_path / "one", 12, more)
    generate(Grammar(0), tmp_path / "two", 12, more)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    generate(Grammar(0), tmp_path / "one", 12, replace(more, attempts=None))  # 44


def test_count_may_increase(server, key, tmp_path):
    server.reply_counter(moves=2)
    run(server, tmp_path)
    server.reply_counter(moves=4)
    assert run(server, tmp_path, 2).accepted == 2
    assert len(server.requests) == 2
    with pytest.raises(RuleSafeError, match="count: was 2, now 1"):
        run(server, tmp_path, 1)
    with pytest.raises(RuleSafeError, match="repairs: was 3, now 1"):
        run(server, tmp_path, 2, replace(CONFIG, repairs=1))


def everything(folder):
    """Return every path below a folder with the content of files."""
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        ({"precious.txt": "mine"}, "'precious.txt'.*has no request.json"),
        ({"sub/.token-0123456789ab": "mine"}, "not empty"),
        ({".token-0123456789ab": "mine"}, "not empty"),
        ({".git/config": "mine"}, "not empty"),
        ({".lock": "mine", "locks/mine_001.json": "mine"}, "not empty"),
        ({"request.json": "mine", ".report.json-0123456789ab": "mine"}, "not a valid request.json"),
        ({"request.json": "[]", ".lock": "mine"}, "must be an object"),
    ],
)
def test_folder_with_other_files_is_not_changed(tmp_path, there, reason):
    for name, text in there.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    before = everything(tmp_path)
    with pytest.raises(RuleSafeError, match=reason):
        generate(Grammar(0), tmp_path, 1, CONFIG)
    assert everything(tmp_path) == before


def test_only_own_drafts_are_removed(tmp_path):
    config = replace(CONFIG, repairs=9)
    tmp_path.joinpath(".request.json-0123456789ab").write_text("draft")
    generate(Grammar(0), tmp_path, 1, config)
    complete = everything(tmp_path)
    drafts = (".report.json-0123456789ab", "locks/.mine_001.json-0123456789ab")
    others = (
        ".token-0123456789ab",
        "locks/sub/.mine_001.json-0123456789ab",
        "locks/.mine_001.json-",
    )
    (tmp_path / "locks/sub").mkdir()
    for name in drafts + others:
        (tmp_path / name).write_text("half")
    generate(Grammar(0), tmp_path, 1, config)
    after = everything(tmp_path)
    added = {str(path.relative_to(tmp_path)) for path in after if path not in complete}
    assert added == {"locks/sub", *others}


def test_locked_folder_and_file_as_folder(tmp_path):
    (tmp_path / "precious.txt").write_text("keep me")
    held = run_folder(tmp_path / "mine", RUN_FILES, lambda path: None, "rulesafe")
    with held, pytest.raises(RuleSafeError, match="in use"):
        generate(Grammar(0), tmp_path / "mine", 1, CONFIG)
    with pytest.raises(RuleSafeError, match="cannot write"):
        generate(Grammar(0), tmp_path / "precious.txt", 1, CONFIG)


def test_unknown_rules_are_refused_before_writing(tmp_path):
    with pytest.raises(RuleSafeError, match="twentyy"):
        generate(Grammar(0), tmp_path / "one", 1, replace(CONFIG, unlike="twentyy"))
    assert not (tmp_path / "one").exists()


def test_unlike_is_part_of_the_request(tmp_path):
    config = replace(CONFIG, repairs=9, unlike="rule_001,rule_002")
    generate(Grammar(0), tmp_path, 1, config)
    generate(Grammar(0), tmp_path, 1, replace(config, unlike=" rule_001, rule_002"))
    with pytest.raises(RuleSafeError, match="unlike: was 'rule_001,rule_002'"):
        generate(Grammar(0), tmp_path, 1, replace(config, unlike="rule_001"))


@pytest.mark.parametrize(
    "wrong", [{"name": "rule"}, {"name": "My-Lock"}, {"repairs": -1}, {"per_cell": 0}]
)
def test_invalid_settings(wrong):
    with pytest.raises(RuleSafeError, match="valid"):
        replace(CONFIG, **wrong)


@pytest.mark.parametrize("price", [float("nan"), float("inf"), -1.0])
def test_invalid_prices(price):
    with pytest.raises(RuleSafeError, match="valid: 0 or more"):
        Prices(tokens_out=price)


class Interrupted(Grammar):
    """A grammar that is interrupted by Ctrl-C at the third request."""

    def complete(self, request):
        if request.number == 3:
            raise KeyboardInterrupt
        return super().complete(request)


def test_interrupted_run_is_valid_and_continues(tmp_path):
    config = Config(name="mine", repairs=20)
    with pytest.raises(KeyboardInterrupt):
        generate(Interrupted(4), tmp_path / "one", 6, config)
    assert json.loads((tmp_path / "one" / "report.json").read_text())["stopped"] == "interrupted"
    locks = sorted((tmp_path / "one" / "locks").iterdir())
    assert [read_lock(path).id for path in locks] == ["mine_001", "mine_002"]
    generate(Grammar(4), tmp_path / "one", 6, config)
    generate(Grammar(4), tmp_path / "two", 6, config)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_killed_run_continues_to_the_same_files(tmp_path):
    words = ["--count", "12", "--seed", "3", "--repairs", "6"]
    code = "import tyro; from rulesafe_design.commands.generate import generate; tyro.cli(generate)"
    killed = [sys.executable, "-c", code, "--out", str(tmp_path / "one"), *words]
    process = subprocess.Popen(killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    third = tmp_path / "one" / "locks" / "drawn_003.json"
    wait_for(lambda: third.exists() or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    for name in ("one", "two"):
        assert (
            subprocess.run([*killed[:4], str(tmp_path / name), *words], check=False).returncode == 0
        )
    assert files(tmp_path / "one") == files(tmp_path / "two")
