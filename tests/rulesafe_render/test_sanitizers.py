"""The renderer keeps to its memory with hostile scenes, as sanitizers of the compiler check."""

import shutil
import subprocess
from pathlib import Path

import pytest

import rulesafe_render

NATIVE = Path(rulesafe_render.__file__).parent / "native"
# Values beyond a type's range are clamped or compared before they are used as integers.
CHECKS = "-fsanitize=address,undefined,float-cast-overflow"


@pytest.mark.thorough
@pytest.mark.parametrize("lanes", [4, 8])
def test_hostile_scenes_stay_within_memory(tmp_path, lanes):
    compiler = shutil.which("c++")
    if not compiler:
        pytest.skip("no C++ compiler")
    program, sources = tmp_path / "fuzz", [str(path) for path in NATIVE.glob("*.cpp")]
    sources.append(str(Path(__file__).with_name("fuzz.cpp")))
    flags = ["-std=c++17", "-O1", "-g", "-Wno-psabi", "-ffp-contract=off", f"-I{NATIVE}"]
    flags += [f"-DRENDER_LANES={lanes}", CHECKS, "-fno-sanitize-recover=all"]
    command = [compiler, *flags, *sources, "-o", str(program)]
    subprocess.run(command, check=True, timeout=600)
    done = subprocess.run(
        [str(program), "0", "5000"], capture_output=True, text=True, timeout=1000, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 2000  # the others were refused
