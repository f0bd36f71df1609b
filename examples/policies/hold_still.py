"""Minimal policy: hold the current joint positions.

With this folder on the PYTHONPATH, the nodes find it by its name::

    rulesafe launch launch/sim_evaluation.launch.xml policy:=hold_still:HoldStill time_limit:=10
"""

import numpy as np

from policy_node.policy import CHUNK, Needs


class HoldStill:
    """Return the observed joint positions as targets."""

    needs = Needs(frames=1)

    def reset(self):
        """Do nothing: the policy has no state."""

    def infer(self, observation):
        return np.repeat(observation.joints[-1:], CHUNK, axis=0)
