"""The schedule of requests, and the inference thread."""

import threading

import numpy as np
import pytest

from policy_node.inference import (
    OVERDUE,
    InferenceRequest,
    InferenceWorker,
    RequestSchedule,
)
from policy_node.policy import CHUNK, Needs
from policy_node.synchroniser import Synchroniser
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import PERIOD, REPEAT_AFTER
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

CAMERAS = DEFAULT_CAMERAS.names

BEGIN = 7 * PERIOD


@pytest.fixture
def sync():
    return Synchroniser(Needs())


def advance(sync, frame):
    sync.joints(BEGIN + frame * PERIOD, ACTION_JOINTS, np.full(13, frame / 100))


def test_the_first_frame_is_answered_and_then_each_one_after_the_executed_rows(sync):
    schedule, asked = RequestSchedule(sync, execute=4), []
    for frame in range(13):
        advance(sync, frame)
        if request := schedule.request():
            assert schedule.accept(request)
            asked.append((frame, request.begins, request.stamp - BEGIN))
    assert asked == [
        (0, True, 0), (4, False, 4 * PERIOD), (8, False, 8 * PERIOD), (12, False, 12 * PERIOD),
    ]  # fmt: skip


def test_the_next_chunk_is_requested_when_a_short_one_ends(sync):
    schedule, frames = RequestSchedule(sync, execute=4), []
    for frame in range(9):
        advance(sync, frame)
        if request := schedule.request():
            assert schedule.accept(request, 3 if frame < 4 else 50)
            frames.append(frame)
    assert frames == [0, 3, 6]


def test_an_overdue_observation_takes_images_of_neighbouring_frames():
    """No frame has the images of both cameras."""
    sync = Synchroniser(Needs(images=True))
    schedule, late = RequestSchedule(sync, execute=4), OVERDUE // PERIOD
    for frame in range(late + 1):
        assert schedule.request() is None
        advance(sync, frame)
        camera = CAMERAS[frame % 2]
        sync.camera_data(camera, BEGIN + frame * PERIOD, np.zeros((2, 2, 3), np.uint8))
    assert schedule.request().stamp == BEGIN + OVERDUE
    assert sync.counts.filled == 1


def test_an_answer_to_a_past_episode_is_of_no_use_and_the_new_one_begins(sync):
    schedule = RequestSchedule(sync, execute=4)
    advance(sync, 0)
    request = schedule.request()
    schedule.failure = "lost its way"
    advance(sync, 1)
    assert schedule.request() is None, "the policy has failed in this episode"
    sync.start(BEGIN + 2 * PERIOD)
    advance(sync, 2)
    assert not schedule.is_current(request) and not schedule.accept(request)
    again = schedule.request()
    assert again.begins and again.stamp == BEGIN + 2 * PERIOD and not schedule.failure


def test_a_stamp_that_is_repeated_means_that_somebody_waits(sync):
    schedule, now = RequestSchedule(sync, execute=40), 100.0
    advance(sync, 0)
    assert schedule.accept(schedule.request())
    assert not schedule.time_stopped(now)
    assert not schedule.time_stopped(now + REPEAT_AFTER + 0.1), "no joint states were received"
    advance(sync, 0)
    assert schedule.time_stopped(now + 2 * REPEAT_AFTER + 0.3)
    advance(sync, 3)
    assert not schedule.time_stopped(now + 3 * REPEAT_AFTER + 0.4)
    advance(sync, 3)
    assert schedule.request() is None
    assert schedule.time_stopped(now + 4 * REPEAT_AFTER + 0.5)
    schedule.request_now()
    assert schedule.request().stamp == sync.newest


def test_who_waits_while_the_policy_thinks_has_not_lost_its_chunk(sync):
    """Whatever the duration of inference: a chunk that is published twice would start again."""
    schedule, now = RequestSchedule(sync, execute=40), 100.0
    advance(sync, 0)
    request = schedule.request()
    assert not schedule.time_stopped(now)
    advance(sync, 0)
    now += 5 * REPEAT_AFTER  # during inference
    assert schedule.accept(request)
    assert not schedule.time_stopped(now)
    advance(sync, 0)
    assert schedule.time_stopped(now + REPEAT_AFTER + 0.1)


class Rows:
    """Returns a chunk once it is released."""

    needs = Needs()

    def __init__(self):
        self.may, self.resets = threading.Event(), 0

    def reset(self):
        self.resets += 1

    def infer(self, observation):
        self.may.wait(60)
        if observation == "stuck":
            raise RuleSafeError("stuck")
        return np.ones((CHUNK, 13))


def test_the_thread_answers_while_others_go_on():
    notified, policy = threading.Event(), Rows()
    worker = InferenceWorker(notified.set)
    worker.submit(policy, InferenceRequest(1, BEGIN, True, "seen"))
    assert worker.busy and worker.take() is None
    policy.may.set()
    assert notified.wait(60)
    result = worker.take()
    assert (result.request.stamp, result.chunk.shape) == (BEGIN, (CHUNK, 13))
    assert policy.resets == 1 and not worker.busy and worker.take() is None
    notified.clear()
    worker.submit(policy, InferenceRequest(1, BEGIN, False, "stuck"))
    assert notified.wait(60)
    with pytest.raises(RuleSafeError, match="stuck"):
        worker.take()
    assert policy.resets == 1 and not worker.busy
    worker.close()
