"""The benchmark of an evaluation, from its conditions."""

from rulesafe_eval.request import EvaluationRequest
from rulesafe_sim.benchmarks import BENCHMARKS, load_benchmark


def benchmark_of(request: EvaluationRequest) -> str:
    """Return the name of the benchmark whose episodes an evaluation has; empty: none."""
    setup = request.setup
    if setup.variant or setup.disturbances or request.commitment:
        return ""
    keys = ("rules", "safes", "split", "episodes", "seed")
    found = {key: getattr(request, key) for key in keys} | {"step_seconds": setup.step_seconds}
    return next((name for name in BENCHMARKS if load_benchmark(name).conditions() == found), "")
