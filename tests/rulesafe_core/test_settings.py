"""Settings: checked where they are made, converted where they are read, described where shown."""

from dataclasses import dataclass, fields
from typing import Literal

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, convert, described, setting, valid_range


@dataclass(frozen=True)
class Motion(Settings):
    """A motion."""

    ramp: float = setting(3.0, "Time of the ramp.", 0.2, 30, "s")
    share: float = setting(0.5, "A share.", above=0, below=1)
    steps: int | None = setting(None, "Steps.", 1)
    levels: tuple[int, ...] = setting((8, 6), "Levels.", 2)
    xyz: tuple[float, float, float] = setting((0.0, 0.0, 1.0), unit="m")
    kind: Literal["arm", "hand"] = setting("arm", "What moves.")
    film: bool = setting(False)


@dataclass(frozen=True)
class Turn(Motion):
    """A turn."""

    angle: float = setting(1.0, "Angle.")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"ramp": 60}, "ramp is 60; valid: 0.2 to 30 s"),
        ({"ramp": float("nan")}, "ramp is nan; valid: 0.2 to 30 s"),
        ({"ramp": "3"}, "ramp is '3'; valid: a number, 0.2 to 30 s (write 1e-4 as 0.0001)"),
        ({"ramp": True}, "ramp is True; valid: a number, 0.2 to 30 s"),
        ({"share": 1.0}, "share is 1; valid: above 0 and below 1"),
        ({"steps": 0}, "steps is 0; valid: 1 or more"),
        ({"steps": 1.5}, "steps is 1.5; valid: an integer, 1 or more"),
        ({"steps": True}, "steps is True; valid: an integer, 1 or more"),
        ({"levels": (8, 1)}, "levels[1] is 1; valid: 2 or more"),
        ({"levels": 8}, "levels is 8; valid: a list of numbers"),
        ({"xyz": (1.0, 2.0)}, "xyz is (1.0, 2.0); valid: a list of 3 numbers"),
        ({"xyz": (0, 0, float("inf"))}, "xyz[2] is inf; valid: a finite number"),
        ({"kind": "leg"}, "kind is 'leg'; valid: arm, hand"),
        ({"film": 1}, "film is 1; valid: true or false"),
    ],
)
@pytest.mark.parametrize("cls", [Motion, Turn])
def test_errors_have_name_value_and_what_is_valid(cls, values, message):
    with pytest.raises(RuleSafeError) as error:
        cls(**values)
    assert str(error.value) == message


def test_ends_of_a_range_are_valid_and_bounds_above_and_below_are_not():
    assert Motion(ramp=0.2, share=0.999, steps=1).ramp == 0.2
    for share in (0, 1):
        with pytest.raises(RuleSafeError):
            Motion(share=share)


def test_values_of_files_and_parameters_are_converted():
    kinds = {of.name: of for of in fields(Motion)}

    def read(name, value):
        return convert(kinds[name].type, value, name, kinds[name].metadata)

    assert isinstance(read("ramp", 3), float)
    assert read("xyz", [1, 2, 3]) == (1.0, 2.0, 3.0)
    assert read("levels", []) == ()
    assert read("steps", None) is None


def test_classes_describe_their_settings():
    assert "    ramp: Time of the ramp. Unit: s." in Motion.__doc__.splitlines()
    assert Turn.__doc__ == "A turn.\n\nAttributes:\n    angle: Angle."
    kinds = {of.name: of.metadata for of in fields(Motion)}
    shown = [valid_range(kinds[name]) for name in ("ramp", "share", "steps", "xyz", "film")]
    assert shown == ["0.2 to 30 s", "above 0 and below 1", "1 or more", "m", ""]
    assert described(kinds["kind"]) == "What moves."
