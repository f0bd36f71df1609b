"""Training of the decoder of grasps, and the checkpoint of the policy that reads."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from policy_node.checkpoints import Checkpoint, revision, save_policy
from policy_node.train_config import TrainConfig
from policy_node.training import describe_data
from policy_node.training_data import ObservationWindows
from rulesafe_data.layout import STATE
from rulesafe_data.store import EpisodeStore
from rulesafe_locks.locks import PARTS
from rulesafe_reader.configs import READER_SIZES, ReaderConfig
from rulesafe_reader.memory import BEFORE, Grasps
from rulesafe_reader.network import EVENTS, ReaderNetwork

STEPS, BATCH, RATE = 3000, 128, 1e-3


def grasp_classes(store: EpisodeStore, episode: int, memory: Grasps) -> dict[int, int]:
    """Return the class of each grasp of an episode that moves a part or fails to, by its keyframe:
    the event of the demonstrator, and whether it happened. Of the door, only failures end with a
    release before the end of the episode."""
    frames = store.privileged.frames(episode)
    phases = np.asarray(frames["part_open"])
    found = {}
    for frame in memory.keyframes(store.episode(episode, [STATE])[STATE]).tolist():
        event = str(frames["event"][frame - BEFORE])
        happened = phases[frame, PARTS.index(event[:-1])] == event.endswith("+")
        found[frame] = EVENTS.index(event) + (0 if happened else len(EVENTS))
    return found


class GraspWindows:
    """The windows at the keyframes of some episodes, and the class of their last grasp.

    Attributes:
        windows: all windows.
        indices, classes: (G,) windows at keyframes, and the class of each.
    """

    def __init__(
        self, store: EpisodeStore, episodes: Sequence[int], network: ReaderNetwork, cache: Path
    ) -> None:
        memory = Grasps()
        self.windows = ObservationWindows(
            store,
            episodes,
            network.config,
            memory,
            TrainConfig(actions="absolute"),
            cache,
            network.token_ids,
            network.scene_encoder(),
            network.normaliser(),
        )
        indices: list[int] = []
        classes: list[int] = []
        begin = 0
        for episode in episodes:
            found = grasp_classes(store, episode, memory)
            indices += [begin + frame for frame in found]
            classes += found.values()
            begin += store.episodes[episode].length
        self.indices, self.classes = np.array(indices), np.array(classes)


def train_decoder(network: ReaderNetwork, data: GraspWindows, seed: int) -> None:
    """Train the decoder of a network with random noise on the joints, which PyTorch draws."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    decoder = network.decoder.requires_grad_(True)
    optimiser = torch.optim.AdamW(decoder.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for _ in range(STEPS):
        rows = rng.integers(len(data.indices), size=BATCH)
        logits = _logits(network, data, data.indices[rows], rng)
        loss = cross_entropy(logits, torch.from_numpy(data.classes[rows]))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()


def predicted(network: ReaderNetwork, data: GraspWindows) -> NDArray[np.int64]:
    """Return the class (G,) that the decoder predicts for each grasp."""
    with torch.no_grad():
        found: NDArray[np.int64] = _logits(network, data, data.indices).argmax(-1).numpy()
    return found


def _logits(
    network: ReaderNetwork,
    data: GraspWindows,
    indices: NDArray[np.int64],
    rng: np.random.Generator | None = None,
) -> torch.Tensor:
    batch = data.windows.batch(indices, rng)
    assert batch.memory is not None
    joints = batch.memory[:, -1]
    if rng is not None:
        joints = joints + 0.02 * torch.randn(joints.shape)
    return network.decoder(joints, network.safes(batch))


def save_reader(
    network: ReaderNetwork,
    data: GraspWindows,
    store: EpisodeStore,
    episodes: Sequence[int],
    seed: int,
    out: Path,
) -> None:
    """Save the policy of a network with a decoder that was trained on some episodes."""
    safes = sorted({str(store.privileged.facts(index)["safe"]) for index in episodes})
    config = network.built(READER_SIZES["tiny"])
    assert isinstance(config, ReaderConfig)
    checkpoint = Checkpoint(
        "reader",
        "tiny",
        config,
        Grasps(),
        data.windows.normaliser,
        network.state_dict(),
        data=describe_data(store, episodes, safes),
        training={"facts": {"config": {"seed": seed, "steps": STEPS}}},
        revision=revision(),
        cameras=data.windows.cameras,
    )
    save_policy(checkpoint, out)
