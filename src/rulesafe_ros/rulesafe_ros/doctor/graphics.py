"""Rendering: a Vulkan driver that SAPIEN accepts, and the GPU."""

import json
import shutil
import subprocess
import sys

from rulesafe_ros.doctor.report import OK, WARN, Item, judged

TIMEOUT = 120.0
"""s for a first image, on a busy machine."""

MESA = (
    "make setup installs a driver that does; by hand: Mesa 23.2 or newer (Debian 12: apt-get "
    "install -t bookworm-backports mesa-vulkan-drivers), or a GPU's driver with Vulkan. Without: "
    "cameras:=false"
)


def vulkan() -> Item:
    """Render one image in another process, since a bad driver aborts it."""
    command = [sys.executable, "-m", "rulesafe_ros.doctor.picture"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return judged(False, f"no picture in {TIMEOUT:g} s", MESA)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return judged(
            False,
            f"no picture (status {done.returncode}): {why.partition('Error: ')[2] or why}",
            MESA,
        )
    found = json.loads(done.stdout.splitlines()[-1])
    return judged(
        found["contrast"] > 0,
        f"{found['device']}: a picture after {found['seconds']:.1f} s",
        "The picture is of one colour. " + MESA,
    )


def gpu() -> Item:
    """The GPU that training would use; it is optional."""
    cuda = ""
    try:
        import torch

        cuda = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    except ImportError:
        return Item(WARN, "no torch: nothing can be trained", "pip install 'rulesafe[learn]'")
    if cuda:
        return Item(OK, f"{cuda}, torch {torch.__version__}")
    return judged(
        not shutil.which("nvidia-smi"),
        f"none for torch {torch.__version__}: training and policies run on the processor",
        "There is a driver (nvidia-smi) that this torch does not use: install a build of torch for "
        "its version of CUDA, or update the driver",
        bad=WARN,
    )
