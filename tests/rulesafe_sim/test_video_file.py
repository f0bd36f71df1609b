"""A film without room on the disk, and one that is interrupted."""

import subprocess
import sys

import numpy as np
import pytest

from rulesafe_sim.video_file import VideoFile


def test_a_film_has_its_name_when_it_is_complete(tmp_path):
    path, image = tmp_path / "film.mp4", np.zeros((64, 64, 3), np.uint8)
    with pytest.raises(KeyboardInterrupt), VideoFile(path) as film:
        film.hold(image, 1)
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    with VideoFile(path) as film:
        film.hold(image, 1)
        assert not path.exists()
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path):
    """A limit on the size of files stands for the disk."""
    code = f"""
import resource, signal
from pathlib import Path
import numpy as np
from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.video_file import VideoFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
try:
    with VideoFile(Path({str(tmp_path / "film.mp4")!r})) as film:
        film.hold(noise, 60)
except RuleSafeError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"cannot write {tmp_path / 'film.mp4'}: File too large" in result.stdout, result.stderr
    assert not list(tmp_path.iterdir())
