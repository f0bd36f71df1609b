import numpy as np

from rulesafe_reader.memory import BEFORE, INDEX_FINGER, Grasps
from vq_memory_node.rolling import RollingMemory


def test_a_grasp_is_where_the_hand_was_before_the_fingers_opened():
    positions = np.zeros((60, 13), np.float32)
    positions[:, 0] = np.arange(60)
    positions[:, INDEX_FINGER] = 0.4
    positions[10:20, INDEX_FINGER] = positions[30:45, INDEX_FINGER] = 0.7
    memory = RollingMemory(Grasps())
    for position in positions:
        memory.push(position)
    found = memory.read()
    assert found.mask.sum() == 2
    np.testing.assert_array_equal(found.values[found.mask][:, 0], [20 - BEFORE, 45 - BEFORE])
    np.testing.assert_array_equal(Grasps().keyframes(positions), [20, 45])
