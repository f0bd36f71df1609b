"""Complete runs of the command: killed and resumed, reported, filmed, compared."""

import json
import math
import os
import re
import signal
import subprocess
import sys

import av
import pytest
from waiting import wait_for

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.engines import ENGINES
from rulesafe_eval import plots, videos
from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.report import write_report
from rulesafe_eval.request import ResultsFolder
from rulesafe_eval.results import read_results
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_sim.video_file import VideoFile

pytestmark = pytest.mark.episode

PYTHON_PATH = os.pathsep.join(path for path in sys.path if path)
WORDS = ("--rules", "rule_002", "--safes", "safe_02,safe_04", "--split", "nominal")


class Deadly:
    """An engine whose workers die, as if memory ran out."""

    def __init__(self, work, workers):
        self.jobs = []

    busy = property(lambda self: len(self.jobs))

    def submit(self, job):
        self.jobs.append(job)

    def wait(self):
        return self.jobs.pop(), None, True

    def close(self):
        self.jobs.clear()


def start(out, *words):
    command = [sys.executable, "-m", "rulesafe_cli.cli", "eval", *WORDS, "--out", str(out), *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
    )


EXPERT = ("--policy", "expert", "--episodes", "4", "--films", "0")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """A directory of the expert's results. Do not write to it."""
    out = tmp_path_factory.mktemp("eval") / "undisturbed"
    process = start(out, *EXPERT, "--workers", "2")
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "report.html" in printed
    return out


def facts(out):
    return {k: v for k, v in read_results(out).items() if k != "timing"}


