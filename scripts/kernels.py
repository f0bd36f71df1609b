"""How setuptools compiles the renderer's libraries: one for each instruction set, from the same
sources. They have a plain C interface and do not depend on the version of Python."""

import platform
import re
from pathlib import Path

from setuptools import Extension
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

FLAGS = [
    "-std=c++17",
    "-O3",
    # The same bits on every processor: no fused operations, each one rounded as written.
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
]

INSTRUCTIONS = {
    "x86_64": {
        "x86_64_v3": ["-march=x86-64-v3", "-DRENDER_LANES=8"],
        "x86_64_v2": ["-march=x86-64-v2", "-DRENDER_LANES=4"],
    }
}
"""Flags of the libraries by machine. Other machines have one library, `generic`."""


GLIBC = re.compile(rb"GLIBC_2\.(\d+)")
"""Name of a version of glibc in a library that requires it."""


def kernels(package: str) -> list[Extension]:
    """Return the libraries of the package rulesafe_render in a folder."""
    folder = Path(package) / "rulesafe_render" / "native"
    sources = sorted(str(path) for path in folder.glob("*.cpp"))
    headers = sorted(str(path) for path in folder.glob("*.h"))
    machines = {"generic": ["-DRENDER_LANES=4"]}
    return [
        Extension(
            f"rulesafe_render.lib.render_{name}",
            sources,
            depends=headers,
            language="c++",
            extra_compile_args=[*FLAGS, *flags],
            extra_link_args=[
                "-static-libstdc++",
                "-static-libgcc",
                # Without unused functions of libstdc++, which require a newer glibc.
                "-Wl,--gc-sections",
                "-Wl,--exclude-libs,ALL",
                "-Wl,--no-undefined",
                "-Wl,--strip-all",
            ],
        )
        for name, flags in INSTRUCTIONS.get(platform.machine(), machines).items()
    ]


class BuildKernels(build_ext):
    """Compiles each library in a folder of its own, since all have the same sources."""

    build_temp: str

    def build_extension(self, ext: Extension) -> None:
        shared = Path(self.build_temp)
        self.build_temp = str(shared / ext.name)
        super().build_extension(ext)
        self.build_temp = str(shared)

    def get_ext_filename(self, fullname: str) -> str:
        return f"{fullname.replace('.', '/')}.so"

    def get_libraries(self, ext: Extension) -> list[str]:
        return []  # not that of Python


class TaggedWheel(bdist_wheel):
    """Builds a wheel for every version of Python and for every Linux with the glibc that the
    libraries require, the only library to which they are linked."""

    def get_tag(self) -> tuple[str, str, str]:
        platform = super().get_tag()[2]
        libraries = Path(self.bdist_dir).rglob("render_*.so") if self.bdist_dir else ()
        needed = [found for path in libraries for found in GLIBC.findall(path.read_bytes())]
        if needed and platform.startswith("linux_"):
            platform = f"many{platform.replace('_', f'_2_{max(map(int, needed))}_', 1)}"
        return ("py3", "none", platform)
