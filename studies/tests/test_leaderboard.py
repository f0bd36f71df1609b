"""The leaderboard is written from complete submissions, and is up to date."""

import json

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import sha256
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_eval.submission import FORMAT, check, read_submission, request_of
from rulesafe_sim.benchmarks import load_benchmark
from rulesafe_studies import leaderboard

SUBMISSIONS = sorted(leaderboard.FOLDER.glob("*/submission.json"))
ABOUT = """policy: "A | <b>policy</b>"
authors: someone
memory: none
inputs: images
training: none
privileged: none
"""


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


@pytest.mark.episode
@pytest.mark.parametrize("path", SUBMISSIONS, ids=lambda path: path.parent.name)
def test_some_episodes_of_each_submission_are_executed_again(path):
    content = read_submission(path)
    request = request_of(content)
    lines = {(line["rule"], line["number"]): line for line in content["episodes"]}
    episodes = list(request)
    chosen = int(sha256(path)[:8], 16)  # not known before the file is complete
    for episode in (episodes[chosen % len(episodes)], episodes[chosen // 7 % len(episodes)]):
        assert check(EpisodeRunner(request.setup), lines, episode) == []


def test_a_row_has_the_results_and_text_without_markup(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "about.yaml").write_text(ABOUT)
    content = stated(load_benchmark("multi_task"), True)
    (folder / "submission.json").write_text(json.dumps(content))
    page = leaderboard.text(tmp_path)
    row = "| A &#124; &lt;b&gt;policy&lt;/b&gt; | 100 % (72..100) | 1.00 (1.00..1.00) | none |"
    assert row in page and page.count("No submissions yet.") == 4


def test_privileged_information_has_to_be_stated(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    content = stated(load_benchmark("multi_task"), True)
    content["request"]["actor"]["privileged"] = True
    (folder / "submission.json").write_text(json.dumps(content))
    (folder / "about.yaml").write_text(ABOUT)
    with pytest.raises(RuleSafeError, match=r"about\.yaml states no privileged information"):
        list(leaderboard.entries(tmp_path))
    (folder / "about.yaml").write_text(ABOUT.replace("privileged: none", "privileged: phases"))
    assert "| yes: phases |" in leaderboard.text(tmp_path)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The folder of the only submission, whose episodes have another outcome if they are executed
    again."""
    folder = tmp_path / "mine"
    folder.mkdir()
    content = stated(load_benchmark("multi_task"), True)
    (folder / "submission.json").write_text(json.dumps(content))
    (folder / "about.yaml").write_text(ABOUT)
    submissions = list(leaderboard.entries(tmp_path))
    monkeypatch.setattr(leaderboard, "entries", lambda *_: submissions)
    monkeypatch.setattr(leaderboard, "VERIFIED", tmp_path / "verified.json")
    monkeypatch.setattr(leaderboard, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(leaderboard, "differences", lambda *_, **__: ["it was not opened"])
    (tmp_path / "page.md").write_text("<!-- begin: leaderboard -->\n<!-- end: leaderboard -->\n")
    return folder


def test_with_all_a_stored_verification_does_not_count(mine, capsys):
    digest = sha256(mine / "submission.json")
    (mine.parent / "verified.json").write_text(json.dumps({"mine": digest}))
    assert leaderboard.verify() == 0
    assert "A &#124; &lt;b&gt;policy" in (mine.parent / "page.md").read_text()
    assert leaderboard.verify(all=True) == 1
    assert "it was not opened" in capsys.readouterr().out


def test_a_submission_that_was_not_verified_is_not_written(mine):
    with pytest.raises(RuleSafeError, match="is not verified; call python -m rulesafe_studies"):
        leaderboard.text()


def test_incomplete_submissions_are_refused(tmp_path):
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
