"""The film of two policies side by side."""

import json

import numpy as np
import pytest
from PIL import Image

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.films.frames import BAR, DONE, FAILED, SIDE
from rulesafe_data.films.strip import BAND
from rulesafe_sim.video_file import VideoFile
from rulesafe_studies import pair_film

HEIGHT = SIDE + BAR + BAND


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Return the folders of two results with films of 2 s and 1.2 s."""
    for name, shade, frames in (("first", 200, 20), ("second", 90, 12)):
        with VideoFile(tmp_path / name / "film.mp4") as film:
            for at in range(frames):
                film.add(np.full((HEIGHT, 2 * SIDE, 3), shade - at, np.uint8))
        move = "knob-" if name == "first" else "knob+"
        line = {"rule": "rule_002", "number": 3, "plan": ["knob+", "door+"], "reached": [4, None]}
        events = [{"event": "knob+", "time": 0.4}, {"event": move, "time": 0.8}]
        text = json.dumps(line | {"events": events[: 2 if name == "first" else 1]})
        (tmp_path / name / "results.jsonl").write_text(text + "\n")
    monkeypatch.setattr(pair_film, "_film", lambda folder, line: folder / "film.mp4")
    return tmp_path / "first", tmp_path / "second"


def test_it_ends_with_the_second_one_and_shows_the_moves_of_both(results, tmp_path):
    pair_film.draw(*results, tmp_path / "pair.webp", "rule_002", 3, every=0.2, quality=100)
    with Image.open(tmp_path / "pair.webp") as film:
        assert film.n_frames == 6
        film.seek(5)
        shown = np.asarray(film.convert("RGB")).astype(int)
    middle = shown[100:200]
    assert abs(middle[:, :360].mean() - 190) < 4 and abs(middle[:, 360:].mean() - 80) < 4
    plan, moves = shown[366:384], shown[388:406]

    def has(part, colour):
        return (np.abs(part - colour).max(-1) < 30).any()

    assert has(plan[:, :360], DONE) and has(plan[:, 360:], DONE)
    assert has(moves[:, :360], FAILED) and not has(moves[:, 360:], FAILED)


def test_an_episode_that_was_not_evaluated_is_refused(results, tmp_path):
    with pytest.raises(RuleSafeError, match="first has no episode 4 of rule_002"):
        pair_film.draw(*results, tmp_path / "pair.webp", "rule_002", 4)
