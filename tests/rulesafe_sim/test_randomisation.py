"""Splits and variations: seeded, within their ranges, as their files and docs say."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import rulesafe_sim
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.strict_yaml import keys_of
from rulesafe_sim.config import Placement
from rulesafe_sim.randomisation import SPLITS, Ranges, load_split, sample_variation
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.variation import ColourShift, Resistance, Resistances, Variation, vary_safe

DATA = Path(rulesafe_sim.__file__).parent / "data/splits"
DOCS = (Path(__file__).parents[2] / "docs/safes.md").read_text().split("## Variations")[1]
SEEDS = range(40)

Leaf = tuple[str, Any, Any]  # key in the file, ranges, values


@pytest.fixture(params=SPLITS)
def split(request):
    return SPLITS[request.param]


def leaves(ranges: Any, values: Any, path: str = "") -> Iterator[Leaf]:
    """Each figure's key, ranges and values, without the placement."""
    for key, f in keys_of(type(ranges)).items():
        if f.name == "placement":
            continue
        inner, value = getattr(ranges, f.name), getattr(values, f.name)
        if is_dataclass(inner):
            yield from leaves(inner, value, f"{path}{key}.")
        else:
            yield f"{path}{key}", inner, value if isinstance(value, tuple) else (value,)


# Splits --------------------------------------------------------------------------------


def test_the_splits_divide_the_safes():
    assert set(SPLITS["nominal"].safes) == set(SAFES)
    train, shifted = set(SPLITS["varied"].safes), set(SPLITS["shifted"].safes)
    assert train | shifted == set(SAFES) and not train & shifted
    for names in (train, shifted):
        safes = [load_safe(name) for name in names]
        assert {safe.hinge for safe in safes} == {"left", "right"}
        assert {safe.phase_visible for safe in safes} == {True, False}


def test_shifted_begins_where_train_ends():
    """Every figure that bears on light, cameras, posture, resistance and speed."""
    of = SPLITS["varied"].randomisation, SPLITS["shifted"].randomisation
    nominal = Variation(Placement((0, 0, 0), 0))
    ranges = [{key: inner for key, inner, _ in leaves(one, nominal)} for one in of]
    shared = {"colours.walls.hue_rad", "lighting.elevation_rad"}
    shared |= {f"colours.{what}.lightness" for what in ("safe", "floor", "walls")}
    shared |= {"colours.floor.saturation", "parts.door.detent"}
    for key in ranges[0].keys() - shared:
        for low, high in ranges[0][key]:
            assert all(b < low or a > high for a, b in ranges[1][key]), key


def test_places_of_shifted_lie_beyond_those_of_train():
    shifted, train = (SPLITS[name].randomisation.placement for name in ("shifted", "varied"))
    half = np.array([*train.xyz, train.yaw])
    for safe in map(load_safe, SPLITS["shifted"].safes):
        middle = train.around(safe.hinge)
        assert shifted.around(safe.hinge) == middle
        for seed in range(200):
            found = sample_variation(SPLITS["shifted"].randomisation, safe, seed).placement
            off = np.abs([*np.subtract(found.xyz, middle.xyz), found.yaw - middle.yaw])
            assert (off > half).any()
            assert (off <= [*shifted.xyz, shifted.yaw]).all()


# Draws ---------------------------------------------------------------------------------


RECORDED = {  # x, y, z and yaw of version 0.1.0, which varied nothing else
    ("safe_01", 3): (0.5585649167143, -0.2663189493403, 0.3101274465206, 0.2031745505864),
    ("safe_02", 3): (0.5585649167143, -0.3263189493403, 0.3101274465206, -0.1458254494135),
    ("safe_05", 7): (0.6125095466604, -0.2002786199030, 0.3075685690245, 0.0785973093067),
    ("safe_10", 0): (0.6136961687321, -0.3230213286236, 0.2340973523936, -0.3432318552005),
}


@pytest.mark.parametrize(("safe", "seed"), RECORDED)
def test_nominal_places_are_those_of_earlier_versions_and_nothing_else_varies(safe, seed):
    found = sample_variation(SPLITS["nominal"].randomisation, safe, seed)
    place = (*found.placement.xyz, found.placement.yaw)
    np.testing.assert_allclose(place, RECORDED[safe, seed], atol=2e-13)
    assert found == Variation(found.placement)


def test_a_seed_gives_the_same_variation_and_another_seed_another(split):
    safe = load_safe(split.safes[0])

    def draw(seed: int) -> Variation:
        return sample_variation(split.randomisation, safe, seed)

    assert draw(5) == draw(5)
    assert len({draw(seed) for seed in SEEDS}) == len(SEEDS)


def test_a_further_draw_moves_the_safe_alone(split):
    first, second, third = (
        sample_variation(split.randomisation, split.safes[0], 5, draw) for draw in range(3)
    )
    assert len({first.placement, second.placement, third.placement}) == 3
    assert replace(second, placement=first.placement) == first


