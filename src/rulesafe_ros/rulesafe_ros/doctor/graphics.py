"""Checks of the renderer and of the GPU."""

import json
import shutil
import subprocess
import sys

from rulesafe_ros.doctor.report import OK, WARN, Item, ok_if

TIMEOUT = 120.0
"""Timeout of the first image, s; sufficient on a busy machine."""

REMEDY = "Run make setup, which compiles the renderer. To run without images: cameras:=false"


def renderer() -> Item:
    """Render one image in a child process, since a damaged library may abort the process."""
    command = [sys.executable, "-m", "rulesafe_ros.doctor.render_image"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return ok_if(False, f"no image within {TIMEOUT:g} s", REMEDY)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no error output"])[-1]
        return ok_if(
            False,
            f"rendering failed (exit code {done.returncode}): {why.partition('Error: ')[2] or why}",
            REMEDY,
        )
    result = json.loads(done.stdout.splitlines()[-1])
    return ok_if(
        result["contrast"] > 0,
        f"{result['renderer']}: first image after {result['seconds']:.1f} s",
        "The image has a single colour. " + REMEDY,
    )


def gpu() -> Item:
    """Check the GPU for training and inference, which is optional."""
    cuda = ""
    try:
        import torch

        cuda = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    except ImportError:
        found = "torch is not installed: no training and no learned policies"
        return Item(WARN, found, "make setup")
    if cuda:
        return Item(OK, f"{cuda}, torch {torch.__version__}")
    return ok_if(
        not shutil.which("nvidia-smi"),
        f"no CUDA device for torch {torch.__version__}: training and policies run on the CPU",
        "An NVIDIA driver is installed (nvidia-smi), but this build of torch does not support it: "
        "install a build of torch for the driver's CUDA version, or update the driver",
        bad=WARN,
    )
