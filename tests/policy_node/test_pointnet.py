"""PointNet: in training, the critical points have the outputs and gradients of all points."""

import pytest
import torch

from policy_node.pointnet import PointNet


def network(colour=True):
    torch.manual_seed(0)
    return PointNet((8, 16), 4, colour).double()


def outputs_and_gradients(net, points, encode):
    """Return the output for points, and its gradients to all weights and to the points, summed over
    equal points, which share a gradient in any proportion."""
    points = points.clone().requires_grad_()
    found = encode(points)
    weights = torch.linspace(0.5, 1.5, found.numel(), dtype=found.dtype).view(found.shape)
    *gradients, of_points = torch.autograd.grad(
        (weights * found).sum(), [*net.parameters(), points]
    )
    return found, *gradients, of_points.sum(dim=-2)


def with_all_points(net):
    def encode(points):
        scaled = (points[..., : net._inputs] - net.centre) / net.extent
        return net.cloud(net.points(scaled).amax(dim=-2))

    return encode


CLOUDS = {
    "one": torch.rand(200, 6, dtype=torch.float64, generator=torch.manual_seed(1)),
    "some": torch.rand(2, 3, 200, 6, dtype=torch.float64, generator=torch.manual_seed(2)),
}
CLOUDS["repeated"] = torch.cat([CLOUDS["some"], CLOUDS["some"]], dim=-2)
CLOUDS["few and many critical"] = torch.stack(
    [CLOUDS["one"], CLOUDS["one"][:1].repeat(200, 1), CLOUDS["one"][:3].repeat(67, 1)[:200]]
)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("points", CLOUDS.values(), ids=CLOUDS)
def test_critical_points_have_the_gradients_of_all_points(points, colour):
    net = network(colour)
    expected = outputs_and_gradients(net, points, with_all_points(net))
    torch.testing.assert_close(outputs_and_gradients(net, points, net), expected)
    with torch.no_grad():
        torch.testing.assert_close(net(points), expected[0])


def test_only_critical_points_are_differentiated():
    net, points = network(), CLOUDS["some"]
    seen = []
    net.points.register_forward_hook(lambda _, args, found: seen.append(found))
    net(points)
    assert [values.requires_grad for values in seen] == [False] * 3 + [True]
    assert seen[-1].shape[-2] <= 16 < points.shape[-2], "at most one point for each feature"


def test_no_clouds_have_no_features():
    assert network()(torch.zeros(0, 200, 6, dtype=torch.float64)).shape == (0, 4)