def test_figures_lie_in_their_ranges_and_fill_them(split):
    safe = load_safe(split.safes[0])
    drawn = [sample_variation(split.randomisation, safe, seed) for seed in SEEDS]
    by_key: dict[str, list[float]] = {}
    ranges: dict[str, Ranges] = {}
    for variation in drawn:
        for key, inner, values in leaves(split.randomisation, variation):
            by_key.setdefault(key, []).extend(values)
            ranges[key] = inner
    assert len(by_key) == 31
    for key, values in by_key.items():
        for low, high in ranges[key]:
            within = [value for value in values if low <= value <= high]
            assert within, key
            assert np.ptp(within) >= 0.5 * (high - low), key
        assert all(any(a <= v <= b for a, b in ranges[key]) for v in values), key


def test_one_aspect_does_not_change_the_others():
    of = SPLITS["varied"].randomisation
    narrower = replace(of, speed=((1.0, 1.0),), lighting=replace(of.lighting, key=((2.0, 3.0),)))
    one, other = (sample_variation(r, "safe_01", 9) for r in (of, narrower))
    assert one.speed != other.speed and one.lighting.key != other.lighting.key
    lighting = replace(other.lighting, key=one.lighting.key)
    assert replace(other, speed=one.speed, lighting=lighting) == one


def test_all_values_are_drawn_independently(split):
    """Axes of one value too, and values of the same name, such as the hue of safe and floor."""
    drawn = []
    for seed in range(300):
        variation = sample_variation(split.randomisation, split.safes[0], seed)
        values = leaves(split.randomisation, variation)
        drawn.append([number for _, _, numbers in values for number in numbers])
    columns = np.array(drawn).T
    varied = columns[np.ptp(columns, axis=1) > 0]
    if split.id != "nominal":
        assert len(varied) >= 40
        correlations = np.corrcoef(varied) - np.eye(len(varied))
        assert np.abs(correlations).max() < 0.35


@pytest.mark.parametrize(("seed", "draw"), [(-1, 0), (0, -1)])
def test_negative_seeds_and_draws_are_refused(seed, draw):
    with pytest.raises(RuleSafeError, match=">= 0"):
        sample_variation(SPLITS["varied"].randomisation, "safe_01", seed, draw)


@pytest.mark.parametrize("change", [{"damping": -1.0}, {"detent": -0.1}, {"spring": -100.0}])
def test_negative_resistances_are_refused(change):
    parts = Resistances(knob=Resistance(**change))
    variation = Variation(Placement((0.6, -0.3, 0.3), 0.0), parts=parts)
    with pytest.raises(RuleSafeError, match=f"in this variation: {next(iter(change))} would be -"):
        vary_safe(load_safe("safe_01"), variation)


# JSON ----------------------------------------------------------------------------------


def test_variations_go_through_json(split):
    safe = load_safe(split.safes[0])
    for seed in SEEDS:
        variation = sample_variation(split.randomisation, safe, seed)
        text = json.dumps(variation.to_dict(), allow_nan=False)
        assert Variation.from_dict(json.loads(text)) == variation


def test_what_json_leaves_out_is_nominal():
    place = {"xyz": [0.6, -0.2, 0.3], "yaw": 0}
    expected = Variation(Placement((0.6, -0.2, 0.3), 0.0))
    assert Variation.from_dict({"placement": place}) == expected
    bright = Variation.from_dict({"placement": place, "lighting": {"key": 2}})
    assert bright.lighting == replace(expected.lighting, key=2.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"placement": None}, ["variation.placement", "None"]),
        ({"light": {}}, ["unknown light", "valid keys: placement, lighting"]),
        ({"lighting": {"sun": 1}}, ["variation.lighting: unknown sun", "azimuth"]),
        ({"lighting": {"key": "1"}}, ["variation.lighting.key", "finite number", "'1'"]),
        ({"speed": float("nan")}, ["variation.speed", "finite number"]),
        ({"speed": float("inf")}, ["variation.speed", "within"]),
        ({"speed": 10**400}, ["variation.speed", "within"]),
        ({"speed": True}, ["variation.speed", "finite number"]),
        ({"speed": -1}, ["variation.speed must be above 0, not -1"]),
        ({"arm": [1e300, *[0] * 6]}, ["variation.arm", "within -100..100", "1e+300"]),
        ({"arm": [0.0] * 6}, ["variation.arm", "7 numbers"]),
        ({"cameras": {"head": {"xyz": 0.1}}}, ["variation.cameras.head.xyz", "3 numbers"]),
        ({"placement": {"xyz": [0, 0, 0]}}, ["variation.placement", "missing yaw"]),
    ],
)
def test_wrong_json_is_refused_with_the_place_and_what_is_valid(change, words):
    data = {"placement": {"xyz": [0.6, -0.2, 0.3], "yaw": 0.0}} | change
    with pytest.raises(RuleSafeError) as caught:
        Variation.from_dict(data)
    assert all(word in str(caught.value) for word in words), caught.value


# Safes ---------------------------------------------------------------------------------


