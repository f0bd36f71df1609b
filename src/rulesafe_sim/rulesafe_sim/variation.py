"""What may differ from one episode to the next, as concrete values: a `Variation`.

`randomisation.sample_variation` draws one for a seed; `Simulation.reset` applies it. It is plain
data and goes through JSON and back:

    again = Variation.from_dict(json.loads(json.dumps(variation.to_dict())))
"""

from colorsys import hls_to_rgb, rgb_to_hls
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass, replace
from math import isfinite, pi
from typing import Any, TypeVar

from rulesafe_core.body import Color, Material, linear, srgb
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.strict_yaml import as_mapping, check_keys
from rulesafe_core.transforms import Vec3
from rulesafe_sim.config import Placement
from rulesafe_sim.safe import Looks, Part, Safe

AnyPart = TypeVar("AnyPart", bound=Part)


@dataclass(frozen=True)
class Lighting:
    """The room's lights against the nominal ones of visuals.py."""

    key: float = 1.0  # times the key light, which throws the shadows
    azimuth: float = 0.0  # rad, the key light's direction turned about z, seen from above
    elevation: float = 0.0  # rad, positive: the key light comes from further up
    ambient: float = 1.0  # times the ambient light and the light that fills the shadows
    tint: Color = (1.0, 1.0, 1.0)  # times red, green and blue of every light


@dataclass(frozen=True)
class ColourShift:
    """How a colour differs, as hue, lightness and saturation of its sRGB values."""

    hue: float = 0.0  # rad, 2 pi is once around
    saturation: float = 1.0  # times
    lightness: float = 0.0  # added, of 0..1

    def apply(self, color: Color) -> Color:
        """The shifted colour, linear RGB in and out; the very same one where nothing is shifted."""
        if self == ColourShift():
            return color
        hue, lightness, saturation = rgb_to_hls(*(srgb(value) for value in color))
        red, green, blue = hls_to_rgb(
            (hue + self.hue / (2 * pi)) % 1.0,
            min(1.0, max(0.0, lightness + self.lightness)),
            min(1.0, max(0.0, saturation * self.saturation)),
        )
        return linear(red), linear(green), linear(blue)


@dataclass(frozen=True)
class Colours:
    """Shifts of all the safe's colours together, of the wooden floor and of the walls."""

    safe: ColourShift = ColourShift()
    floor: ColourShift = ColourShift()
    walls: ColourShift = ColourShift()


@dataclass(frozen=True)
class CameraShift:
    """How a camera is mounted against its nominal pose; both are in the frame of the camera's link.

    `xyz` m, `rpy` rad (added to the fixed-axes angles), `fov` rad (vertical angle)."""

    xyz: Vec3 = (0.0, 0.0, 0.0)
    rpy: Vec3 = (0.0, 0.0, 0.0)
    fov: float = 0.0


@dataclass(frozen=True)
class Cameras:
    head: CameraShift = CameraShift()
    front: CameraShift = CameraShift()


@dataclass(frozen=True)
class Resistance:
    """How heavily a part turns: factors on its damping and detent, and a torque (N m) towards
    closed that is added to its spring, since most safes have no spring to scale."""

    damping: float = 1.0
    detent: float = 1.0
    spring: float = 0.0

    def apply(self, part: AnyPart) -> AnyPart:
        """The part with this resistance; the very same one where nothing differs. Errors:
        RuleSafeError where it would not rest in its phase."""
        if self == Resistance():
            return part
        return replace(
            part,
            damping=part.damping * self.damping,
            detent=part.detent * self.detent,
            spring=part.spring + self.spring,
        )


@dataclass(frozen=True)
class Resistances:
    knob: Resistance = Resistance()
    handle: Resistance = Resistance()
    door: Resistance = Resistance()


@dataclass(frozen=True)
class Variation:
    """All that an episode may differ in besides rule and safe. Only `placement` has no nominal
    value: where a seed puts it, `sample_variation` says."""

    placement: Placement
    lighting: Lighting = Lighting()
    colours: Colours = Colours()
    cameras: Cameras = Cameras()
    arm: tuple[float, ...] = (0.0,) * len(ARM_JOINTS)  # rad, added to HOME, order of ARM_JOINTS
    parts: Resistances = Resistances()
    speed: float = 1.0  # times the speed at which a demonstrator moves; the physics ignores it

    def to_dict(self) -> dict[str, Any]:
        """Numbers, lists and dicts, as JSON has them."""
        return _listed(asdict(self))

    @classmethod
    def from_dict(cls, data: Any) -> "Variation":
        """The inverse of `to_dict`; what is left out is nominal. Errors: RuleSafeError for unknown
        keys, for a missing placement and for what is not a finite number."""
        return _decode(_PATTERN, data, "variation")


_PATTERN = Variation(Placement((0.0, 0.0, 0.0), 0.0))


def vary_safe(safe: Safe, variation: Variation) -> Safe:
    """The safe in the variation's colours and with its resistances; the very same one where
    neither differs. Errors: RuleSafeError where a part would not rest in its phase."""
    if variation.colours.safe == ColourShift() and variation.parts == Resistances():
        return safe
    parts = variation.parts
    try:
        return replace(
            safe,
            looks=_shifted(safe.looks, variation.colours.safe),
            knob=parts.knob.apply(safe.knob),
            handle=parts.handle.apply(safe.handle),
            door=parts.door.apply(safe.door),
        )
    except RuleSafeError as error:
        raise RuleSafeError(f"{safe.id} in this variation: {error}") from error


def _shifted(looks: Looks, shift: ColourShift) -> Looks:
    materials: dict[str, Material] = {f.name: getattr(looks, f.name) for f in fields(looks)}
    return Looks(**{k: replace(m, color=shift.apply(m.color)) for k, m in materials.items()})


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _decode(pattern: Any, value: Any, where: str) -> Any:
    """The value in the form of `pattern`: a dataclass of dataclasses, tuples and numbers."""
    if is_dataclass(pattern):
        data = as_mapping(value, where)
        optional = [f.name for f in fields(pattern) if f.default is not MISSING]
        check_keys(data, [f.name for f in fields(pattern)], where, optional)
        given = {k: _decode(getattr(pattern, k), v, f"{where}.{k}") for k, v in data.items()}
        return replace(pattern, **given)  # type: ignore[type-var]
    if isinstance(pattern, tuple):
        if not isinstance(value, (list, tuple)) or len(value) != len(pattern):
            raise RuleSafeError(f"{where} must be {len(pattern)} numbers, not {value!r}")
        return tuple(_decode(0.0, item, where) for item in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise RuleSafeError(f"{where} must be a finite number, not {value!r}")
    return float(value)
