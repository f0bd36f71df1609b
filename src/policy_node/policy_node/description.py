"""The output of `rulesafe policy describe`."""

from collections.abc import Iterable

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from policy_node.batches import Batch, Network
from policy_node.checkpoints import Checkpoint, read_policy
from policy_node.configs import NetworkConfig
from policy_node.families import find_family, make_network
from policy_node.loading import find_policy
from policy_node.policy import CHUNK
from policy_node.renderers import renderers_of
from policy_node.training_data import pad
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import is_reference
from vq_memory_node.memory import Memory, MemoryShape

LONGEST = "Open the knob and the handle, in any order. The door can be pulled while both are open."


def describe_checkpoint(name: str) -> str:
    """Return the description of a checkpoint, or of the checkpoint that module:name loads."""
    checkpoint = _checkpoint(name)
    family, size, config = checkpoint.family, checkpoint.size, checkpoint.config
    lines = [_head(family, size), *_facts(checkpoint)]
    lines += _network(checkpoint.network(), config, checkpoint.memory)
    return "\n".join(lines)


def _checkpoint(name: str) -> Checkpoint:
    if is_reference(name):
        found = getattr(find_policy(name), "checkpoint", None)
        if not isinstance(found, Checkpoint):
            raise RuleSafeError(f"{name} has no checkpoint; only checkpoints can be described")
        return found
    return read_policy(name)


def describe_family(family: str, size: str, config: NetworkConfig, memory: Memory) -> str:
    """Return the description of a family's network.

    The network is created on the meta device, without weights, because size base is large.
    """
    with torch.device("meta"):
        network = make_network(family, config, memory.shape)
    return "\n".join([_head(family, size), *_network(network.eval(), config, memory)])


def _head(family: str, size: str) -> str:
    return f"{family} {size}  ({find_family(family).source})"


def _facts(checkpoint: Checkpoint) -> Iterable[str]:
    data = checkpoint.data
    yield f"trained on {data.get('episodes')} demonstrations, {data.get('frames')} frames of:"
    yield from (f"  {instruction}" for instruction in data.get("instructions", ()))
    yield f"dataset {str(data.get('digest'))[:12]}, source {checkpoint.revision or 'unknown'}"
    if renderer := data.get("versions", {}).get("renderer"):
        yield f"demonstrations rendered by {renderer}"
    if found := renderers_of(checkpoint):
        yield f"encoder trained on images or point clouds of {', '.join(found)}"
    frame = checkpoint.normaliser.frame
    if frame is not None:
        x, y, z, yaw = frame.pose
        yield f"safe frame (x, y, z, yaw)  {x:.2f}, {y:.2f}, {z:.2f} m, {yaw:.2f} rad"


def _network(network: Network, config: NetworkConfig, memory: Memory) -> Iterable[str]:
    batch = example(network, config, memory.shape)
    yield "inputs"
    for name, value in batch.tensors().items():
        shape = ", ".join(map(str, value.shape[1:]))
        yield f"  {name:<22} ({shape}) {str(value.dtype).removeprefix('torch.')}"
    yield f"output  chunk ({CHUNK}, {len(ACTION_JOINTS)})"
    yield f"memory  {', '.join(f'{key} {value}' for key, value in memory.describe().items())}"
    yield "parameters"
    for name, part in network.parts().items():
        yield f"  {name:<22} {_count(part):>13,}"
    size = sum(value.numel() * value.element_size() for value in network.parameters())
    yield f"  {'total':<22} {_count(network):>13,}  ({size / 1e6:.1f} MB)"
    counter = FlopCounterMode(display=False)
    with counter, torch.inference_mode():
        network.sample(batch)
    yield f"FLOPs per chunk  {counter.get_total_flops() / 1e9:.3f} GFLOP"


def example(network: Network, config: NetworkConfig, memory: MemoryShape) -> Batch:
    """Return a batch of size 1 with all inputs of the network, zeros on the network's device."""
    joints = len(ACTION_JOINTS)
    batch = Batch(torch.zeros(1, config.frames, joints))
    if config.points:
        batch.points = torch.zeros(1, config.cloud_frames, config.points, 6)
    if config.images:
        encoder = None if config.points else network.scene_encoder()
        cameras = encoder.config.cameras if encoder else config.cameras
        batch.images = torch.zeros(1, len(cameras), 224, 224, 3, dtype=torch.uint8)
    if config.instruction:
        batch.language, batch.language_mask = pad([network.token_ids(LONGEST)])
    if config.replays:  # skills; two_level predicts the subtask
        batch.subtask = torch.zeros(1, dtype=torch.int64)
    if memory.kind != "none":
        tokens = memory.kind == "tokens"
        shape = (1, memory.length) if tokens else (1, memory.length, joints)
        batch.memory = torch.zeros(shape, dtype=torch.int64 if tokens else torch.float32)
        batch.memory_mask = torch.ones(1, memory.length, dtype=torch.bool)
    return batch.to(next(network.parameters()).device)


def _count(part: nn.Module) -> int:
    return sum(value.numel() for value in part.parameters())
