"""The policy of a trained network: normalises observations, samples a chunk, converts it to rad.

Example::

    policy = NetworkPolicy(read_policy("NAME or folder"))     # or load_policy(...)
    policy.reset()
    chunk = policy.infer(observation)          # (50, 13), rad
"""

from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policy_node.batches import Batch
from policy_node.checkpoints import Checkpoint, read_policy
from policy_node.configs import needs_of
from policy_node.policy import Observation
from policy_node.scene_encoder import QUANTITIES
from policy_node.schedules import DenoisingNetwork
from policy_node.tracing import TracedSampler
from policy_node.training_data import pad
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

JOINTS = len(ACTION_JOINTS)


class NetworkPolicy:
    """A `policy.Policy` with the network of a checkpoint.

    It is deterministic: the same observations since `reset` give the same chunks.

    Args:
        checkpoint: the trained policy.
        device: torch device, such as "cpu" or "cuda".
        seed: seed of the noise from which chunks are generated. The noise also depends on the joint
            positions at the first frame of the episode, so that it differs between episodes.

    Attributes:
        needs: the observations that `infer` requires.
        memory: the memory whose readings `infer` requires.
        checkpoint: the trained policy.
        wanted: subtask to execute, an index into `layout.SUBTASKS`; None: the network chooses it.
        subtask: the subtask of the last chunk; None for families without subtasks.
    """

    def __init__(self, checkpoint: Checkpoint, device: str = "cpu", seed: int = 0) -> None:
        self.checkpoint, self._seed = checkpoint, seed
        self.memory = checkpoint.memory
        shape = self.memory.shape
        self.needs = needs_of(checkpoint.config, shape.kind != "none", checkpoint.cameras)
        self._device = torch.device(device)
        self._network = checkpoint.network().to(self._device)
        self._sample: Callable[[Batch, torch.Generator], Tensor] = self._network.sample
        if isinstance(self._network, DenoisingNetwork) and self._device.type == "cpu":
            self._sample = TracedSampler(self._network)
        self._scene_encoder = self._network.scene_encoder()
        if checkpoint.normaliser.frame is not None and self._scene_encoder is None:
            raise RuleSafeError("the checkpoint has a safe frame, but no scene encoder")
        self._generator = torch.Generator(self._device)
        self._ids: dict[str, list[int]] = {}
        self._reading = (shape.length,) if shape.kind == "tokens" else (shape.length, JOINTS)
        self.reset()

    def reset(self) -> None:
        """Begin a new episode."""
        self.wanted: int | None = None
        self.subtask: int | None = None
        self._started = False
        self._network.reset()
        self._poses: list[NDArray[np.float64]] = []
        self._identities: list[NDArray[np.float32]] = []

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        """See `policy.Policy.infer`."""
        batch, now = self._batch(observation)
        batch = batch.to(self._device)
        if not self._started:
            self._started = True
            first = np.ascontiguousarray(observation.joints[-1], np.float32).tobytes()
            self._generator.manual_seed(crc32(first, self._seed))
        with torch.inference_mode():
            if self.wanted is None:
                batch.subtask = self._network.choose(batch)
            else:
                batch.subtask = torch.tensor([self.wanted], device=self._device)
            self.subtask = None if batch.subtask is None else int(batch.subtask)
            values = self._sample(batch, self._generator)
        normaliser = self.checkpoint.normaliser
        chunk = normaliser.actions.decode(values.float().cpu().numpy(), now)[0]
        if normaliser.frame is not None:
            chunk = normaliser.frame.from_canonical(chunk, self._pose())
        return chunk

    def _batch(self, observation: Observation) -> tuple[Batch, NDArray[np.float32]]:
        """Return the batch, and the current joints (1, 13), rad, in the network's frame."""
        needs, scaling = self.needs, self.checkpoint.normaliser.joints
        _check("joints", observation.joints, (needs.frames, JOINTS))
        scene = self._scene(observation)
        joints = self._to_safe_frame(observation.joints)
        batch = Batch(torch.from_numpy(scaling.encode(joints))[None], **scene)
        if needs.instruction:
            batch.language, batch.language_mask = pad([self._token_ids(observation.instruction)])
        if needs.memory:
            self._add_memory(observation, batch)
        return batch, joints[-1:]

    def _scene(self, observation: Observation) -> dict[str, Tensor]:
        """Return the point clouds and images as inputs of the batch; with a safe frame or the mean
        identity, those of the scene encoder are replaced by its features, and its estimates of the
        safe's pose and identity are added to `_poses` and `_identities`."""
        needs, frame, inputs = self.needs, self.checkpoint.normaliser.frame, {}
        if needs.points:
            _check("points", observation.points, (needs.cloud_frames, needs.points, 6))
            inputs["points"] = torch.from_numpy(np.array(observation.points, np.float32))[None]
        if needs.images:
            inputs["images"] = self._images(observation)[None]
        mean_identity = self.checkpoint.config.mean_identity
        if frame is None and not mean_identity:
            return inputs
        encoder = self._scene_encoder
        assert encoder is not None
        read = inputs.pop("points") if needs.points else inputs.pop("images")[:, None]
        with torch.inference_mode():
            features = encoder(read.to(self._device)).cpu().numpy()
        if mean_identity:
            self._identities.append(features[0, -1, len(QUANTITIES) :].copy())
            features[0, -1, len(QUANTITIES) :] = np.mean(self._identities, axis=0)
        if frame is not None:
            self._poses.append(encoder.poses(features[0, -1]))
            features = encoder.with_pose(features, frame.pose)
        return inputs | {"scene_features": torch.from_numpy(features)}

    def _images(self, observation: Observation) -> Tensor:
        """Return the images (K, H, W, 3) of the cameras, in their size; raise RuleSafeError if one
        is missing."""
        for camera in self.needs.image_cameras:
            if camera not in observation.images:
                raise RuleSafeError(f"the observation lacks the image of the camera {camera!r}")
        cameras = map(self.needs.cameras.__getitem__, self.needs.image_cameras)
        images = [camera.fit(observation.images[camera.name]) for camera in cameras]
        return torch.from_numpy(np.stack(images))

    def _pose(self) -> NDArray[np.float64]:
        """Return the mean of the episode's estimates of the safe's pose (4,): the safe does not
        move, and the mean is more accurate than a single estimate."""
        pose: NDArray[np.float64] = np.mean(self._poses, axis=0)
        return pose

    def _to_safe_frame(self, joints: NDArray) -> NDArray[np.float32]:
        """Transform joints (N, 13), rad, to the safe frame, if the policy has one."""
        joints, frame = np.asarray(joints, np.float32), self.checkpoint.normaliser.frame
        return joints if frame is None else frame.to_canonical(joints, self._pose())

    def _token_ids(self, instruction: str) -> list[int]:
        if not instruction:
            raise RuleSafeError("the policy needs an instruction, but the observation's is empty")
        if instruction not in self._ids:
            self._ids[instruction] = self._network.token_ids(instruction)
        return self._ids[instruction]

    def _add_memory(self, observation: Observation, batch: Batch) -> None:
        reading = observation.memory
        _check("memory", reading.values, self._reading)
        _check("the memory's mask", reading.mask, self._reading[:1])
        values, mask = reading.values, reading.mask
        vocabulary = self.checkpoint.memory.vocabulary
        if vocabulary:
            if not ((values >= 0) & (values < vocabulary)).all():
                raise RuleSafeError(f"the memory has tokens that are not in 0 .. {vocabulary - 1}")
            values = values.astype(np.int64)
        else:
            if self.memory.safe_frame:
                values = self._to_safe_frame(values)
            values = self.checkpoint.normaliser.joints.encode(values)
            values = np.where(mask[:, None], values, np.float32(0))
        batch.memory = torch.from_numpy(values)[None]
        batch.memory_mask = torch.from_numpy(np.array(mask))[None]


def _check(what: str, array: NDArray | None, shape: tuple[int, ...]) -> None:
    found = None if array is None else np.asarray(array).shape
    if found != shape:
        raise RuleSafeError(f"the policy needs {what} of shape {shape}, got {found}")


def load_policy(name: Path | str, device: str = "cpu") -> NetworkPolicy:
    """Return the policy of a checkpoint.

    Args:
        name: name of a shipped policy, or folder of a checkpoint; see `read_policy` for errors.
        device: torch device, such as "cpu" or "cuda".

    Raises:
        RuleSafeError: the device is not available.
    """
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise RuleSafeError(f"device {device!r} is not available: {reason}") from error
    checkpoint = read_policy(name)
    try:
        return NetworkPolicy(checkpoint, device)
    except RuleSafeError as error:
        raise RuleSafeError(f"{name}: {error}") from error
