"""The benchmark of an evaluation, from its conditions."""

from rulesafe_eval.request import EvaluationRequest, sealed_rules
from rulesafe_sim.benchmarks import BENCHMARKS, Benchmark, load_benchmark
from rulesafe_sim.randomisation import SPLITS

SEALED = Benchmark(
    name="sealed",
    title="27 generated locks on ten safes, locks and poses from a secret key",
    rules=("sealed",),
    safes=SPLITS["nominal"].safes,
    split="nominal",
    episodes=10,
    seed=0,
    files={},
    locks={},
    entries=(),
)
"""The conditions of the sealed benchmark. Its rules and its seed are those of a key."""

SEALED_LOCKS = 27


def benchmark_of(request: EvaluationRequest) -> str:
    """Return the name of the benchmark whose episodes an evaluation has; empty: none."""
    setup = request.setup
    if setup.variant or setup.disturbances:
        return ""
    keys = ("rules", "safes", "split", "episodes", "seed")
    found = {key: getattr(request, key) for key in keys} | {"step_seconds": setup.step_seconds}
    if request.commitment:  # compared with the key by `sealed.unseal`
        locks = set(sealed_rules(request.rules, request.commitment))
        if len(locks) == len(request.rules) == SEALED_LOCKS:
            found |= {"rules": SEALED.rules, "seed": SEALED.seed}
    benchmarks = (SEALED,) if request.commitment else map(load_benchmark, BENCHMARKS)
    return next((each.name for each in benchmarks if each.conditions() == found), "")
