"""Takes one picture and prints, as JSON, the device, the time it took, and its contrast."""

import json
import time


def main() -> None:
    from rulesafe_sim.observer import Observer
    from rulesafe_sim.physics import render_device
    from rulesafe_sim.simulation import Simulation

    begin = time.monotonic()
    simulation = Simulation(render=True)
    simulation.reset("rule_001", "safe_01", seed=0)
    picture = Observer(simulation).observe(["head_rgb"])["head_rgb"]
    told = {
        "device": render_device() or "unknown device",
        "seconds": time.monotonic() - begin,
        "contrast": float(picture.std()),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
