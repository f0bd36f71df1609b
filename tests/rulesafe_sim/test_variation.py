"""Variations in the simulation and in pictures: what they change, and what they leave."""

from dataclasses import replace
from itertools import product
from math import tan

import gymnasium
import numpy as np
import pytest

import rulesafe_sim.env  # noqa: F401  (registers the environment)
from rulesafe_core.cameras import DEFAULT_CAMERAS, OPTICAL_IN_BODY, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.transforms import apply, from_xyz_rpy, inverse
from rulesafe_sim import articulations, physics
from rulesafe_sim.bodies import placement_pose
from rulesafe_sim.config import PhysicsConfig, Placement, SimulationConfig
from rulesafe_sim.episodes import Episode
from rulesafe_sim.observer import Observer
from rulesafe_sim.randomisation import SPLITS, Ranges, sample_variation
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import HOME_ACTION, Simulation
from rulesafe_sim.variation import (
    Cameras,
    CameraShift,
    Colours,
    ColourShift,
    Lighting,
    Resistance,
    Resistances,
    Variation,
    vary_safe,
)

HERE = Variation(Placement((0.6, -0.24, 0.28), 0.17))
CLOSE = Placement((0.53, -0.30, 0.21), 0.0)  # as near to hand and body as any split has it
ARM = slice(len(ARM_JOINTS))

VARIED = ("varied", "shifted")
SAFES_OF = [(name, safe) for name in VARIED for safe in SPLITS[name].safes]


def ends(ranges: Ranges) -> tuple[float, float]:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


# Physics -------------------------------------------------------------------------------


@pytest.mark.parametrize(("split", "safe"), SAFES_OF)
def test_parts_rest_in_either_phase_at_every_extreme(split, safe):
    """Closed and open they stay, and from 0.4 and 0.6 of the range they go to the nearer end."""
    ranges, config, nominal = SPLITS[split].randomisation.parts, PhysicsConfig(), load_safe(safe)
    for corner in product((0, 1), repeat=3):
        extreme = {
            part: Resistance(
                *(ends(getattr(one, f))[i] for f, i in zip(RESISTANCE, corner, strict=True))
            )
            for part, one in vars(ranges).items()
        }
        varied = vary_safe(nominal, replace(HERE, parts=Resistances(**extreme)))
        scene = physics.make_scene(config)
        body = physics.build_body(scene, safe_body(varied), np.eye(4), 1.0, physics.Groups.SAFE)
        lockable = articulations.LockableSafe(body, varied.parts, config.lock_play)
        for fraction in (0.0, 0.4, 0.6, 1.0):
            start = {name: fraction * part.range for name, part in varied.turners.items()}
            lockable.set_positions({f"{name}_joint": angle for name, angle in start.items()})
            for _ in range(round(1.0 / config.timestep)):
                lockable.update_torques({})
                scene.step()
            for name, part in varied.turners.items():
                moved = (lockable.part_positions()[name] - start[name]) / part.range
                if fraction in (0.0, 1.0):
                    assert abs(moved) < 1e-3, (name, extreme)
                else:
                    assert moved * (fraction - 0.5) > 0, (name, fraction, extreme)
            assert abs(lockable.part_positions()["door"]) < 1e-3


RESISTANCE = ("damping", "detent", "spring")


def test_a_part_that_would_not_rest_is_refused_and_the_episode_goes_on():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 3)
    simulation.step(HOME_ACTION)
    weak = Resistances(handle=Resistance(spring=0.1))
    with pytest.raises(RuleSafeError, match=r"safe_01 in this variation: spring_nm 0.11 .*detent"):
        simulation.reset("rule_001", "safe_01", 0, replace(HERE, parts=weak))
    assert simulation.seed == 3 and simulation.frame == 1


