"""Test that the evaluator's film shows the tokens of /memory/tokens below its images."""

import av
import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import CompressedImage

from policy_node.convert import TOKENS_QOS
from rulesafe_core import messages
from rulesafe_core.chunks import PERIOD
from rulesafe_core.convert import IMAGE_QOS
from rulesafe_data.films.colours import cluster_colours
from rulesafe_data.films.frames import BACKGROUND, BAR, SIDE
from rulesafe_data.films.strip import BAND, TOP, squares
from rulesafe_interfaces.msg import MemoryTokens
from rulesafe_sim.simulation import HOME_ACTION
from vq_memory_node.memory import VqMemory
from vq_memory_node.rolling import readings_of

pytestmark = pytest.mark.ros

SIM = "rulesafe_sim.node"
FRAMES = 25


def strips(path) -> list[tuple[int, ...]]:
    """Return the token squares below each image by the nearest colour: 0..11, or -1 if empty."""
    palette = np.array([BACKGROUND, *(255 * cluster_colours(12)[:, :3])])
    found = []
    with av.open(str(path)) as film:
        for picture in film.decode(video=0):
            pixels = picture.to_ndarray(format="rgb24")
            assert pixels.shape == (SIDE + BAR + BAND, 2 * SIDE, 3)
            seen = np.array([pixels[SIDE + BAR + TOP + 3, left + 3] for left, _ in squares(40)])
            nearest = np.linalg.norm(palette - seen[:, None], axis=2).argmin(axis=1)
            found.append(tuple((nearest - 1).tolist()))
    return found


def strip_of(values, mask) -> tuple[int, ...]:
    """Return the tokens of a memory, or -1 where it has none."""
    return tuple(np.where(mask, np.asarray(values, int), -1).tolist())


def test_the_film_shows_the_tokens_of_each_instant(client, start, tmp_path):
    received: dict[int, tuple[int, ...]] = {}  # by stamp; a busy subscriber misses some

    def take(message: MemoryTokens) -> None:
        stamp = messages.to_ns(message.header.stamp)
        received[stamp] = strip_of(message.tokens, message.mask)

    client.create_subscription(MemoryTokens, "/memory/tokens", take, TOKENS_QOS)
    start(
        SIM,
        "start:=false",
        "cameras:=false",
        "film:=true",
        "film_size:=64",
        "real_time_factor:=0.5",
    )
    start("vq_memory_node.node", "model:=all_rules_hand", "clusters:=256", "use_sim_time:=true")
    client.until(lambda: client.count_publishers("/memory/tokens"), "the memory")
    evaluator = start(
        "rulesafe_eval.node",
        *("rule:=rule_003", "safe:=safe_07", "seed:=4", f"out:={tmp_path}"),
        "film_topics:=true",
        f"step_seconds:={FRAMES / 20}",
    )
    broken = client.create_publisher(CompressedImage, "/film/head/compressed", IMAGE_QOS)
    client.until_subscribed_by("evaluator_node", "/memory/tokens", "/film/head/compressed")
    client.wait_for_turn()
    client.until(lambda: client.status.seed == 4, "the evaluator's episode")
    client.until(lambda: client.status.waiting, "its first turn")
    began = client.now
    client.until(lambda: began in received, "the memory of its first instant")
    waving = HOME_ACTION + 0.8 * np.sin(np.arange(1, FRAMES + 1) / 10)[:, None]
    for _ in range(5):
        broken.publish(CompressedImage(format="png", data=b"no image"))
    client.send(waving, began)
    client.until(lambda: evaluator.process.poll() is not None, "the evaluation's end")
    code, output = evaluator.wait()
    assert code == 1 and "film.mp4" in output
    assert "images are missing in the video: cannot decode the compressed image" in output
    stamps = [began + i * PERIOD for i in range(FRAMES + 1)]
    readings = readings_of(client.positions(stamps), VqMemory("all_rules_hand", 256))
    expected = [strip_of(reading.values, reading.mask) for reading in readings]
    for stamp, strip in zip(stamps, expected, strict=True):
        assert received.get(stamp, strip) == strip
    found = strips(tmp_path / "films/rule_003_000000/film.mp4")
    filmed, held = found[:-20], found[-20:]
    assert set(held) == {filmed[-1]}
    # An image has no tokens if the evaluator had not yet discovered the memory, and is absent if
    # it was lost.
    known = [strip for strip in filmed if max(strip) >= 0]
    assert len(known) > FRAMES / 2 and known == filmed[-len(known) :]
    in_order = iter(expected)
    assert all(strip in in_order for strip in known)
    assert len(set(known)) > 4, "the tokens change as the arm waves"
