"""Render one image and print, as JSON, the renderer, the duration and the image's contrast."""

import json
import time


def main() -> None:
    from rulesafe_render.renderer import load_kernel
    from rulesafe_sim.observer import Observer
    from rulesafe_sim.simulation import Simulation

    begin = time.monotonic()
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", seed=0)
    image = Observer(simulation).observe(["head"])["head"]
    result = {
        "renderer": load_kernel("").name,
        "seconds": time.monotonic() - begin,
        "contrast": float(image.std()),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
