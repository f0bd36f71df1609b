"""Convert the video of a run to the small animated image of the README.

python scripts/film_to_webp.py runs/<time>/film.mp4 docs/images/demo.webp
"""

import sys
from pathlib import Path

import av

WIDTH = 560  # pixels
EVERY = 3  # every N-th frame of the video is used


def main(film: Path, image: Path) -> None:
    """Write the frames of the video `film` as an animated WebP image."""
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        rate = float(stream.average_rate)
        frames = [f.to_image() for i, f in enumerate(container.decode(stream)) if i % EVERY == 0]
    height = round(frames[0].height * WIDTH / frames[0].width)
    first, *rest = (frame.resize((WIDTH, height)) for frame in frames)
    duration = round(1000 * EVERY / rate / 2)  # ms per frame, at double speed
    options = {"quality": 55, "method": 6, "minimize_size": True}
    first.save(image, save_all=True, append_images=rest, duration=duration, loop=0, **options)
    print(f"{image}: {len(frames)} frames, {image.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
