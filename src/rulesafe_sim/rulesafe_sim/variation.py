"""Scene variation of an episode: the values that are randomised between episodes.

`randomisation.sample_variation` samples a `Variation` for a seed; `Simulation.reset` applies it. It
can be stored as JSON:

    again = Variation.from_dict(json.loads(json.dumps(variation.to_dict())))
"""

from colorsys import hls_to_rgb, rgb_to_hls
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from math import pi
from typing import Any, TypeVar

import numpy as np

from rulesafe_core.body import Color, Material, linear_to_srgb, srgb_to_linear
from rulesafe_core.cameras import CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.nested import replace_nested
from rulesafe_core.strict_yaml import as_mapping, check_keys
from rulesafe_core.transforms import Vec3
from rulesafe_sim.config import Placement
from rulesafe_sim.safe import Part, Safe

AnyPart = TypeVar("AnyPart", bound=Part)

LARGEST = 100.0
"""Largest magnitude of a value in a file or request, in m, rad, N m or as a factor."""


@dataclass(frozen=True)
class Lighting:
    """Changes of the room's lights relative to the nominal ones in room.py."""

    key: float = 1.0  # factor on the key light, which casts the shadows
    azimuth: float = 0.0  # rad, rotation of the key light's direction about z
    elevation: float = 0.0  # rad, positive: the key light is higher
    ambient: float = 1.0  # factor on the ambient light and the fill light
    tint: Color = (1.0, 1.0, 1.0)  # factors on red, green and blue of all lights


@dataclass(frozen=True)
class ColourShift:
    """Change of a colour in hue, lightness and saturation of its sRGB values."""

    hue: float = 0.0  # added hue, rad; periodic with 2 pi
    saturation: float = 1.0  # factor
    lightness: float = 0.0  # added; lightness is in 0..1

    def apply(self, color: Color) -> Color:
        """Shift a linear RGB colour; without a shift, return it unchanged (bit-identical)."""
        if self == ColourShift():
            return color
        hue, lightness, saturation = rgb_to_hls(*(linear_to_srgb(value) for value in color))
        red, green, blue = hls_to_rgb(
            (hue + self.hue / (2 * pi)) % 1.0,
            min(1.0, max(0.0, lightness + self.lightness)),
            min(1.0, max(0.0, saturation * self.saturation)),
        )
        return srgb_to_linear(red), srgb_to_linear(green), srgb_to_linear(blue)


@dataclass(frozen=True)
class Colours:
    """Colour shifts: one for all colours of the safe, one for the floor, one for the walls."""

    safe: ColourShift = ColourShift()
    floor: ColourShift = ColourShift()
    walls: ColourShift = ColourShift()


@dataclass(frozen=True)
class CameraShift:
    """Change of a camera's pose relative to its nominal pose, in the frame of the camera's link.

    `xyz` m, `rpy` rad (added to the fixed-axis angles), `fov` rad (added to the vertical angle)."""

    xyz: Vec3 = (0.0, 0.0, 0.0)
    rpy: Vec3 = (0.0, 0.0, 0.0)
    fov: float = 0.0


@dataclass(frozen=True)
class Cameras:
    """Shifts of the cameras "head" and "front"; others do not vary."""

    head: CameraShift = CameraShift()
    front: CameraShift = CameraShift()

    def apply(self, cameras: CameraSet) -> CameraSet:
        """Return the cameras with the shifts of those that vary."""
        result = []
        for camera in cameras:
            shift = getattr(self, camera.name, CameraShift())
            x, y, z = np.add(camera.xyz, shift.xyz).tolist()
            roll, pitch, yaw = np.add(camera.rpy, shift.rpy).tolist()
            fovy = camera.fovy + shift.fov
            result.append(replace(camera, xyz=(x, y, z), rpy=(roll, pitch, yaw), fovy=fovy))
        return replace(cameras, cameras=tuple(result))


