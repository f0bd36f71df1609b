"""PointNet: in training, the critical points have the outputs and gradients of all points."""

import pytest
import torch

from policy_node.pointnet import PointNet


@pytest.mark.parametrize("shape", [(200, 6), (5, 200, 6), (2, 3, 200, 6)])
@pytest.mark.parametrize("colour", [False, True])
def test_critical_points_have_the_gradients_of_all_points(shape, colour):
    torch.manual_seed(0)
    net = PointNet((8, 16), 4, colour).double()
    points = torch.rand(shape, dtype=torch.float64)
    weights = torch.rand(*shape[:-2], 4, dtype=torch.float64)

    scaled = (points[..., : net._inputs] - net.centre) / net.extent
    expected = net.cloud(net.points(scaled).amax(dim=-2))
    wanted = torch.autograd.grad((weights * expected).sum(), list(net.parameters()))

    assert net._critical(scaled).shape[-2] <= 16
    found = net(points)
    gradients = torch.autograd.grad((weights * found).sum(), list(net.parameters()))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients, wanted)
    with torch.no_grad():
        torch.testing.assert_close(net(points), expected)


def test_equal_points_share_the_gradient():
    """Point clouds with few points contain points several times."""
    torch.manual_seed(0)
    net = PointNet((8, 16), 4).double()
    points = torch.rand(1, 30, 6, dtype=torch.float64)
    once = torch.autograd.grad(net(points).sum(), list(net.parameters()))
    twice = torch.autograd.grad(net(points.repeat(1, 2, 1)).sum(), list(net.parameters()))
    torch.testing.assert_close(once, twice)
