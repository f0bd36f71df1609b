"""Fixtures of the renderer's tests."""

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_render.renderer import KERNELS, load_kernel


@pytest.fixture(params=KERNELS)
def kernel(request):
    """Name of each kernel that this machine supports."""
    try:
        load_kernel(request.param)
    except RuleSafeError:
        pytest.skip("this machine does not support the kernel")
    return request.param
