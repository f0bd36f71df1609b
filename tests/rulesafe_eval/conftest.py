"""A dataset that trainings are tried with."""

import numpy as np
import pytest

from rulesafe_data.writer import DatasetWriter, EpisodeData, Frame
from rulesafe_sim.rules import load_rule


@pytest.fixture(scope="session")
def demos(tmp_path_factory):
    """A dataset of a short episode of rule_001 and one of rule_020, with clouds of 256 points and
    small pictures; not to be changed."""
    root = tmp_path_factory.mktemp("data") / "demos"
    writer = DatasetWriter(root)
    for index, rule in enumerate(("rule_001", "rule_020")):
        rng = np.random.default_rng(index)
        path = np.cumsum(rng.normal(0, 0.01, (60, 39)), axis=0)
        picture = np.zeros((32, 32, 3), np.uint8)
        frames = [Frame(picture, picture, rng.random((256, 6), np.float32)) for _ in path]
        writer.write(
            index,
            EpisodeData(
                task=load_rule(rule).description,
                joint_positions=path,
                joint_velocities=np.gradient(path, 0.1, axis=0),
                actions=path[:, 20:33],
                frames=iter(frames),
                privileged={"step": np.zeros(60, int)},
                facts={"rule": rule},
            ),
        )
    writer.finish()
    return root
