"""The checksum of Unitree's low-level messages: CRC-32/MPEG-2 over little-endian words."""

import zlib

import numpy as np
from numpy.typing import NDArray

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
"""Each byte with its bits in the opposite order."""


def crc32_mpeg2(data: bytes) -> int:
    """CRC-32/MPEG-2 of bytes: polynomial 0x04C11DB7, from 0xFFFFFFFF, nothing reflected.

    zlib's is the same polynomial with everything reflected, so bits go in and come out reversed.
    """
    reflected = zlib.crc32(data.translate(_REVERSED)) ^ 0xFFFFFFFF
    return int.from_bytes(reflected.to_bytes(4, "little").translate(_REVERSED), "big")


def crc_of_words(words: NDArray[np.uint32]) -> int:
    """The CRC as the robot computes it: (n,) words of the C struct, most significant bit first."""
    return crc32_mpeg2(words.astype(">u4").tobytes())
