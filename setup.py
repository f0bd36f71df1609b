"""Compile the renderer when pip builds the project; pyproject.toml describes everything else."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))

from kernels import BuildKernels, TaggedWheel, kernels
from setuptools import setup

setup(
    ext_modules=kernels("src/rulesafe_render"),
    cmdclass={"build_ext": BuildKernels, "bdist_wheel": TaggedWheel},
)