@pytest.mark.parametrize("split", VARIED)
@pytest.mark.episode
def test_nothing_touches_in_any_posture_at_the_start(split):
    """All corners of the seven joints' ranges: the arm stands where it was put, without contact."""
    most = max(map(abs, ends(SPLITS[split].randomisation.arm)))
    simulation = Simulation()
    for signs in product((-1.0, 1.0), repeat=7):
        posture = tuple(most * sign for sign in signs)
        simulation.reset("rule_001", "safe_01", 0, Variation(CLOSE, arm=posture))
        start = simulation.command
        np.testing.assert_allclose(start[ARM] - HOME_ACTION[ARM], posture)
        np.testing.assert_allclose(simulation.state().action_positions, start, atol=1e-5)
        simulation.control(start)
        state = simulation.state()
        assert max(state.contact_forces.values()) == 0.0, (posture, state.contact_forces)
        np.testing.assert_allclose(state.action_positions, start, atol=0.01)


def test_a_reset_takes_the_splits_variation_of_the_seed():
    simulation = Simulation(SimulationConfig(split="varied"))
    simulation.reset("rule_001", "safe_03", 7)
    variation = simulation.variation
    assert variation == sample_variation(SPLITS["varied"].randomisation, "safe_03", 7)
    assert simulation.placement == variation.placement
    nominal = load_safe("safe_03")
    assert simulation.safe == vary_safe(nominal, variation) != nominal
    joint = safe_body(simulation.safe).joint("knob_joint")
    assert joint.damping == nominal.knob.damping * variation.parts.knob.damping


def trace(simulation: Simulation) -> str:
    for frame in range(4):
        simulation.step(HOME_ACTION + 0.2 * np.sin(frame + np.arange(13)))
    return simulation.digest


def test_a_variation_makes_the_same_episode_in_another_simulation():
    of_split, given = Simulation(SimulationConfig(split="shifted")), Simulation()
    of_split.reset("rule_001", "safe_05", 7)
    variation = Variation.from_dict(of_split.variation.to_dict())
    given.reset("rule_001", "safe_05", 7, variation)
    expected = trace(of_split)
    assert trace(given) == expected
    given.reset("rule_001", "safe_05", 7, replace(variation, lighting=Lighting(), speed=1.0))
    assert trace(given) == expected  # neither light nor speed is physics
    given.reset("rule_001", "safe_05", 7, replace(variation, arm=(0.0,) * 7))
    assert trace(given) != expected


# The environment -----------------------------------------------------------------------


def make(**kwargs):
    return gymnasium.make("RuleSafe-v1", observations=("joint_positions",), **kwargs)


def test_the_environment_varies_by_its_split():
    env = make(split="varied", safe="safe_03")
    observation, info = env.reset(seed=7)
    expected = sample_variation(SPLITS["varied"].randomisation, "safe_03", 7)
    assert info["split"] == "varied" and info["variation"] == expected.to_dict()
    np.testing.assert_allclose(env.unwrapped.home_action, observation["joint_positions"], atol=1e-4)
    np.testing.assert_allclose(
        env.unwrapped.home_action[ARM], HOME_ACTION[ARM] + expected.arm, atol=1e-6
    )
    assert make(config=SimulationConfig(split="varied")).reset(seed=7)[1]["split"] == "varied"
    assert make().reset(seed=7)[1]["split"] == "nominal"


def test_a_variation_is_part_of_the_episode_of_a_reset():
    env = make()
    own = env.reset(seed=7)[1]["variation"]
    rule, safe = env.unwrapped.simulation.rule.id, env.unwrapped.simulation.safe.id
    episode = Episode(rule, safe, 7, variation=HERE)
    for given in (episode, episode.to_dict()):
        assert env.reset(options={"episode": given})[1]["variation"] == HERE.to_dict()
    assert env.reset(seed=7)[1]["variation"] == own
    with pytest.raises(RuleSafeError, match="variation: unknown light"):
        env.reset(options={"episode": episode.to_dict() | {"variation": {"light": 1}}})
    with pytest.raises(RuleSafeError, match="nominal, varied, shifted"):
        make(split="test")


