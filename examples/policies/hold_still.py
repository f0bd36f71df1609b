"""The least that a policy can be: the hand stays where it is.

With this folder on the PYTHONPATH, the nodes find it by its name::

    rulesafe launch launch/sim_evaluation.launch.xml policy:=hold_still:HoldStill time_limit:=10
"""

import numpy as np

from policy_node.policy import CHUNK, Needs


class HoldStill:
    """Sees the joint positions of the present frame, and commands them again."""

    needs = Needs(frames=1)

    def reset(self):
        """Nothing is remembered from one question to the next."""

    def infer(self, observation):
        return np.repeat(observation.joints[-1:], CHUNK, axis=0)
