import json
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.intervals import ratio_interval, wilson
from rulesafe_eval.commands import compare as show_comparison
from rulesafe_eval.comparison import as_text, compare
from rulesafe_eval.statistics import (
    FEWEST,
    RESAMPLES,
    bootstrap,
    clipped,
    cluster_sums,
    failures,
    mcnemar,
    newcombe,
    sign_flips,
    summary,
    timings,
)
from rulesafe_eval.statistics import as_text as summary_in_words


@pytest.mark.parametrize(("k", "n"), [(0, 10), (9, 10), (45, 100), (100, 100)])
def test_wilson_s_interval_ends_where_its_score_test_does(k, n):
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    z = norm.ppf(0.975)
    for end in (low, high):
        if 0 < end < 1:
            assert abs(k / n - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), rel=1e-6)


def test_a_bootstrap_s_interval_holds_the_mean_about_as_often_as_it_says():
    random = np.random.default_rng(1)
    ends = [bootstrap(random.beta(2, 3, 40)) for _ in range(60)]
    held = np.mean([low <= 0.4 <= high for low, high in ends])
    assert 0.85 <= held <= 1
    assert bootstrap([0.5, 0.5, 0.5]) == (0.5, 0.5)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 5), (3, 9), (4, 4)])
def test_mcnemar_counts_the_splits_that_are_as_uneven(b, c):
    splits = list(product((0, 1), repeat=b + c))
    uneven = [s for s in splits if abs(2 * sum(s) - (b + c)) >= abs(b - c)]
    assert mcnemar(b, c) == pytest.approx(len(uneven) / len(splits))


def test_sign_flips_are_counted_exactly():
    gains = [0.5, 0.25, 0.125, 0.5]
    means = [abs(np.dot(s, gains)) for s in product((-1, 1), repeat=4)]
    exact = np.mean([mean >= abs(sum(gains)) - 1e-12 for mean in means])
    assert sign_flips(gains) == pytest.approx(exact)
    assert sign_flips([0.0, 0.0]) == 1


def test_of_nothing_and_of_one_nothing_is_claimed():
    assert sign_flips([]) == sign_flips([0.5]) == sign_flips([-1.0]) == 1
    assert mcnemar(0, 1) == mcnemar(1, 0) == 1
    assert (bootstrap([]), bootstrap([0.25])) == ((0.0, 0.0), (0.25, 0.25))
    assert wilson(0, 0) == (0.0, 1.0)
    assert {row["episodes"] for row in summary([])} == {0}
    assert timings([])["inference_median_ms"] is None and clipped([]) == ""