# Pictures ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPLITS)
def test_door_and_parts_are_in_both_pictures(name):
    """The closed door's corners, projected: half a pixel at most may be cut, in few episodes."""
    split = SPLITS[name]
    for safe in map(load_safe, split.safes):
        half = safe.case.door_width / 2, safe.case.door_height / 2
        corners = [(0.0, y * half[0], z * half[1]) for y in (-1, 1) for z in (-1, 1)]
        for seed in range(100):
            variation = sample_variation(split.randomisation, safe, seed)
            points = apply(placement_pose(variation.placement), corners)
            for camera in variation.cameras.apply(DEFAULT_CAMERAS):
                pose = from_xyz_rpy(camera.xyz, camera.rpy) @ OPTICAL_IN_BODY
                seen = apply(inverse(pose), points)
                focal = camera.height / 2 / tan(camera.fovy / 2)  # pixels
                pixels = seen[:, :2] / seen[:, 2:] * focal + camera.height / 2
                assert (pixels > -0.5).all() and (pixels < camera.height + 0.5).all(), seed


def test_cameras_are_shifted_by_name():
    shift = CameraShift((0.01, 0.02, 0.03), (0.1, 0.2, 0.3), 0.05)
    HEAD, FRONT = DEFAULT_CAMERAS
    other = replace(FRONT, name="side")
    head, front, side = Cameras(head=shift).apply(CameraSet((HEAD, FRONT, other)))
    np.testing.assert_allclose(np.subtract(head.xyz, HEAD.xyz), shift.xyz)
    np.testing.assert_allclose(np.subtract(head.rpy, HEAD.rpy), shift.rpy)
    assert head.fovy == HEAD.fovy + 0.05
    assert (front, side) == (FRONT, other)


TURNED = ColourShift(hue=2.0)
LOOKS = {
    "key": replace(HERE, lighting=Lighting(key=0.6)),
    "azimuth": replace(HERE, lighting=Lighting(azimuth=0.8)),
    "elevation": replace(HERE, lighting=Lighting(elevation=-0.2)),
    "ambient": replace(HERE, lighting=Lighting(ambient=0.6)),
    "tint": replace(HERE, lighting=Lighting(tint=(1.2, 1.0, 0.8))),
    "safe": replace(HERE, colours=Colours(safe=TURNED)),
    "floor": replace(HERE, colours=Colours(floor=TURNED)),
    "walls": replace(HERE, colours=Colours(walls=ColourShift(lightness=-0.2))),
    "arm": replace(HERE, arm=(0.0, 0.0, 0.0, -0.1, 0.0, 0.0, 0.0)),
    "head": replace(HERE, cameras=Cameras(head=CameraShift(rpy=(0.0, 0.03, 0.0)))),
    "front": replace(HERE, cameras=Cameras(front=CameraShift(fov=0.05))),
}
UNSEEN = {"head": "front", "front": "head"}


@pytest.fixture(scope="module")
def look():
    simulation = Simulation()

    def pictures(variation: Variation) -> dict[str, np.ndarray]:
        simulation.reset("rule_001", "safe_05", 0, variation)
        seen = Observer(simulation).observe(("head", "front"))
        return {name: picture.astype(int) for name, picture in seen.items()}

    return pictures


@pytest.mark.parametrize("aspect", LOOKS)
def test_each_aspect_shows_in_the_pictures_it_concerns(look, aspect):
    before, after, again = look(HERE), look(LOOKS[aspect]), look(LOOKS[aspect])
    for name, picture in after.items():
        np.testing.assert_array_equal(picture, again[name])
        changed = (np.abs(picture - before[name]).max(axis=-1) > 8).mean()
        if name == UNSEEN.get(aspect):
            assert changed == 0.0
        else:
            assert changed > 0.005, (name, changed)


def test_less_light_is_darker_and_a_tint_colours(look):
    usual = look(HERE)["head"].mean(axis=(0, 1))
    for aspect in ("key", "ambient"):
        assert (look(LOOKS[aspect])["head"].mean(axis=(0, 1)) < usual - 3).all()
    red, green, blue = look(LOOKS["tint"])["head"].mean(axis=(0, 1)) - usual
    assert red > 1 and abs(green) < 1 and blue < -1


def test_what_is_no_picture_changes_none(look):
    heavy = Resistances(Resistance(1.2, 1.1, 0.003), Resistance(0.8, 0.9), Resistance(1.5))
    unlike, usual = look(replace(HERE, parts=heavy, speed=0.5)), look(HERE)
    for name, picture in usual.items():
        np.testing.assert_array_equal(picture, unlike[name])
