"""Episodes of a Gymnasium environment recorded as MP4 files."""

import av
import gymnasium
import numpy as np
import pytest

import rulesafe_sim.env
from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.recording import RecordVideo


class Still(gymnasium.Env):
    """Renders uniform images, which are brighter after each step."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    observation_space = action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, render_mode: str | None = "rgb_array"):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.zeros(1, np.float32), {"seed": seed}

    def step(self, action):
        self.steps += 1
        return np.zeros(1, np.float32), 0.5, False, self.steps == 4, {}

    def render(self):
        return np.full((48, 96, 3), 40 * self.steps, np.uint8)


def brightness(path) -> list[float]:
    with av.open(str(path)) as video:
        assert video.streams.video[0].average_rate == 10
        return [frame.to_ndarray(format="rgb24").mean() for frame in video.decode(video=0)]


def test_an_episode_is_a_film_of_all_its_frames(tmp_path):
    env = RecordVideo(Still(), tmp_path / "new" / "videos", name_prefix="my")
    for steps in (4, 2):
        assert env.reset(seed=3)[1] == {"seed": 3}
        for _ in range(steps):
            assert env.step(np.zeros(1, np.float32))[1] == 0.5
    first, second = (tmp_path / f"new/videos/my-{i}.mp4" for i in range(2))
    assert brightness(first) == pytest.approx([0, 40, 80, 120, 160], abs=4)  # complete by now
    env.close()
    assert brightness(second) == pytest.approx([0, 40, 80], abs=4)


def test_the_trigger_selects_episodes(tmp_path):
    env = RecordVideo(Still(), tmp_path, episode_trigger=lambda episode: episode == 1)
    for _ in range(3):
        env.reset()
    env.close()
    assert [path.name for path in tmp_path.iterdir()] == ["episode-1.mp4"]


def test_an_environment_without_images_is_refused(tmp_path):
    with pytest.raises(RuleSafeError, match=r'gymnasium\.make\(.*render_mode="rgb_array"'):
        RecordVideo(Still(render_mode=None), tmp_path)


@pytest.mark.render
def test_rulesafe_is_recorded(tmp_path):
    assert rulesafe_sim.env.RuleSafeEnv  # the import registers the environment
    env = gymnasium.make("RuleSafe-v1", observations=("points",), render_mode="rgb_array")
    env = RecordVideo(env, tmp_path)
    env.reset(seed=0)
    env.step(env.unwrapped.home_action)
    shown = env.render()
    env.close()
    with av.open(str(tmp_path / "episode-0.mp4")) as video:
        *_, last = (frame.to_ndarray(format="rgb24") for frame in video.decode(video=0))
    assert shown.shape == last.shape
    assert np.abs(shown.astype(float) - last).mean() < 5