@dataclass(frozen=True)
class Resistance:
    """Change of a part's resistance: factors on its damping and detent, and a closing torque (N m)
    added to its spring, since most safes have no spring to scale."""

    damping: float = 1.0
    detent: float = 1.0
    spring: float = 0.0

    def apply(self, part: AnyPart) -> AnyPart:
        """Return the part with this resistance, or the part itself if nothing changes. Raises
        RuleSafeError if a value would be negative, or the part would not stay in its phase."""
        if self == Resistance():
            return part
        values: dict[str, Any] = {
            "damping": part.damping * self.damping,
            "detent": part.detent * self.detent,
            "spring": part.spring + self.spring,
        }
        for name, value in values.items():
            if value < 0:
                raise RuleSafeError(f"{name} would be {value:g}; valid: 0 or more")
        return replace(part, **values)


@dataclass(frozen=True)
class Resistances:
    knob: Resistance = Resistance()
    handle: Resistance = Resistance()
    door: Resistance = Resistance()


@dataclass(frozen=True)
class Variation:
    """All values of an episode that can vary in addition to rule and safe. `placement` has no
    nominal value; `sample_variation` samples it."""

    placement: Placement
    lighting: Lighting = Lighting()
    colours: Colours = Colours()
    cameras: Cameras = Cameras()
    arm: tuple[float, ...] = (0.0,) * len(ARM_JOINTS)  # offset from HOME, rad, order of ARM_JOINTS
    parts: Resistances = Resistances()
    speed: float = 1.0  # factor on the expert's speed; the physics ignores it

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON-compatible numbers, lists and dicts."""
        found: dict[str, Any] = _encode(self)
        return found

    @classmethod
    def from_dict(cls, data: Any) -> "Variation":
        """Convert from `to_dict`; missing keys are nominal. Raises RuleSafeError for unknown keys,
        a missing placement, values that are not numbers within LARGEST, or a speed that is not
        positive."""
        found: Variation = _decode(_TEMPLATE, data, "variation")
        if found.speed <= 0:
            raise RuleSafeError(f"variation.speed must be above 0, not {found.speed}")
        return found


_TEMPLATE = Variation(Placement((0.0, 0.0, 0.0), 0.0))


def vary_safe(safe: Safe, variation: Variation) -> Safe:
    """Return the safe with the colours and resistances of the variation, or the safe itself if
    nothing changes. Raises RuleSafeError if a part would not stay in its phase."""
    if variation.colours.safe == ColourShift() and variation.parts == Resistances():
        return safe
    shift, parts = variation.colours.safe, variation.parts
    try:
        varied = replace(
            safe,
            knob=parts.knob.apply(safe.knob),
            handle=parts.handle.apply(safe.handle),
            door=parts.door.apply(safe.door),
        )
    except RuleSafeError as error:
        raise RuleSafeError(f"{safe.id} in this variation: {error}") from error
    if shift == ColourShift():
        return varied
    shifted: Safe = replace_nested(
        varied, Material, lambda each: replace(each, color=shift.apply(each.color))
    )
    return shifted


def _encode(value: Any) -> Any:
    """Convert dataclasses to dicts and tuples to lists. `dataclasses.asdict` also copies numbers,
    which takes ten times as long."""
    if is_dataclass(value):
        return {name: _encode(getattr(value, name)) for name in value.__dataclass_fields__}
    return list(value) if isinstance(value, tuple) else value


def _decode(template: Any, value: Any, where: str) -> Any:
    """Convert a value to the structure of `template`: dataclasses, tuples and numbers."""
    if is_dataclass(template):
        data = as_mapping(value, where)
        optional = [f.name for f in fields(template) if f.default is not MISSING]
        check_keys(data, [f.name for f in fields(template)], where, optional)
        given = {k: _decode(getattr(template, k), v, f"{where}.{k}") for k, v in data.items()}
        return replace(template, **given)  # type: ignore[type-var]
    if isinstance(template, tuple):
        if not isinstance(value, (list, tuple)) or len(value) != len(template):
            raise RuleSafeError(f"{where} must be {len(template)} numbers, not {value!r}")
        return tuple(_decode(0.0, item, where) for item in value)
    nan = value != value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or nan:
        raise RuleSafeError(f"{where} must be a finite number, not {value!r}")
    if abs(value) > LARGEST:  # also integers that are too large for a float
        raise RuleSafeError(f"{where} must be within -{LARGEST:g}..{LARGEST:g}, not {value!r:.40}")
    return float(value)
