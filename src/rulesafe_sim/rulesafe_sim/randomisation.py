"""What episodes may differ in: ranges, the splits that hold them, and a draw for each seed.

    split = SPLITS["train"]              # or load_split("my_split.yaml")
    variation = sample_variation(split.randomisation, "safe_03", seed=7)
    simulation.reset("rule_001", "safe_03", seed=7, variation=variation)

The figures stand in data/splits, docs/randomisation.md tells what they are for. Every figure has a
stream of random numbers of its own, by seed and name: what is added later, and what a file leaves
out, changes no other figure.
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
    """Ranges of a factor on a nominal figure."""
    return setting(ONE, "", low, high)


def offset(unit: str, most: float) -> Any:
    """Ranges of what is added to a nominal figure, `most` at most either way."""
    return setting(ZERO, "", -most, most, unit)


@dataclass(frozen=True)
class PlacementRange:
    """Where a safe may stand: uniform, +- `xyz` (m) and `yaw` (rad) around the place of its hinge
    side. `hollow`: the part of these ranges that is left out in the middle; one of the four
    figures at least lies beyond it."""

    left_hinge: Placement
    right_hinge: Placement
    xyz: Vec3 = required(unit="m")
    yaw: float = required(0, pi, "rad")
    hollow: float = setting(0.0, "", 0, 0.95)

    def __post_init__(self) -> None:
        if min(self.xyz) < 0:
            raise RuleSafeError(f"xyz_m is +- and not negative, unlike {list(self.xyz)}")

    def around(self, hinge: str) -> Placement:
        """The place in the middle, for a hinge on the "left" or "right"."""
        return self.left_hinge if hinge == "left" else self.right_hinge


@dataclass(frozen=True)
class LightingRange:
    """As `variation.Lighting`; `tint` is drawn for red, green and blue each."""

    key: Ranges = factor(0.0, 4.0)
    azimuth: Ranges = offset("rad", pi)
    elevation: Ranges = offset("rad", 0.7)
    ambient: Ranges = factor(0.0, 4.0)
    tint: Ranges = factor(0.0, 2.0)


@dataclass(frozen=True)
class ColourRange:
    """As `variation.ColourShift`."""

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
    """As `variation.CameraShift`; x, y and z are drawn each, and so are roll, pitch and yaw."""

    xyz: Ranges = offset("m", 0.5)
    rpy: Ranges = offset("rad", 0.5)
    fov: Ranges = offset("rad", 0.3)


@dataclass(frozen=True)
class CamerasRange:
    head: CameraRange = CameraRange()
    front: CameraRange = CameraRange()


@dataclass(frozen=True)
class ResistanceRange:
    """As `variation.Resistance`."""

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
    """The ranges of a `Variation`, field by field; what has no range keeps its nominal value."""

    placement: PlacementRange
    lighting: LightingRange = LightingRange()
    colours: ColoursRange = ColoursRange()
    cameras: CamerasRange = CamerasRange()
    arm: Ranges = offset("rad", 0.2)  # each joint; further out it may begin in contact
    parts: ResistancesRange = ResistancesRange()
    speed: Ranges = factor(0.2, 2.0)


@dataclass(frozen=True)
class Split:
    """Safes and ranges that belong together, as a file of data/splits states them."""

    id: str
    title: str
    safes: tuple[str, ...]
    randomisation: Randomisation


def sample_variation(
    randomisation: Randomisation, safe: str | Safe, seed: int, draw: int = 0
) -> Variation:
    """The variation of a seed, for a safe (its hinge side tells where it stands).

    Draws above 0 place the safe anew and leave the rest as it is: for places that turn out to be
    out of reach. Errors: RuleSafeError for an unknown safe and a negative seed or draw.
    """
    if seed < 0 or draw < 0:
        raise RuleSafeError(f"seed and draw are whole numbers >= 0, not {seed} and {draw}")
    hinge = load_safe(safe).hinge
    nominal = Variation(sample_placement(randomisation.placement, hinge, seed, draw))
    return _sample(randomisation, nominal, seed, "")


def sample_placement(of: PlacementRange, hinge: str, seed: int, draw: int = 0) -> Placement:
    """The safe's placement for a seed and draw."""
    # The plain seed for the first draw: placements of a seed are those of earlier versions.
    rng = np.random.default_rng((seed, crc32(b"placement"), draw) if draw else seed)
    unit = rng.uniform(-1.0, 1.0, 4)
    while np.abs(unit).max() < of.hollow:
        unit = rng.uniform(-1.0, 1.0, 4)
    middle = of.around(hinge)
    x, y, z = (np.array(middle.xyz) + unit[:3] * of.xyz).tolist()
    return Placement((x, y, z), middle.yaw + float(unit[3]) * of.yaw)


def _sample(of: Any, nominal: Any, seed: int, path: str) -> Any:
    """`nominal` with a value from each range in `of`, which has the same fields."""
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
    along = float(rng.uniform(0.0, sum(high - low for low, high in of)))
    for low, high in of:
        if along <= high - low:
            return low + along
        along -= high - low
    return of[-1][1]  # rounding went beyond the end


def load_split(id_or_path: str | Path) -> Split:
    """The split of a name in SPLITS, or of a YAML file's path. Errors: RuleSafeError naming file
    and key."""
    if id_or_path in SPLITS:
        return SPLITS[str(id_or_path)]
    path = Path(id_or_path)
    if path.suffix not in (".yaml", ".yml"):
        raise unknown_name("split", str(id_or_path), (*SPLITS, "or a path to a .yaml file"))
    return read_split(path)


def read_split(path: Path) -> Split:
    """The split that a YAML file describes, checked."""
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
        raise RuleSafeError(f"{where} must be a list of different safes, not {names!r}")
    try:
        for name in map(str, names):
            safe_file(name)
    except RuleSafeError as error:
        raise RuleSafeError(f"{where}: {error}") from error
    return tuple(map(str, names))


def _own_splits() -> dict[str, Split]:
    with resources.as_file(resources.files("rulesafe_sim") / "data/splits") as folder:
        return {name: read_split(folder / f"{name}.yaml") for name in SPLIT_NAMES}


SPLIT_NAMES = ("nominal", "train", "shifted")
SPLITS: Mapping[str, Split] = _own_splits()
"""The splits that come with the project: "nominal", "train", "shifted"."""
