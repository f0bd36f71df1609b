"""Decoders of messages, on plain objects; tests/ros compares them with what nodes publish."""

from io import BytesIO
from types import SimpleNamespace

import numpy as np
import PIL.Image
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import FLOAT32, decode_cloud, decode_image

RGB = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def image(pixels: np.ndarray, encoding: str, padding: int = 0) -> SimpleNamespace:
    height, width = pixels.shape[:2]
    rows = np.pad(pixels.reshape(height, -1), ((0, 0), (0, padding)))
    return SimpleNamespace(
        height=height, width=width, encoding=encoding, step=rows.shape[1], data=rows.tobytes()
    )


def cloud(**changed) -> SimpleNamespace:
    fields = [
        SimpleNamespace(name=name, offset=4 * i, datatype=FLOAT32)
        for i, name in enumerate(("x", "y", "z", "rgb"))
    ]
    point = np.array([1, 2, 3, 0], np.float32)
    point[3:] = np.array([255 << 16 | 51], np.uint32).view(np.float32)
    message = {"fields": fields, "point_step": 16, "width": 1, "height": 1}
    message |= {"is_bigendian": False, "data": point.tobytes()}
    return SimpleNamespace(**message | changed)


@pytest.mark.parametrize("padding", [0, 5])
def test_images_of_every_encoding(padding):
    opaque = np.full((2, 3, 1), 255, np.uint8)
    for encoding, pixels in {
        "rgb8": RGB,
        "bgr8": RGB[..., ::-1],
        "8UC3": RGB[..., ::-1],
        "rgba8": np.dstack([RGB, opaque]),
        "bgra8": np.dstack([RGB[..., ::-1], opaque]),
    }.items():
        assert np.array_equal(decode_image(image(pixels, encoding, padding)), RGB), encoding
    grey = decode_image(image(RGB[..., :1], "mono8", padding))
    assert np.array_equal(grey, RGB[..., [0, 0, 0]])


def test_compressed_images():
    buffer = BytesIO()
    PIL.Image.fromarray(RGB).save(buffer, "PNG")
    message = SimpleNamespace(format="png", data=buffer.getvalue())
    assert np.array_equal(decode_image(message), RGB)
    message.data = b"no image"
    with pytest.raises(RuleSafeError, match="cannot decode the compressed image"):
        decode_image(message)


def test_images_that_are_refused():
    with pytest.raises(RuleSafeError, match="unknown image encoding 'yuv422'; valid: rgb8"):
        decode_image(image(RGB, "yuv422"))
    short = image(RGB, "rgb8")
    short.data = short.data[:-1]
    narrow = image(RGB, "rgb8")
    narrow.step = 8
    for message in (short, narrow):
        with pytest.raises(RuleSafeError, match="too few for an image of 3 x 2 pixels"):
            decode_image(message)


def test_clouds():
    assert decode_cloud(cloud()) == pytest.approx(np.array([[1, 2, 3, 1, 0, 0.2]]))
    fields = cloud().fields
    for changed in (
        {"fields": fields[:3]},
        {"point_step": 20},
        {"is_bigendian": True},
        {"fields": [*fields[:3], SimpleNamespace(name="rgb", offset=12, datatype=6)]},
    ):
        with pytest.raises(RuleSafeError, match=r"x, y, z and rgb \(float32, 16 bytes per point\)"):
            decode_cloud(cloud(**changed))
    for size in (15, 32):
        with pytest.raises(RuleSafeError, match=f"{size} bytes are not those of 1 points"):
            decode_cloud(cloud(data=bytes(size)))
