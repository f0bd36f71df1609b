"""The network of the policy family: one linear layer from joints and memory tokens to the chunk."""

import torch
from torch import nn
from torch.nn.functional import mse_loss

from policy_node.batches import Network
from policy_node.policy import CHUNK


class Linear(Network):
    """Predicts the chunk of 50 actions; needs a memory of tokens."""

    def __init__(self, config, memory):
        super().__init__()
        self.tokens = nn.Embedding(memory.vocabulary, config.embedding)
        self.layer = nn.Linear(13 + memory.length * config.embedding, CHUNK * 13)

    def loss(self, batch):
        return mse_loss(self.sample(batch), batch.actions)

    def sample(self, batch, generator=None):
        """Return (B, 50, 13) normalised actions."""
        past = self.tokens(batch.memory) * batch.memory_mask[..., None]
        condition = torch.cat([batch.joints[:, -1], past.flatten(1)], dim=1)
        return self.layer(condition).unflatten(1, (CHUNK, 13))
