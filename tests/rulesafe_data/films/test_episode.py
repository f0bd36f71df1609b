"""The end of an episode, and its film and contact sheet, without ROS."""

from dataclasses import replace

import av
import numpy as np
import pytest
from PIL import Image

from rulesafe_data.films import episode
from rulesafe_data.films.colours import cluster_colours
from rulesafe_data.films.episode import LATE, EpisodeMonitor, VideoRecorder
from rulesafe_data.films.frames import BACKGROUND, BAR, SIDE, ContactSheet, compose
from rulesafe_data.films.strip import BAND, TOP, Tokens, squares
from rulesafe_sim.episode import TaskSnapshot

SECOND = 10**9
START = TaskSnapshot(
    rule="rule_001",
    safe="safe_03",
    seed=7,
    plan=("knob+", "handle+", "door+"),
    steps_done=0,
    process_score=0.0,
    order_free_score=0.0,
    part_open={"knob": False, "handle": False, "door": False},
    success=False,
    frame=0,
    time=0.0,
    clipped_actions=0,
    state_digest="a",
)


def at(time: float, *opened: str) -> TaskSnapshot:
    """The facts at a time (s), with these parts open."""
    return replace(
        START,
        part_open={part: part in opened for part in START.part_open},
        steps_done=len(opened),
        process_score=len(opened) / 3,
        success="door" in opened,
        frame=int(time * 10 + 1e-9),
        time=time,
        state_digest=f"digest at {time}",
    )


def see(monitor: EpisodeMonitor, now: TaskSnapshot, waiting: bool = False) -> None:
    monitor.update(round((100 + now.time) * SECOND), now, waiting)


def test_the_first_success_is_the_result_whatever_comes_later():
    monitor = EpisodeMonitor(time_limit=60)
    see(monitor, START, waiting=True)
    see(monitor, at(5.3, "knob"))
    see(monitor, at(9.0, "knob", "handle"))
    see(monitor, at(12.34, "knob", "handle", "door"))
    see(monitor, at(12.9, "knob", "handle", "door"), waiting=True)
    result = monitor.result
    assert result.success and result.reason == ""
    assert (result.frame, result.time) == (123, 12.34)
    assert result.state_digest == "digest at 12.34"
    assert [e.event for e in result.events] == ["knob+", "handle+", "door+"]
    assert result.outcome.startswith(
        "rule_001 on safe_03, seed 7: opened, 3/3 steps, 123 frames, 12.3 s simulated in "
    )
    assert monitor.over


def test_the_time_limit_fails_the_step_that_is_due():
    monitor = EpisodeMonitor(time_limit=10)
    see(monitor, START)
    see(monitor, at(5.0, "knob"))
    see(monitor, at(9.9, "knob"))
    assert monitor.result is None and not monitor.over
    see(monitor, at(10.0, "knob"))
    assert not monitor.result.success
    assert "failed at step 2 (handle+): time limit of 10 s, 100 frames" in monitor.result.outcome


def test_giving_up_keeps_the_reason_and_cannot_undo_a_success():
    monitor = EpisodeMonitor(time_limit=60)
    see(monitor, START)
    monitor.give_up("out of reach")
    assert "failed at step 1 (knob+): out of reach, 0 frames" in monitor.result.outcome
    monitor = EpisodeMonitor(time_limit=60)
    see(monitor, at(3.0, "knob", "handle", "door"))
    monitor.give_up("the plan is done")
    assert monitor.result.success


def test_parts_that_close_again_are_events_too():
    monitor = EpisodeMonitor(time_limit=60)
    for now in (START, at(1.0, "knob"), at(2.0), at(3.0, "handle")):
        see(monitor, now)
    monitor.give_up("enough")
    assert [(e.event, e.time) for e in monitor.result.events] == [
        ("knob+", 1.0),
        ("knob-", 2.0),
        ("handle+", 3.0),
    ]


def picture(value: int, side: int = 224) -> np.ndarray:
    return np.full((side, side, 3), value, np.uint8)