def test_colours_shift_and_come_back():
    for color in ((0.5, 0.2, 0.1), (0.0, 0.0, 0.0), (0.9, 0.9, 0.9)):
        assert ColourShift().apply(color) is color
        around = ColourShift(hue=2 * np.pi).apply(color)
        np.testing.assert_allclose(around, color, atol=1e-6)
    green = ColourShift(hue=2 * np.pi / 3).apply((0.5, 0.0, 0.0))
    np.testing.assert_allclose(green, (0.0, 0.5, 0.0), atol=1e-6)
    assert max(ColourShift(lightness=2.0).apply((0.1, 0.4, 0.2))) == pytest.approx(1.0)
    grey = ColourShift(saturation=0.0).apply((0.1, 0.4, 0.2))
    assert np.ptp(grey) < 1e-9


def test_resistances_scale_and_add():
    knob = load_safe("safe_01").knob
    varied = Resistance(damping=2.0, detent=0.5, spring=0.003).apply(knob)
    assert (varied.damping, varied.detent) == (2 * knob.damping, 0.5 * knob.detent)
    assert varied.spring == knob.spring + 0.003
    assert Resistance().apply(knob) is knob


# Files ---------------------------------------------------------------------------------


@pytest.fixture
def edited(tmp_path):
    """Writes a copy of split varied with one value changed, and gives its path."""

    def edit(keys: str, value: object) -> Path:
        data = yaml.safe_load((DATA / "varied.yaml").read_text())
        *path, last = keys.split(".")
        place = data
        for key in path:
            place = place[key]
        place[last] = value
        copy = tmp_path / "mine.yaml"
        copy.write_text(yaml.safe_dump(data))
        return copy

    return edit


def test_a_users_file_loads(edited):
    mine = load_split(edited("speed", [[0.5, 0.6], [1.5, 1.6]]))
    assert mine.id == "mine" and mine.safes == SPLITS["varied"].safes
    assert mine.randomisation.speed == ((0.5, 0.6), (1.5, 1.6))
    assert replace(mine.randomisation, speed=SPLITS["varied"].randomisation.speed) == (
        SPLITS["varied"].randomisation
    )


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        ("speed", [1.2, 0.8], ["speed", "with from <= to"]),
        ("speed", 1.0, ["speed", "2 numbers", "1.0"]),
        ("speed", [0.0, 1.0], ["speed", "0.2 to 2"]),
        ("speed", [[0.5, 0.6], 1.0], ["speed", "2 numbers"]),
        ("lighting.sun", [1, 1], ["lighting", "unknown sun", "azimuth_rad"]),
        ("wind", [1, 1], ["unknown wind", "valid keys: title, safes, placement"]),
        ("safes", ["safe_11"], ["safe_11", "safe_01", ".yaml"]),
        ("safes", [], ["safes", "list"]),
        ("safes", ["safe_01", "safe_01"], ["safes", "different"]),
        ("placement.xyz_m", [0.1, -0.1, 0.1], ["placement", "must not be negative"]),
        ("placement.hollow", 1.0, ["hollow", "0 to 0.95"]),
    ],
)
def test_errors_name_file_key_and_what_is_valid(edited, keys, value, words):
    with pytest.raises(RuleSafeError) as caught:
        load_split(edited(keys, value))
    assert all(word in str(caught.value) for word in ["mine.yaml", *words]), caught.value


def test_an_unknown_split_is_refused_with_the_valid_ones():
    with pytest.raises(RuleSafeError, match=r"'test'; valid: nominal, varied, shifted, .*\.yaml"):
        load_split("test")


# Docs ----------------------------------------------------------------------------------


def test_the_docs_show_the_ranges_of_the_files():
    nominal = Variation(Placement((0, 0, 0), 0))
    train, shifted = (
        {key: inner for key, inner, _ in leaves(SPLITS[name].randomisation, nominal)}
        for name in ("varied", "shifted")
    )
    usual = {key: values[0] for key, _, values in leaves(SPLITS["varied"].randomisation, nominal)}

    def text(ranges: Ranges) -> str:
        return ", ".join(f"{a:g}" if a == b else f"{a:g} .. {b:g}" for a, b in ranges)

    rows = [
        f"| `{key}` | {usual[key]:g} | {text(train[key])} | {text(shifted[key])} |" for key in train
    ]
    for row in rows:
        assert row in DOCS, "\n".join(rows)


def test_the_docs_program_runs(fresh_process):
    (program,) = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    shown = fresh_process(program + "\nprint(elsewhere.placement == variation.placement)")
    assert shown == "False"


def test_the_docs_show_places_and_safes_of_the_files(split):
    place = split.randomisation.placement
    x, y, z = place.xyz
    safes = ", ".join(name.removeprefix("safe_") for name in split.safes)
    row = (
        f"| `{split.id}` | {safes} | {x:g}, {y:g}, {z:g} m, {place.yaw:g} rad | {place.hollow:g} |"
    )
    assert row in DOCS, row
    assert {f.name for f in fields(Variation)} <= set(DOCS.replace("`", " ").split())
