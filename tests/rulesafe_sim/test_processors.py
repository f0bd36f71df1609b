"""Episodes are bit-identical on all x86-64 processors, whatever instructions libraries choose."""

import os
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from rulesafe_core.versions import PHYSICS
from rulesafe_sim.physics import _principal_axes
from rulesafe_sim.safes import SAFES

EPISODES = """
import numpy as np
from rulesafe_sim.randomisation import SPLITS, sample_variation
from rulesafe_sim.safes import SAFES
from rulesafe_sim.simulation import Simulation, start_action

simulation = Simulation()
for seed, safe in enumerate(SAFES):
    variation = sample_variation(SPLITS["shifted"].randomisation, safe, seed)
    simulation.reset("rule_001", safe, seed, variation)
    for frame in range(20):
        simulation.external_torques = {"knob": 0.5 * (-1) ** frame, "handle": 0.4}
        simulation.step(start_action(variation) + 0.02 * frame)
    print(safe, simulation.digest)
"""
"""The arm moves and the parts turn on every safe."""


def digests(**environment):
    command = [sys.executable, "-c", EPISODES]
    run = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split("\n")[:-1]


DIGESTS = {"2": "19ee5869f9c75563ded25522b4c97d6a1b5b9c7a133b38a0d3343e3e32ad2e96"}
"""Version of the physics -> SHA-256 of the digests of EPISODES, with the pinned packages."""


def test_digests_are_those_of_this_version_of_the_physics():
    """Other digests require another version, by which earlier submissions are refused."""
    found = sha256("\n".join(digests()).encode()).hexdigest()
    assert {PHYSICS: found} == DIGESTS, "increase rulesafe_core.versions.PHYSICS"


@pytest.mark.parametrize("blas", ["Haswell", "Nehalem"])
def test_the_physics_does_not_depend_on_the_processor(blas):
    newer = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    found = digests(NPY_DISABLE_CPU_FEATURES=" ".join(newer), OPENBLAS_CORETYPE=blas)
    assert len(found) == len(SAFES) and found == digests()


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_principal_axes(scale):
    random = np.random.default_rng(0)
    for _ in range(50):
        points = random.normal(size=(3, 3))
        inertia = points @ points.T * scale
        moments, axes = _principal_axes(inertia)
        np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, inertia, atol=1e-12 * scale)
        assert np.linalg.det(axes) == pytest.approx(1)


def test_principal_axes_of_equal_moments_are_those_of_the_link():
    moments, axes = _principal_axes(np.diag([2.0, 2.0, 1.0]))
    assert moments.tolist() == [2, 2, 1] and (axes == np.eye(3)).all()
