"""Domain randomisation: ranges of scene variations, splits, and sampling by seed.

    split = SPLITS["varied"]             # or load_split("my_split.yaml")
    variation = sample_variation(split.randomisation, "safe_03", seed=7)
    simulation.reset("rule_001", "safe_03", seed=7, variation=variation)

The ranges are in data/splits; docs/safes.md explains them. The random generator of each
value is seeded with the seed and the name of the value, so that adding or omitting a range does not
change other values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import resources
from math import pi
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.settings import required, setting
from rulesafe_core.strict_yaml import Ranges, build, check_keys, keys_of, read_yaml
from rulesafe_core.transforms import Vec3
from rulesafe_sim.config import Placement
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe, safe_file
from rulesafe_sim.variation import Variation

ONE: Ranges = ((1.0, 1.0),)
ZERO: Ranges = ((0.0, 0.0),)


def factor(low: float, high: float) -> Any:
    """Define ranges of a factor on a nominal value."""
    return setting(ONE, "", low, high)


def offset(unit: str, limit: float) -> Any:
    """Define ranges of an offset to a nominal value, within +- `limit`."""
    return setting(ZERO, "", -limit, limit, unit)


@dataclass(frozen=True)
class PlacementRange:
    """Range of placements: uniform, +- `xyz` (m) and +- `yaw` (rad) around the nominal pose for the
    hinge side. `hollow`: fraction of these ranges that is excluded in the middle; at least one of
    the four values lies outside it."""

    left_hinge: Placement
    right_hinge: Placement
    xyz: Vec3 = required(unit="m")
    yaw: float = required(0, pi, "rad")
    hollow: float = setting(0.0, "", 0, 0.95)

    def __post_init__(self) -> None:
        if min(self.xyz) < 0:
            raise RuleSafeError(f"xyz_m is {list(self.xyz)}; half ranges must not be negative")

    def around(self, hinge: str) -> Placement:
        """Return the nominal placement for a hinge on the "left" or "right"."""
        return self.left_hinge if hinge == "left" else self.right_hinge


@dataclass(frozen=True)
class LightingRange:
    """Ranges of `variation.Lighting`; `tint` is sampled separately for red, green and blue."""

    key: Ranges = factor(0.0, 4.0)
    azimuth: Ranges = offset("rad", pi)
    elevation: Ranges = offset("rad", 0.7)
    ambient: Ranges = factor(0.0, 4.0)
    tint: Ranges = factor(0.0, 2.0)


@dataclass(frozen=True)
class ColourRange:
    """Ranges of `variation.ColourShift`."""

    hue: Ranges = offset("rad", pi)
    saturation: Ranges = factor(0.0, 10.0)
    lightness: Ranges = offset("", 1.0)


@dataclass(frozen=True)
class ColoursRange:
    safe: ColourRange = ColourRange()
    floor: ColourRange = ColourRange()
    walls: ColourRange = ColourRange()


@dataclass(frozen=True)
class CameraRange:
    """Ranges of `variation.CameraShift`; each component of xyz and rpy is sampled separately."""

    xyz: Ranges = offset("m", 0.5)
    rpy: Ranges = offset("rad", 0.5)
    fov: Ranges = offset("rad", 0.3)


@dataclass(frozen=True)
class CamerasRange:
    head: CameraRange = CameraRange()
    front: CameraRange = CameraRange()


@dataclass(frozen=True)
class ResistanceRange:
    """Ranges of `variation.Resistance`."""

    damping: Ranges = factor(0.0, 4.0)
    detent: Ranges = factor(0.1, 4.0)
    spring: Ranges = setting(ZERO, "", 0, 0.5, "nm")


@dataclass(frozen=True)
class ResistancesRange:
    knob: ResistanceRange = ResistanceRange()
    handle: ResistanceRange = ResistanceRange()
    door: ResistanceRange = ResistanceRange()


@dataclass(frozen=True)
class Randomisation:
    """Ranges of the fields of a `Variation`; by default a field keeps its nominal value."""

    placement: PlacementRange
    lighting: LightingRange = LightingRange()
    colours: ColoursRange = ColoursRange()
    cameras: CamerasRange = CamerasRange()
    arm: Ranges = offset("rad", 0.2)  # each joint; larger offsets may start in contact
    parts: ResistancesRange = ResistancesRange()
    speed: Ranges = factor(0.2, 2.0)


@dataclass(frozen=True)
class Split:
    """Safes and ranges of a split, as in a file of data/splits."""

    id: str
    title: str
    safes: tuple[str, ...]
    randomisation: Randomisation


def sample_variation(
    randomisation: Randomisation, safe: str | Safe, seed: int, draw: int = 0
) -> Variation:
    """Sample the variation for a seed and a safe, whose hinge side determines its placement.

    Args:
        randomisation: the ranges.
        safe: safe or its id.
        seed: seed of the episode, >= 0.
        draw: above 0, resample only the placement, for one that turned out to be out of reach.

    Raises:
        RuleSafeError: the safe is unknown, or the seed or draw is negative.
    """
    if seed < 0 or draw < 0:
        raise RuleSafeError(f"seed is {seed} and draw is {draw}; valid: integers >= 0")
    hinge = load_safe(safe).hinge
    nominal = Variation(sample_placement(randomisation.placement, hinge, seed, draw))
    return _sample(randomisation, nominal, seed, "")


def sample_placement(of: PlacementRange, hinge: str, seed: int, draw: int = 0) -> Placement:
    """Sample the placement of a safe for a seed and draw."""
    # The first draw uses the seed only, so that placements are those of earlier versions.
    rng = np.random.default_rng((seed, crc32(b"placement"), draw) if draw else seed)
    unit = rng.uniform(-1.0, 1.0, 4)
    while np.abs(unit).max() < of.hollow:
        unit = rng.uniform(-1.0, 1.0, 4)
    middle = of.around(hinge)
    x, y, z = (np.array(middle.xyz) + unit[:3] * of.xyz).tolist()
    return Placement((x, y, z), middle.yaw + float(unit[3]) * of.yaw)


def _sample(of: Any, nominal: Any, seed: int, path: str) -> Any:
    """Return `nominal` with values sampled from the ranges in `of`, which has the same fields."""
    drawn: dict[str, Any] = {}
    for name in (f.name for f in fields(of) if f.name != "placement"):
        range_, value, where = getattr(of, name), getattr(nominal, name), f"{path}{name}"
        if is_dataclass(range_):
            drawn[name] = _sample(range_, value, seed, f"{where}.")
            continue
        rng = np.random.default_rng((seed, crc32(where.encode())))
        if isinstance(value, tuple):
            drawn[name] = tuple(_draw(range_, rng) for _ in value)
        else:
            drawn[name] = _draw(range_, rng)
    return replace(nominal, **drawn)


def _draw(of: Ranges, rng: np.random.Generator) -> float:
    position = float(rng.uniform(0.0, sum(high - low for low, high in of)))
    for low, high in of:
        if position <= high - low:
            return low + position
        position -= high - low
    return of[-1][1]  # reached only by rounding


def load_split(id_or_path: str | Path) -> Split:
    """Return a split by its name in SPLITS, or read it from a YAML file. Raises RuleSafeError with
    the file and key."""
    if str(id_or_path) in SPLITS:
        return SPLITS[str(id_or_path)]
    path = Path(id_or_path)
    if path.suffix not in (".yaml", ".yml"):
        raise unknown_name("split", str(id_or_path), (*SPLITS, "or a path to a .yaml file"))
    return read_split(path)


def read_split(path: Path) -> Split:
    """Read and validate a split from a YAML file."""
    data, where = read_yaml(path), path.name
    keys = keys_of(Randomisation)
    check_keys(data, ("title", "safes", *keys), where, optional=keys)
    return Split(
        id=path.stem,
        title=str(data["title"]).strip(),
        safes=_safes(data["safes"], f"{where}: safes"),
        randomisation=build(
            Randomisation, {k: v for k, v in data.items() if k in keys}, f"{where}: split"
        ),
    )


def _safes(names: Any, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not names or len(set(map(str, names))) < len(names):
        raise RuleSafeError(f"{where} must be a list of different safe names, not {names!r}")
    try:
        for name in map(str, names):
            safe_file(name)
    except RuleSafeError as error:
        raise RuleSafeError(f"{where}: {error}") from error
    return tuple(map(str, names))


def _builtin_splits() -> dict[str, Split]:
    with resources.as_file(resources.files("rulesafe_sim") / "data/splits") as folder:
        return {name: read_split(folder / f"{name}.yaml") for name in SPLIT_NAMES}


SPLIT_NAMES = ("nominal", "varied", "shifted")
SPLITS: Mapping[str, Split] = _builtin_splits()
"""The built-in splits: "nominal", "varied", "shifted"."""