def test_two_results_of_one_episode_are_compared():
    (row,) = compare(results([0]), results([1]))["rows"]
    assert (row["success_difference"], row["success_p"], row["process_score_p"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("count", "texts"),
    [
        (2, ("+2 of 2", "0.5", "+1.00", "0.5")),
        (5, ("+5 of 5", "0.062", "+1.00", "0.062")),
        (6, ("+100 (+45..+100)", "0.031", "+1.00", "0.031")),
    ],
)
def test_pairs_that_cannot_be_significant_have_no_interval(count, texts):
    one, other = results([0] * count), results([1] * count)
    (row,) = compare(one, other)["rows"]
    assert as_text(row) == texts
    for content in (one, other):  # another rule at the same places is no further evidence
        content["episodes"] += [{**line, "rule": "rule_021"} for line in content["episodes"]]
    every = compare(one, other)["rows"][0]
    assert (every["pairs"], every["places"]) == (2 * count, count)
    assert ("(" in as_text(every)[0]) == (count >= FEWEST)


@pytest.mark.parametrize(
    ("cells", "interval"),
    [  # both, only first, only second, neither
        ((59, 6, 16, 80), (0.0046, 0.1186)),  # as the R package contingencytables 3.1 (Cavo 2012)
        ((54, 0, 0, 0), (-0.0664, 0.0664)),  # distance of Wilson's interval of 54 of 54 from 1
        ((0, 0, 6, 0), (1 - np.sqrt(2) * 0.3903, 1)),  # and of 6 of 6, for both rates
    ],
)
def test_newcombe_s_interval_of_a_paired_difference(cells, interval):
    assert newcombe(*cells) == pytest.approx(interval, abs=6e-5)


def test_pairs_at_the_same_places_narrow_no_interval():
    """Newcombe's interval of the places, where all pairs agree; McNemar's test for any number."""
    one, other = results([1] * 10), results([1] * 10)
    for content in (one, other):
        content["episodes"] += [{**line, "rule": "rule_021"} for line in content["episodes"]]
    assert compare(one, other)["rows"][0]["success_interval"] == list(newcombe(10, 0, 0, 0))
    gains = [0] * 10 + [1] * 2 + [0] * 8, [1] * 10 + [0] * 2 + [0] * 8
    assert compare(*map(results, gains))["rows"][0]["success_p"] == mcnemar(2, 10)


def test_a_difference_that_is_the_same_at_all_places_has_an_interval():
    for ends in ([0] * 50, [1] * 50, [1] * 49 + [0]):
        row = compare(results(ends), results(ends))["rows"][0]
        low, high = row["success_interval"]
        assert low < 0 < high and high < 0.08


def test_the_command_says_why_there_is_no_interval(tmp_path, capsys):
    for name, end in (("a", 0), ("b", 1)):
        (tmp_path / name).write_text(json.dumps({"format": 1, **results([end] * 2)}))
    show_comparison(tmp_path / "a", tmp_path / "b")
    printed = capsys.readouterr().out
    assert "+2 of 2" in printed and "(+" not in printed
    assert "Fewer than 6 pairs with different safes or seeds: counts without intervals" in printed


@pytest.mark.parametrize(("count", "score"), [(5, "1.00"), (6, "1.00 (1.00..1.00)")])
def test_scores_of_few_episodes_have_no_interval(count, score):
    row = summary(results([1] * count)["episodes"])[0]
    low, high = wilson(count, count)
    success = f"100 % ({100 * low:.0f}..{100 * high:.0f})"
    assert summary_in_words(row) == (count, count, success, score, score)


@pytest.mark.parametrize(("count", "words"), [(0, ""), (199, ""), (200, "50"), (250, "62")])
@pytest.mark.parametrize(
    "given", [{"targets": 200}, {"inferences": 4}, {"inferences": 0, "frames": 200}]
)
def test_many_clipped_targets_are_told_with_their_count(given, count, words):
    """Also of files of earlier versions, without `targets`."""
    line = {"inferences": 25, "frames": 40, **given, "clipped_actions": count}
    warning = clipped([line, {**line, "clipped_actions": 0}])
    assert bool(warning) == bool(words)
    assert f"{count} of 400 targets ({words} %)" in warning or not words


def test_clusters_are_resampled_together():
    random = np.random.default_rng(2)
    values = random.beta(2, 3, 30)
    twice, places = np.concatenate([values, values]), [*range(30), *range(30)]
    assert bootstrap(twice, places) == pytest.approx(bootstrap(values))
    low, high = bootstrap(twice)
    assert high - low < 0.85 * np.ptp(bootstrap(values)), "taken for independent they seem more"


def results(ends, split="varied", seeds=None, policy="p"):
    seeds = range(len(ends)) if seeds is None else seeds
    episodes = [
        {
            "rule": "rule_020",
            "safe": "safe_01",
            "seed": seed,
            "opened": bool(end),
            "process_score": float(end),
            "order_free_score": float(end),
            "frames": 10,
            "number": seed,
            "clipped_actions": 0,
            "failed_step": 0,
            **dict.fromkeys(("cause", "failed_event"), ""),
        }
        for seed, end in zip(seeds, ends, strict=True)
    ]
    setup = {"policy": policy, "control": "none", "step_seconds": 20.0}
    setup |= {"execute": 12, "execution": "blended"}
    request = {
        "setup": setup,
        "split": split,
        "files": {},
        "rules": ["rule_020"],
        "safes": ["safe_01"],
        "seed": 0,
        "episodes": len(ends),
        **{"versions": {}, "actor": {}},
    }
    return {"request": request, "episodes": episodes}


def test_two_results_are_compared_pair_by_pair():
    one = results([0, 0, 0, 0, 1, 1, 0, 0, 0])
    other = results([1, 1, 1, 1, 1, 0, 1, 1], seeds=range(8))
    found = compare(one, other)
    (row,) = found["rows"]
    assert (found["pairs"], found["unpaired"]) == (8, [1, 0])
    assert (row["only_first"], row["only_second"], row["opened"]) == (1, 6, [2, 7])
    assert row["success_difference"] == pytest.approx(5 / 8)
    assert row["success_p"] == pytest.approx(2 * 8 / 2**7)
    low, high = row["success_interval"]
    assert low < 5 / 8 < high
    back = compare(other, one)["rows"][0]
    assert back["success_difference"] == -row["success_difference"]
    assert back["success_p"] == row["success_p"]


def test_episodes_of_one_place_are_no_further_evidence():
    """A second rule that ends as the first does at each seed changes no p and no interval."""
    ends = [0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 1, 1, 1, 1]
    one, other = map(results, ends)
    (alone,) = compare(one, other)["rows"]
    for content in (one, other):
        content["episodes"] += [{**line, "rule": "rule_021"} for line in content["episodes"]]
    both, *rows = compare(one, other)["rows"]
    assert both["rule"] == "all" and both["pairs"] == 14
    assert rows[0] == alone
    for figure in ("success_p", "process_score_p"):
        assert both[figure] == pytest.approx(alone[figure]) == pytest.approx(2 / 2**6)
    assert both["success_interval"] == pytest.approx(alone["success_interval"])


def test_a_comparison_names_what_is_set_otherwise():
    one, other = results([1]), results([1])
    other["request"]["setup"] |= {"execute": 10, "execution": "newest", "control": "shuffled"}
    found = compare(one, other)["policies"]
    assert found == ["p", "p (shuffled memory, 10 actions per chunk, newest)"]


def test_what_cannot_be_paired_is_refused():
    with pytest.raises(RuleSafeError, match="varied in the first, shifted in the second"):
        compare(results([1]), results([1], split="shifted"))
    with pytest.raises(RuleSafeError, match="no episode has the same"):
        compare(results([1]), results([1], seeds=[5]))


def test_a_summary_has_all_rules_and_safes():
    rows = summary(results([1, 0, 1])["episodes"])
    assert [(row["rule"], row["safe"]) for row in rows] == [
        ("all", "all"),
        ("rule_020", "all"),
        ("all", "safe_01"),
    ]
    assert {(row["episodes"], row["opened"]) for row in rows} == {(3, 2)}


# Several safes, unequal clusters, many pairs ----------------------------------------------------


def test_tests_of_many_pairs_are_seeded_and_close_to_the_normal_distribution():
    gains = np.random.default_rng(3).normal(0.2, 0.5, 40)
    assert sign_flips(gains) == sign_flips(gains)
    z = gains.sum() / np.sqrt((gains**2).sum())
    assert sign_flips(gains) == pytest.approx(2 * norm.sf(abs(z)), abs=0.02)
    assert sign_flips(-gains) == pytest.approx(sign_flips(gains), abs=0.01)


def test_sums_and_sizes_of_unequal_clusters_are_resampled_in_pairs():
    sizes = np.array([1.0, 2.0, 3.0, 10.0, 30.0])
    assert ratio_interval(3 * sizes, sizes, 999) == pytest.approx((3, 3))
    assert ratio_interval(sizes[:1], np.array([4.0]), 999) == (0.25, 0.25)
    assert RESAMPLES == 9999
    sums = sizes * [0, 0, 1, 1, 1]
    assert ratio_interval(sums, sizes, 9) != ratio_interval(sums, sizes, RESAMPLES)
    low, high = ratio_interval(sums, sizes, 999)
    random = np.random.default_rng(0)
    drawn = random.integers(0, 5, (9999, 5))
    ratios = sums[drawn].sum(1) / sizes[drawn].sum(1)
    assert (low, high) == pytest.approx(np.quantile(ratios, [0.025, 0.975]), abs=0.05)


def test_a_place_is_a_safe_and_a_seed():
    """Two safes with the same seeds: other episodes, and further evidence."""
    ends = {"safe_01": ([0, 0, 0, 1], [1, 1, 1, 1]), "safe_02": ([1, 1, 0, 0], [0, 1, 1, 0])}
    one, other = results([]), results([])
    for safe, pair in ends.items():
        for content, opened in zip((one, other), pair, strict=True):
            content["episodes"] += [{**line, "safe": safe} for line in results(opened)["episodes"]]
    other["episodes"].reverse()
    (row,) = compare(one, other)["rows"]
    assert (row["pairs"], row["places"], row["opened"]) == (8, 8, [3, 6])
    assert (row["only_first"], row["only_second"]) == (1, 4)
    assert row["success_p"] == mcnemar(1, 4)


def test_episodes_with_other_files_or_time_per_step_are_not_compared():
    for change, words in (
        (lambda request: request["files"].update(safe="abc"), "files {} in the first, {'safe'"),
        (lambda request: request["setup"].update(step_seconds=9.0), "time per step 20.0 in the"),
        (lambda request: request["setup"].update(turn_back=True), "disturbances none in the first"),
    ):
        one, other = results([1]), results([1])
        change(other["request"])
        with pytest.raises(RuleSafeError) as caught:
            compare(one, other)
        assert words in str(caught.value)


def test_a_summary_has_the_median_of_the_frames_of_successes():
    lines = results([1, 1, 1, 0])["episodes"]
    for line, frames in zip(lines, (10, 20, 100, 999), strict=True):
        line["frames"] = frames
    assert summary(lines)[0]["frames_to_open"] == 20
    assert summary(lines[3:])[0]["frames_to_open"] is None


def test_times_are_summed_and_latencies_are_in_milliseconds():
    timing = {"cpu_seconds": 1.02, "wall_seconds": 20.04, "inference_seconds": [0.001, 0.003001]}
    other = {"cpu_seconds": 2.02, "wall_seconds": 40.0, "inference_seconds": [0.002, 0.1, 0.004]}
    assert timings([{"timing": timing}, {"timing": other}, {"timing": None}]) == {
        "wall_seconds": 60.0,
        "cpu_seconds": 3.0,
        "episodes_per_core_hour": 2368.4,
        "inferences": 5,
        "inference_median_ms": 3.0,
        "inference_p99_ms": 96.16,
    }


@pytest.mark.parametrize(
    "cells", [(5, 1, 2, 4), (3, 1, 1, 3), (2, 5, 1, 2), (0, 3, 2, 4), (4, 0, 3, 0), (2, 1, 1, 1)]
)
def test_newcombe_s_interval_is_its_formula(cells):
    """Newcombe 1998, method 10: with a correction of the correlation, if that is positive."""
    a, b, c, d = cells
    n = sum(cells)
    (low1, high1), (low2, high2) = wilson(a + b, n), wilson(a + c, n)
    one, two = (a + b) / n, (a + c) / n
    product = a * d - b * c
    product = max(product - n / 2, 0) if product > 0 else product
    root = np.sqrt(float((a + b) * (c + d) * (a + c) * (b + d)))
    phi = product / root if root else 0.0
    below = (two - low2) ** 2 - 2 * phi * (two - low2) * (high1 - one) + (high1 - one) ** 2
    above = (high2 - two) ** 2 - 2 * phi * (high2 - two) * (one - low1) + (one - low1) ** 2
    expected = two - one - np.sqrt(below), two - one + np.sqrt(above)
    assert newcombe(*cells) == pytest.approx(expected)


def test_bootstraps_of_two_values_and_of_one_cluster():
    low, high = bootstrap([0.0, 1.0])
    assert (low, high) == (0, 1)
    assert bootstrap([0.2, 0.6, 0.4], ["a", "a", "a"]) == (0.2, 0.6)
    assert bootstrap([0.2, 0.6, 1.0], ["a", "a", "b"]) == pytest.approx((0.4, 1.0))
    sums, sizes = cluster_sums([1, 2, 4], ["b", "a", "b"])
    assert (sums.tolist(), sizes.tolist()) == ([5, 2], [2, 1])
    assert sign_flips([0.5, 0.5]) == 0.5 and sign_flips([0.0, 0.5]) == 1


def test_failures_are_listed_by_rule_and_frequency():
    lines = [
        {"rule": rule, "failed_step": step, "failed_event": event, "cause": cause, "opened": opened}
        for rule, step, event, cause, opened, count in (
            ("rule_002", 1, "knob+", "time", False, 2),
            ("rule_001", 2, "door+", "time", False, 1),
            ("rule_001", 1, "knob+", "wrong_move", False, 3),
            ("rule_001", 1, "handle+", "time", False, 1),
            ("rule_001", 0, "", "", True, 9),
        )
        for _ in range(count)
    ]
    assert [tuple(row.values()) for row in failures(lines)] == [
        ("rule_001", 1, "knob+", "wrong_move", 3),
        ("rule_001", 1, "handle+", "time", 1),
        ("rule_001", 2, "door+", "time", 1),
        ("rule_002", 1, "knob+", "time", 2),
    ]


def test_a_summary_has_rates_and_means_of_each_group():
    lines = results([1, 0, 0, 1, 1])["episodes"]
    for line, rule, score in zip(lines, "bbaaa", (0.1, 0.2, 0.3, 0.4, 0.5), strict=True):
        line |= {"rule": rule, "process_score": score}
    every, first, second, _ = summary(lines)
    assert [row["rule"] for row in (every, first, second)] == ["all", "a", "b"]
    assert [row["success_rate"] for row in (every, first, second)] == [0.6, 2 / 3, 0.5]
    assert every["success_interval"] == list(wilson(3, 5))
    assert first["process_score"] == pytest.approx(0.4)
    assert first["process_score_interval"] == list(bootstrap([0.3, 0.4, 0.5]))
    assert second["order_free_score"] == 0.5
    none = summary([])[0]
    assert (none["success_rate"], none["process_score"]) == (0, 0)


def test_scores_are_compared_pair_by_pair_with_intervals():
    one, other = results([0] * 8), results([1] * 8)
    for content, scores in ((one, np.zeros(8)), (other, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, -0.1])):
        for line, score in zip(content["episodes"], scores, strict=True):
            line["process_score"] = score
    (row,) = compare(one, other)["rows"]
    assert row["process_score_difference"] == pytest.approx(0.3375)
    low, high = row["process_score_interval"]
    assert (low, high) == bootstrap([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, -0.1])
    assert row["process_score_p"] == pytest.approx(6 / 2**8)
    success, p, score, score_p = as_text(row)
    assert score == f"+0.34 ({low:+.2f}..{high:+.2f})" and score_p == "0.023"
    assert (success.split(" (")[0], p) == ("+100", "0.0078")


def test_a_comparison_names_both_evaluations_that_share_nothing():
    with pytest.raises(RuleSafeError) as caught:
        compare(results([1, 1]), results([1], seeds=[5], policy="q"))
    assert "p with rule_020 on safe_01, seeds 0..1 and q with rule_020 on safe_01, seeds 0..0" in (
        str(caught.value)
    )