def test_killed_half_way_and_called_again_it_has_the_same_results(undisturbed, tmp_path):
    out = tmp_path / "eval"
    process = start(out, *EXPERT)
    wait_for(lambda: ResultsFolder(out).lines())
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=300)
    done = ResultsFolder(out).lines()
    assert 0 < len(done) < 4
    assert not (out / "results.json").exists()
    with (out / "results.jsonl").open("a") as file:
        file.write('{"rule": "rule_002", "numb')  # an incomplete line, as after a kill
    process = start(out, *EXPERT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert facts(out) == facts(undisturbed)
    again = ResultsFolder(out).lines()
    assert {key: again[key] for key in done} == done


def test_on_a_full_disk_it_keeps_what_is_done_and_continues(undisturbed, small_disk):
    out = small_disk.path / "eval"
    small_disk.fill()
    for reached in (0, 1):  # the disk is full from the start, and after the first episode
        process = start(out, *EXPERT)
        wait_for(lambda p=process: p.poll() is not None or ResultsFolder(out).lines())
        small_disk.fill()
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 2, errors
        assert "cannot write" in errors and "No space left on device" in errors
        assert "Traceback" not in errors
        done = ResultsFolder(out).lines()
        assert reached <= len(done) < 4
        small_disk.free()
    process = start(out, *EXPERT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert facts(out) == facts(undisturbed)
    assert not list(out.rglob(".*-*"))


def test_results_say_what_was_counted(undisturbed):
    content = read_results(undisturbed)
    assert content["complete"] and len(content["episodes"]) == 4
    assert content["summary"][0]["opened"] == sum(e["opened"] for e in content["episodes"])
    assert content["timing"]["episodes_per_core_hour"] > 0
    for episode in content["episodes"]:
        times = [event["time"] for event in episode["events"]]
        assert [event["event"] for event in episode["events"]] == ["knob+", "door+"]
        assert episode["reached"] == [math.ceil(time * 10 - 1e-6) for time in times]
        assert (undisturbed / "actions" / "rule_002" / f"{episode['number']:06d}.npy").exists()


def test_the_report_opens_from_disk_and_names_nothing_elsewhere(undisturbed):
    page = (undisturbed / "report.html").read_text("utf-8")
    assert "4 of each rule, seeds 0..3" in page
    assert page.count("data:image/svg+xml;base64,") >= 3
    links = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert links
    for link in links:
        assert link.startswith("data:") or (undisturbed / link).exists(), link


def test_the_report_names_the_split_and_the_safes_of_the_episodes(undisturbed, tmp_path):
    content = read_results(undisturbed)
    content["request"] |= {"split": "varied", "safes": ["safe_02", "safe_04", "safe_09"]}
    for line in content["episodes"]:
        line |= {"clipped_actions": line["frames"]}
    page = write_report(tmp_path, content).read_text("utf-8")
    assert "<td class=words>safe_02, safe_04 (2 of 3: the episodes use them in turn)</td>" in page
    assert "<td class=words>varied</td>" in page
    assert "<h1>Evaluation of expert</h1>" in page
    content["request"]["setup"]["policy"] = "/a/long/path/rule_020_vq_1"
    other = write_report(tmp_path, content).read_text("utf-8")
    assert "<h1>Evaluation of rule_020_vq_1</h1>" in other
    assert "<td class=words>/a/long/path/rule_020_vq_1, kind expert" in other
    frames = sum(line["frames"] for line in content["episodes"])
    assert f"{frames} of {frames} targets (100 %) were out of the joints" in page


def test_marks_of_few_rows_are_within_their_axes(undisturbed):
    content = read_results(undisturbed)
    (axes,) = plots.success(content["summary"][:2]).axes
    bottom, top = axes.get_ylim()
    assert bottom < -0.3 and top > 1.3  # markers are 0.22 from their rows, 0 and 1
    opened = [line for line in content["episodes"] if line["opened"]]
    (axes,) = plots.lengths(opened).axes
    assert axes.get_xlim()[1] > 1.02 * max(line["simulated_time"] for line in opened)


def test_another_request_is_refused(undisturbed, capsys):
    words = ["eval", *WORDS, "--out", str(undisturbed), *EXPERT, "--seed", "7"]
    assert main(words) == 2
    assert "seed: 0 in the directory, 7 requested" in capsys.readouterr().err


def test_films_are_of_the_same_physics_and_linked(tmp_path, capsys):
    out = tmp_path / "eval"
    words = ["--policy", "memoryless-oracle", "--episodes", "1", "--films", "1"]
    assert main(["eval", *WORDS, "--out", str(out), *words, "--step-seconds", "0.5"]) == 0
    (episode,) = read_results(out)["episodes"]
    printed = capsys.readouterr().out
    order = ("process score", "rendering 1 video; disable with --films 0", "report.html")
    assert sorted(order, key=printed.index) == list(order)
    folder = out / "films" / "rule_002_000000"
    with av.open(str(folder / "film.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) > episode["frames"] == 10
    page = (out / "report.html").read_text("utf-8")
    assert 'href="films/rule_002_000000/film.mp4"' in page
    assert "data:image/jpeg" in page
    assert "not_touched" not in page and "not touched" in page


@pytest.fixture
def to_film(request_for, tmp_path):
    """(request, line) of a directory that lacks the film of a short episode."""
    request = request_for(step_seconds=0.5)
    episode = request.episode("rule_002", 0)
    return request, EpisodeRunner(request.setup).play(ORACLES["expert"], tmp_path, episode)


def test_a_film_that_was_ended_half_way_is_made_anew(to_film, tmp_path, monkeypatch):
    request, line = to_film
    folder = videos.folder_of(tmp_path, "rule_002", 0)

    def killed(film):
        raise SystemExit

    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(VideoFile, "close", killed)  # the sheet is written by then
        facts = {("rule_002", 0): line}
        videos.film(tmp_path, EpisodeRunner(request.setup), facts, request.episode("rule_002", 0))
    assert not folder.exists() and len(list(folder.parent.iterdir())) == 1
    videos.make(request, tmp_path, [line], 1, "local")
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    with av.open(str(folder / "film.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) > line["frames"] == 10


def test_a_film_whose_worker_dies_is_no_film(to_film, tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES.builtin, "local", Deadly)
    with pytest.raises(RuleSafeError, match=r"seed .*the worker died, 3 times"):
        videos.make(to_film[0], tmp_path, [to_film[1]], 1, "local")


def test_two_results_are_compared_by_the_command(undisturbed, tmp_path, capsys):
    out = tmp_path / "eval"
    words = ["--policy", "memoryless-oracle", "--episodes", "2", "--films", "0"]
    assert main(["eval", *WORDS, "--out", str(out), *words]) == 0
    capsys.readouterr()
    assert main(["eval", "compare", str(out), str(undisturbed), "--out", str(tmp_path / "c")]) == 0
    printed = capsys.readouterr().out
    assert "memoryless-oracle" in printed and "0 of A, 2 of B" in printed
    found = json.loads((tmp_path / "c").read_text())
    assert found["pairs"] == 2
    assert found["rows"][0]["opened"] == [2, 2]
    content = json.loads((out / "results.json").read_text())
    content["request"]["versions"]["physics"] = "1"
    earlier = tmp_path / "results.json"
    earlier.write_text(json.dumps(content))
    assert main(["eval", "table", str(earlier), str(undisturbed), "--format", "latex"]) == 0
    assert "% the results differ in the version of the physics" in capsys.readouterr().out
    for command in ("compare", "table"):
        assert main(["eval", command, str(earlier), str(undisturbed)]) == 0
        error = capsys.readouterr().err
        assert f"differ in the version of the physics (1: {earlier}; 2: {undisturbed})" in error


def test_a_report_of_what_is_there_so_far(undisturbed, tmp_path, capsys):
    out = tmp_path / "eval"
    out.mkdir()
    (out / "eval.json").write_bytes((undisturbed / "eval.json").read_bytes())
    first = (undisturbed / "results.jsonl").read_text().splitlines()[0]
    (out / "results.jsonl").write_text(first + "\n")
    assert main(["eval", "report", str(out)]) == 0
    content = read_results(out)
    assert not content["complete"] and len(content["episodes"]) == 1
    assert "some episodes are still missing" in (out / "report.html").read_text("utf-8")


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(RuleSafeError, match="does not exist; create it with"):
        read_results(tmp_path)
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(RuleSafeError, match="has no results of an evaluation"):
        read_results(tmp_path)
