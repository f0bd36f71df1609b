import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_core.cloud import (
    SAMPLERS,
    FarthestSampler,
    UniformSampler,
    Workspace,
    farthest_points,
    load_sampler,
    sample_cloud,
)
from rulesafe_core.errors import RuleSafeError

BOX = Workspace((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))


def scatter(count: int, seed: int = 0, reach: float = 1.5):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-reach, reach, (count, 3)).astype(np.float32)
    return points, rng.integers(0, 256, (count, 3)).astype(np.uint8)


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_clouds_are_cropped_and_keep_each_points_colour(sampler):
    points, colors = scatter(20_000)
    cloud = sample_cloud(points, colors, np.random.default_rng(1), BOX, sampler)
    assert cloud.shape == (1024, 6) and cloud.dtype == np.float32
    assert (np.abs(cloud[:, :3]) <= 1).all()
    color_of = {tuple(p): tuple(c) for p, c in zip(points, colors, strict=True)}
    found = [color_of[tuple(p)] for p in cloud[:, :3]]
    np.testing.assert_allclose(cloud[:, 3:] * 255, found, atol=1e-3)


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_no_point_twice_when_there_are_enough(sampler):
    points, colors = scatter(5_000, reach=0.9)
    cloud = sample_cloud(points, colors, np.random.default_rng(2), BOX, sampler)
    assert len(np.unique(cloud[:, :3], axis=0)) == 1024


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
@settings(max_examples=25, deadline=None)
@given(count=st.integers(1, 40), wanted=st.integers(1, 40), seed=st.integers(0, 9))
def test_too_few_points_all_appear_and_repeat(sampler, count, wanted, seed):
    points, colors = scatter(count, seed, reach=0.9)
    rng = np.random.default_rng(seed)
    cloud = sample_cloud(points, colors, rng, BOX, sampler, count=wanted)
    assert cloud.shape == (wanted, 6)
    assert len(np.unique(cloud[:, :3], axis=0)) == min(count, wanted)


def test_nothing_in_the_workspace_gives_zeros():
    points, colors = scatter(50)
    far = Workspace((5.0, 5.0, 5.0), (6.0, 6.0, 6.0))
    assert (sample_cloud(points, colors, np.random.default_rng(0), far) == 0).all()


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_the_generator_decides_alone(sampler):
    points, colors = scatter(8_000)

    def cloud(seed: int):
        return sample_cloud(points, colors, np.random.default_rng(seed), BOX, sampler)

    np.testing.assert_array_equal(cloud(3), cloud(3))
    assert (cloud(3) != cloud(4)).any()


@pytest.mark.parametrize("reach", [3, 1024])
def test_farthest_points_are_the_greedy_ones(reach):
    rng = np.random.default_rng(0)
    points = rng.integers(-reach, reach + 1, (300, 3))
    picked = farthest_points(points.astype(np.float32), 50)
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    assert picked[0] == 0
    for i in range(1, len(picked)):
        assert picked[i] == squares[picked[:i]].min(axis=0).argmax()


def test_the_sampler_considers_distances_to_a_thousandth_of_the_cloud():
    points, _ = scatter(300)
    picked = FarthestSampler()(points, 50, np.random.default_rng(0))
    exact = points.astype(np.float64)
    for i in range(1, len(picked)):
        nearest = np.linalg.norm(exact[:, None] - exact[picked[:i]], axis=2).min(axis=1)
        assert nearest[picked[i]] == pytest.approx(nearest.max(), abs=2 * 3**0.5 * 3 / 1024)


def test_farthest_points_cover_sparse_surfaces_as_well_as_dense_ones():
    rng = np.random.default_rng(5)
    near = rng.uniform((0, 0, 0), (0.5, 0.5, 0), (18_000, 3))
    far = rng.uniform((0, 0, 1), (0.5, 0.5, 1), (2_000, 3))
    points = np.concatenate([near, far]).astype(np.float32)

    def share_far(sampler) -> float:
        picked = sampler(points, 1024, np.random.default_rng(0))
        return float((picked >= len(near)).mean())

    assert share_far(UniformSampler()) < 0.15
    assert share_far(FarthestSampler()) > 0.25


def test_equal_points_are_no_trouble():
    points = np.zeros((2_000, 3), np.float32)
    picked = FarthestSampler()(points, 1024, np.random.default_rng(0))
    assert len(np.unique(picked)) == 1024


def test_the_workspace_holds_its_own_corners():
    box = Workspace((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    inside = box.contains(np.array([[0, 0, 0], [1, 2, 3], [1.01, 0, 0], [0, 0, -0.01]]))
    assert inside.tolist() == [True, True, False, False]


def test_errors_say_what_is_valid():
    with pytest.raises(RuleSafeError, match="valid: uniform, farthest"):
        load_sampler("random")
    with pytest.raises(RuleSafeError, match="low corner"):
        Workspace((0.0, 0.0, 0.0), (1.0, -1.0, 1.0))


def test_more_points_than_candidates_are_all_different():
    """Only `candidates` points are considered, unless more points are wanted."""
    points, colors = scatter(500, reach=0.9)
    sampler = FarthestSampler(candidates=50)
    cloud = sample_cloud(points, colors, np.random.default_rng(0), BOX, sampler, count=300)
    assert len(np.unique(cloud[:, :3], axis=0)) == 300


def test_the_default_workspace_is_that_of_the_trained_policies():
    """Policies were trained with point clouds of this box; another one crops the scene."""
    assert (Workspace().low, Workspace().high) == ((0.05, -0.85, -0.15), (1.0, 0.4, 0.75))
