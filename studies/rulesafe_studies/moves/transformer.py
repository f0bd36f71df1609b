"""A small causal transformer that is trained with PPO; its memory is the context of an episode.

PPO: Schulman et al., Proximal Policy Optimization Algorithms, 2017. One batch is one episode of
each copy of the environment, so that the context is never cut.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.nn.functional import scaled_dot_product_attention

from rulesafe_studies.moves.tasks import TRAIN, Task, vectors

WIDTH, LAYERS, HEADS = 64, 2, 4


class Block(nn.Module):
    """A pre-norm block of causal self-attention and an MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor, cache: list[Tensor] | None = None) -> Tensor:  # (N, T, WIDTH)
        n, t, _ = x.shape
        heads = self.qkv(self.norm1(x)).reshape(n, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        q, k, v = heads  # (N, HEADS, T, WIDTH / HEADS)
        if cache is not None:  # keys and values of earlier steps; T is 1
            if cache:
                k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
            cache[:] = k, v
        mixed = scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        x = x + self.out(mixed.transpose(1, 2).reshape(n, t, WIDTH))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """Maps the observations of an episode so far to logits of the action, and to a value."""

    def __init__(self, inputs: int, longest: int) -> None:
        super().__init__()
        self.embed, self.position = nn.Linear(inputs, WIDTH), nn.Embedding(longest, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4)
        nn.init.zeros_(self.head.weight)  # the first policy is uniform

    def forward(
        self, x: Tensor, first: int = 0, caches: list[list[Tensor]] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return logits (N, T, 3) and values (N, T) for observations (N, T, D).

        Args:
            x: observations of the steps from `first` on.
            caches: one list for each block, in which it keeps earlier steps; T is then 1.
        """
        steps = torch.arange(first, first + x.shape[1])
        y = self.embed(x) + self.position(steps)
        for number, block in enumerate(self.blocks):
            y = block(y, caches[number] if caches is not None else None)
        y = self.head(self.norm(y))
        return y[..., :3], y[..., 3]


class TransformerAgent:
    """Acts by a transformer in episodes that start at the same time."""

    def __init__(self, model: Transformer, keys: tuple[str, ...]) -> None:
        self.model, self.keys = model, keys

    def begin(self, count: int) -> None:
        self._step = 0
        self._caches: list[list[Tensor]] = [[] for _ in self.model.blocks]

    @torch.no_grad()
    def choose(self, observation: NDArray[np.float32], sampled: bool) -> tuple[Tensor, ...]:
        """Return actions, their log probabilities and values, each (N,)."""
        x = torch.from_numpy(observation)[:, None]
        logits, value = self.model(x, self._step, self._caches)
        self._step += 1
        policy = Categorical(logits=logits[:, 0])
        action = policy.sample() if sampled else policy.logits.argmax(dim=-1)
        return action, policy.log_prob(action), value[:, 0]

    def act(self, observation: NDArray[np.float32], sampled: bool) -> NDArray[np.int64]:
        return self.choose(observation, sampled)[0].numpy()


@dataclass
class Batch:
    """Steps of complete episodes, (N, T, ...) when stacked."""

    steps: list[tuple[Tensor, ...]] = field(default_factory=list)

    def stacked(self) -> list[Tensor]:
        return [torch.stack(each, dim=1) for each in zip(*self.steps, strict=True)]


def collect(envs, agent: TransformerAgent, longest: int) -> list[Tensor]:
    """Return observations, actions, log probabilities, values, rewards and whether each step
    belongs to the episode, for one episode of each copy."""
    observation, _ = envs.reset()
    agent.begin(envs.num_envs)
    running, batch = np.ones(envs.num_envs, bool), Batch()
    while running.any() and len(batch.steps) < longest:
        x = vectors(observation, agent.keys)
        action, log_prob, value = agent.choose(x, sampled=True)
        observation, reward, terminated, truncated, _ = envs.step(action.numpy())
        reward = torch.from_numpy(reward.astype(np.float32))
        valid = torch.from_numpy(running.copy())
        batch.steps.append((torch.from_numpy(x), action, log_prob, value, reward, valid))
        running &= ~(terminated | truncated)
    return batch.stacked()


def advantages(
    reward: Tensor, value: Tensor, valid: Tensor, gamma: float, smoothing: float
) -> Tensor:
    """Return the generalised advantage estimates (N, T) of complete episodes (Schulman et al.,
    2016)."""
    found = torch.zeros_like(reward)
    following = later = torch.zeros(len(reward))
    for t in range(reward.shape[1] - 1, -1, -1):
        delta = reward[:, t] + gamma * following - value[:, t]
        later = (delta + gamma * smoothing * later) * valid[:, t]
        found[:, t], following = later, value[:, t] * valid[:, t]
    return found


def train(task: Task, seed: int, steps: int, epochs: int = 4) -> TransformerAgent:
    """Train a transformer for a number of moves (of episodes that have not ended)."""
    torch.manual_seed(seed)
    copies = 2 * task.copies
    envs = task.environment(copies, TRAIN)
    observation, _ = envs.reset(seed=seed)
    width = vectors(observation, task.observations).shape[1]
    longest = task.moves * task.attempts * 12  # the longest plan of all sets has 12 events
    agent = TransformerAgent(Transformer(width, longest), task.observations)
    optimiser = torch.optim.Adam(agent.model.parameters(), lr=1e-3)
    done = 0
    while done < steps:
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * (1 - done / steps)
        x, action, old, value, reward, valid = collect(envs, agent, longest)
        advantage = advantages(reward, value, valid, gamma=0.99, smoothing=0.95)
        target = value + advantage
        advantage = (advantage - advantage[valid].mean()) / (advantage[valid].std() + 1e-8)
        for _ in range(epochs):
            for rows in torch.randperm(copies).split(copies // 4):
                keep = valid[rows]
                logits, estimate = agent.model(x[rows])
                policy = Categorical(logits=logits)
                ratio = (policy.log_prob(action[rows]) - old[rows]).exp()
                gain = torch.minimum(
                    ratio * advantage[rows], ratio.clamp(0.8, 1.2) * advantage[rows]
                )
                loss = 0.5 * (estimate - target[rows]) ** 2 - gain - 0.01 * policy.entropy()
                optimiser.zero_grad()
                loss[keep].mean().backward()
                nn.utils.clip_grad_norm_(agent.model.parameters(), 0.5)
                optimiser.step()
        done += int(valid.sum())
    return agent
