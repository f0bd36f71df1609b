"""The leaderboard is written from complete submissions, and is up to date."""

import importlib.util
import json
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.files import sha256
from rulesafe_eval.benchmarks import load_benchmark
from rulesafe_eval.submission import FORMAT, check, read_submission, request_of

ROOT = Path(__file__).parents[1]
SUBMISSIONS = sorted((ROOT / "submissions").glob("*/submission.json"))
ABOUT = """policy: "A | <b>policy</b>"
authors: someone
memory: none
inputs: images
training: none
privileged: none
"""


@pytest.fixture(scope="module")
def leaderboard():
    spec = importlib.util.spec_from_file_location("leaderboard", ROOT / "scripts/leaderboard.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stated(found, opened):
    """Return a submission of a benchmark whose episodes are all opened or not."""
    setup = {"policy": "mine", "step_seconds": found.step_seconds}
    request = {"setup": setup, "rules": found.rules, "safes": found.safes, "split": found.split}
    request |= {"episodes": found.episodes, "seed": found.seed, "actor": {"kind": "class"}}
    values = {"opened": opened, "cause": "", "failed_event": "", "failed_step": 0, "frames": 9}
    values |= {"process_score": 1.0 * opened, "order_free_score": 1.0, "clipped_actions": 0}
    episodes = [
        {key: entry[key] for key in ("rule", "number", "safe", "seed")} | values
        for entry in found.entries
    ]
    request |= {"versions": {}, "files": {}, "locks": {}}
    return {"format": FORMAT, "request": request, "episodes": episodes}


def test_the_page_is_up_to_date_and_all_submissions_were_verified(leaderboard):
    assert leaderboard.PAGE.read_text() == leaderboard.page(list(leaderboard.entries()))
    known = json.loads(leaderboard.VERIFIED.read_text()) if SUBMISSIONS else {}
    assert known == {path.parent.name: sha256(path) for path in SUBMISSIONS}


@pytest.mark.episode
@pytest.mark.parametrize("path", SUBMISSIONS, ids=lambda path: path.parent.name)
def test_some_episodes_of_each_submission_are_executed_again(path):
    content = read_submission(path)
    request = request_of(content)
    lines = {(line["rule"], line["number"]): line for line in content["episodes"]}
    episodes = list(request.all_episodes())
    chosen = int(sha256(path)[:8], 16)  # not known before the file is complete
    for episode in (episodes[chosen % len(episodes)], episodes[chosen // 7 % len(episodes)]):
        assert check(request.setup, lines, episode) == []


def test_a_row_has_the_results_and_text_without_markup(leaderboard, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "about.yaml").write_text(ABOUT)
    content = stated(load_benchmark("multi_task"), True)
    (folder / "submission.json").write_text(json.dumps(content))
    page = leaderboard.page(list(leaderboard.entries(tmp_path)))
    row = "| A &#124; &lt;b&gt;policy&lt;/b&gt; | 100 % (72..100) | 1.00 (1.00..1.00) | none |"
    assert row in page and page.count("No submissions yet.") == 3


def test_privileged_information_has_to_be_stated(leaderboard, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    content = stated(load_benchmark("multi_task"), True)
    content["request"]["actor"]["privileged"] = True
    (folder / "submission.json").write_text(json.dumps(content))
    (folder / "about.yaml").write_text(ABOUT)
    with pytest.raises(RuleSafeError, match=r"about\.yaml states no privileged information"):
        list(leaderboard.entries(tmp_path))
    (folder / "about.yaml").write_text(ABOUT.replace("privileged: none", "privileged: phases"))
    assert "| yes: phases |" in leaderboard.page(list(leaderboard.entries(tmp_path)))


def test_with_all_a_stored_verification_does_not_count(leaderboard, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "mine"
    folder.mkdir()
    content = stated(load_benchmark("multi_task"), True)
    (folder / "submission.json").write_text(json.dumps(content))
    (folder / "about.yaml").write_text(ABOUT)
    verified = tmp_path / "verified.json"
    verified.write_text(json.dumps({"mine": sha256(folder / "submission.json")}))
    submissions = list(leaderboard.entries(tmp_path))
    monkeypatch.setattr(leaderboard, "entries", lambda: submissions)
    monkeypatch.setattr(leaderboard, "VERIFIED", verified)
    monkeypatch.setattr(leaderboard, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(leaderboard, "differences", lambda *_, **__: ["it was not opened"])
    monkeypatch.setattr("sys.argv", ["leaderboard.py"])
    assert leaderboard.main() == 0
    monkeypatch.setattr("sys.argv", ["leaderboard.py", "--all"])
    assert leaderboard.main() == 1
    assert "it was not opened" in capsys.readouterr().out


def test_incomplete_submissions_are_refused(leaderboard, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "about.yaml").write_text(ABOUT)
    complete = stated(load_benchmark("single_task"), True)
    for change in (
        {"episodes": complete["episodes"][:14]},
        {"episodes": [complete["episodes"][0]] * 100},
        {"request": complete["request"] | {"seed": 3}},
    ):
        (folder / "submission.json").write_text(json.dumps(complete | change))
        with pytest.raises(RuleSafeError, match="does not have the episodes of a benchmark"):
            list(leaderboard.entries(tmp_path))
    (folder / "submission.json").write_text(json.dumps(complete))
    (folder / "about.yaml").write_text("policy: mine")
    with pytest.raises(RuleSafeError, match="authors"):
        list(leaderboard.entries(tmp_path))
