import numpy as np
import pytest

pytest.importorskip("sklearn")

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.clustering import CLUSTERERS, clusterings, first_use


@pytest.fixture
def codebook():
    """24 codes in four separate groups of 6, in random order; and the group of each."""
    rng = np.random.default_rng(0)
    heaps = rng.permutation(np.repeat(np.arange(4), 6))
    corners = np.array([[0, 0], [100, 0], [0, 100], [100, 100]])
    return (corners[heaps] + rng.normal(0, 1, (24, 2))).astype(np.float32), heaps


def paths_through(heaps, order):
    """Return one episode that visits the groups in this order, twice."""
    visits = [np.flatnonzero(heaps == heap) for heap in order]
    return [np.concatenate(visits + visits[::-1])]


USAGE = np.full(24, 1 / 24, np.float32)


@pytest.mark.parametrize("clusterer", CLUSTERERS.values())
@pytest.mark.parametrize("order", [(2, 0, 3, 1), (1, 3, 0, 2)])
def test_clusters_are_numbered_as_they_are_first_used(codebook, clusterer, order):
    entries, heaps = codebook
    paths = paths_through(heaps, order)
    found = clusterings(entries, USAGE, paths, (2, 4), clusterer, 0)
    assert [order[number] for number in found["clusters.4"]] == heaps.tolist()
    for seed in (1, 2):  # k-means assigns other numbers to the same clusters
        again = clusterings(entries, USAGE, paths, (4,), clusterer, seed)
        np.testing.assert_array_equal(again["clusters.4"], found["clusters.4"])


def test_every_code_has_its_nearest_centroid(codebook):
    entries, _ = codebook
    rng = np.random.default_rng(1)
    entries = rng.normal(0, 1, (64, 3)).astype(np.float32)
    paths = [rng.integers(0, 64, 200) for _ in range(3)]
    found = clusterings(
        entries, np.full(64, 1 / 64, np.float32), paths, (2, 4, 32), CLUSTERERS["by_usage"], 0
    )
    for count in (2, 4, 32):
        centroids = found[f"centroids.{count}"]
        distances = ((entries[:, None] - centroids) ** 2).sum(2)
        np.testing.assert_array_equal(found[f"clusters.{count}"], distances.argmin(1))
        assert sorted(set(found[f"clusters.{count}"])) == list(range(count))


def test_one_token_for_each_code_is_a_renumbering(codebook):
    entries, heaps = codebook
    paths = paths_through(heaps, (2, 0, 3, 1))
    found = clusterings(entries, USAGE, paths, (), CLUSTERERS["unweighted"], 0)
    numbers = found["clusters.24"]
    assert sorted(numbers) == list(range(24))
    assert numbers[paths[0][:24]].tolist() == list(range(24))
    np.testing.assert_array_equal(found["centroids.24"][numbers], entries)


def test_usage_pulls_centroids_to_the_codes_in_use():
    entries = np.array([[0], [1], [2], [10], [11], [12]], np.float32)
    paths = [np.arange(6)]
    usage = np.array([0.97, 0, 0, 0.01, 0.01, 0.01], np.float32)
    plain = clusterings(entries, usage, paths, (2,), CLUSTERERS["unweighted"], 0)["centroids.2"]
    weighted = clusterings(entries, usage, paths, (2,), CLUSTERERS["by_usage"], 0)["centroids.2"]
    np.testing.assert_allclose(plain, [[1], [11]], atol=1e-5)
    np.testing.assert_allclose(weighted, [[0], [11]], atol=1e-5)


def test_first_use_is_averaged_over_episodes_that_use_a_token():
    paths = [np.array([0, 0, 2, 2, 1]), np.array([2, 2, 2])]
    assert first_use(paths, 4).tolist() == [0, 1, (0.5 + 0) / 2, np.inf]


def test_tokens_never_used_come_last_and_keep_their_order():
    entries = np.arange(5, dtype=np.float32)[:, None]
    found = clusterings(
        entries, np.ones(5, np.float32) / 5, [np.array([3, 1])], (), CLUSTERERS["unweighted"], 0
    )
    assert found["clusters.5"].tolist() == [2, 1, 3, 0, 4]


@pytest.mark.parametrize("count", [1, 24])
def test_numbers_of_clusters_without_sense_are_refused(codebook, count):
    with pytest.raises(RuleSafeError, match=f"{count} clusters of 24 codes; valid: 2 to 23"):
        clusterings(codebook[0], USAGE, [np.arange(24)], (count,), CLUSTERERS["unweighted"], 0)


def test_there_may_be_more_clusters_than_codes_in_use():
    entries = np.array([[0], [1], [2], [10], [11], [12]], np.float32)
    usage = np.array([0.5, 0, 0, 0.5, 0, 0], np.float32)
    found = clusterings(entries, usage, [np.arange(6)], (4,), CLUSTERERS["by_usage"], 0)
    assert sorted(set(found["clusters.4"])) == [0, 1, 2, 3]
    assert np.isfinite(found["centroids.4"]).all()