def test_film_and_sheet_hold_each_instant_once_however_the_parts_arrive(tmp_path):
    recorder = VideoRecorder(tmp_path, "Open it.")
    monitor = EpisodeMonitor(60, recorder)
    story = [START, at(0.1), at(0.2, "knob"), at(0.3, "knob", "handle", "door")]
    for i, now in enumerate(story):
        stamp = round((100 + now.time) * SECOND)
        if i % 2:
            see(monitor, now)
        monitor.add_image("front", stamp, picture(60 * i))
        if i != 1:  # one image is lost, so that instant is left out
            monitor.add_image("head", stamp, picture(60 * i))
        see(monitor, now)
        monitor.add_image("front", stamp, picture(255))  # sent again
        monitor.add_image("head", stamp, picture(255)) if i != 1 else None
    paths = recorder.close(monitor.result)
    assert [path.name for path in paths] == ["film.mp4", "sheet.png"]
    with av.open(str(paths[0])) as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height) == (2 * SIDE, SIDE + BAR)
        assert stream.codec_context.pix_fmt == "yuv420p"
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(frames) == 3 + 20  # and the last one is held for 2 s
    levels = [frame[SIDE // 2, SIDE // 2].mean() for frame in frames[:3]]
    assert levels == pytest.approx([0, 120, 180], abs=6)
    sheet = np.asarray(Image.open(paths[1]))
    found = {int(v) for v in sheet[..., 0].ravel() if v in (120, 180)}
    assert found == {120, 180}, "a tile for the knob and one for the end"


@pytest.fixture
def clocks(monkeypatch):
    """What films and sheets say: times (s) and verdicts of the film's pictures, then of the
    sheet's tiles."""
    shown: list[list[tuple[float, str]]] = [[], []]
    true_add = ContactSheet.add

    def composed(images, now, instruction, verdict=""):
        shown[0].append((now.time, verdict))
        return compose(images, now, instruction, verdict)

    def add(sheet, images, time, caption):
        shown[1].append((time, caption))
        true_add(sheet, images, time, caption)

    monkeypatch.setattr(episode, "compose", composed)
    monkeypatch.setattr(ContactSheet, "add", add)
    return shown


def test_the_clocks_of_film_and_sheet_stop_when_the_door_opens(tmp_path, clocks):
    monitor = EpisodeMonitor(60, VideoRecorder(tmp_path, "Open it."))
    film_of(monitor, START)
    for time in (12.2, 12.6, 13.0):  # the film lingers
        film_of(monitor, at(time, "knob", "handle", "door"))
    monitor.recorder.close(monitor.result)
    opened = (12.2, "opened in 12.2 s")
    assert clocks[0] == [(0.0, ""), *[(12.2, "")] * 3, opened]
    assert clocks[1] == [(0.0, "start"), opened]


def test_a_failed_episode_ends_at_its_time_though_pictures_are_lost(tmp_path, clocks):
    monitor = EpisodeMonitor(60, VideoRecorder(tmp_path, "Open it."))
    film_of(monitor, START)
    see(monitor, at(4.0, "knob"))
    monitor.give_up("no path")
    monitor.recorder.close(monitor.result)
    failed = (4.0, "failed after 4.0 s")
    assert clocks[0][-1] == clocks[1][-1] == failed


def remembered(*values: int) -> Tokens:
    """A memory of three tokens that holds these."""
    mask = np.arange(3) >= 3 - len(values)
    return Tokens(np.array([0] * (3 - len(values)) + list(values)), mask, 4, 2.0)


def strips(path) -> list[list[int | None]]:
    """The tokens in a film's pictures, by the nearest colour; None: an empty square."""
    colours = np.array([BACKGROUND, *(255 * cluster_colours(4)[:, :3])])
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height) == (2 * SIDE, SIDE + BAR + BAND)
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    found: list[list[int | None]] = []
    for frame in frames:
        seen = [frame[SIDE + BAR + TOP + 3, left + 3].astype(float) for left, _ in squares(3)]
        nearest = [int(np.linalg.norm(colours - pixel, axis=1).argmin()) for pixel in seen]
        found.append([n - 1 if n else None for n in nearest])
    return found


def tell(monitor: EpisodeMonitor, now: TaskSnapshot, *tokens: int) -> None:
    monitor.tokens(round((100 + now.time) * SECOND), remembered(*tokens))


def film_of(monitor: EpisodeMonitor, now: TaskSnapshot) -> None:
    """Facts and both pictures of an instant."""
    see(monitor, now)
    for camera in ("head", "front"):
        monitor.add_image(camera, round((100 + now.time) * SECOND), picture(90))


def test_the_strip_holds_the_tokens_of_each_instant_however_they_arrive(tmp_path):
    monitor = EpisodeMonitor(60, VideoRecorder(tmp_path, "Open it."))
    tell(monitor, at(-5.0), 3, 3, 3)  # of the episode before
    film_of(monitor, at(0.0))
    film_of(monitor, at(0.1))
    tell(monitor, at(0.0), 1)  # late
    tell(monitor, at(0.2), 1, 2)  # early; those of 0.1 s are lost
    film_of(monitor, at(0.2, "knob"))
    tell(monitor, at(0.3), 1, 2, 0)
    film_of(monitor, at(0.3, "knob"))
    monitor.give_up("enough")
    film, _ = monitor.recorder.close(monitor.result)
    found = strips(film)
    assert found[:4] == [[None, None, 1], [None, None, 1], [None, 1, 2], [1, 2, 0]]
    assert found[4:] == [[1, 2, 0]] * 20, "the last picture is held"


def test_a_memory_that_falls_silent_does_not_stop_the_film(tmp_path):
    monitor = EpisodeMonitor(60, VideoRecorder(tmp_path, "Open it."))
    tell(monitor, at(0.0), 2)
    for i in range(2 * LATE):
        film_of(monitor, at(0.1 * i))
    monitor.give_up("enough")
    assert strips(monitor.recorder.close(monitor.result)[0]) == [[None, None, 2]] * (2 * LATE + 20)


def test_tokens_that_begin_later_than_the_film_leave_it_as_it_is(tmp_path):
    monitor = EpisodeMonitor(60, VideoRecorder(tmp_path, "Open it."))
    for i in range(2 * LATE):
        film_of(monitor, at(0.1 * i))
    tell(monitor, at(0.1 * (2 * LATE - 1)), 2)
    monitor.give_up("enough")
    with av.open(str(monitor.recorder.close(monitor.result)[0])) as film:
        assert film.streams.video[0].height == SIDE + BAR
        assert sum(1 for _ in film.decode(video=0)) == 2 * LATE + 20


def test_without_pictures_nothing_is_written(tmp_path):
    monitor = EpisodeMonitor(60, VideoRecorder(tmp_path / "out", "Open it."))
    see(monitor, at(1.0, "knob", "handle", "door"))
    assert monitor.recorder.close(monitor.result) == []
    assert not (tmp_path / "out").exists()


def test_the_caption_shows_what_is_done():
    before = compose({"head": picture(90), "front": picture(90)}, START, "Open it.")
    after = compose({"head": picture(90), "front": picture(90)}, at(0.0, "knob"), "Open it.")
    assert before.shape == (SIDE + BAR, 2 * SIDE, 3)
    assert (before[:SIDE] == after[:SIDE]).all()
    changed = np.argwhere((before != after).any(axis=2))
    assert len(changed) and changed[:, 0].min() > SIDE
