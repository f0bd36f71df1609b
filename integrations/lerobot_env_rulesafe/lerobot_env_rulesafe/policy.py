"""A policy of LeRobot, tested with lerobot 0.4.4.

LEROBOT_POLICY is the folder or the name of a checkpoint, trained on a dataset of RuleSafe::

    export LEROBOT_POLICY=outputs/act/checkpoints/last/pretrained_model
    rulesafe eval --policy lerobot_env_rulesafe.policy:LeRobotPolicy --benchmark multi_task \\
        --out runs/act
"""

import os
from typing import Any

import numpy as np
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.policies.utils import prepare_observation_for_inference
from numpy.typing import NDArray

from policy_node.policy import Needs, Observation


class LeRobotPolicy:
    """Return chunks of one action, as in lerobot-eval: LeRobot stacks the observations and stores
    the remaining actions of its own chunks."""

    needs = Needs(images=True, instruction=True)

    def __init__(self) -> None:
        path = os.environ["LEROBOT_POLICY"]
        config = PreTrainedConfig.from_pretrained(path)
        self.device = torch.device(config.device)
        self.policy = get_policy_class(config.type).from_pretrained(path, config=config)
        self.preprocess, self.postprocess = make_pre_post_processors(
            config, path, preprocessor_overrides={"device_processor": {"device": config.device}}
        )

    def reset(self) -> None:
        """See `policy.Policy.reset`."""
        self.policy.reset()

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        """See `policy.Policy.infer`."""
        inputs: dict[str, Any] = {"observation.state": observation.joints[-1]}
        for camera, image in observation.images.items():
            inputs[f"observation.images.{camera}"] = image
        batch = prepare_observation_for_inference(inputs, self.device, observation.instruction)
        with torch.inference_mode():
            action = self.policy.select_action(self.preprocess(batch))
        chunk: NDArray[np.float32] = self.postprocess(action).cpu().numpy()
        return chunk
