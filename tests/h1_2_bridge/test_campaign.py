"""Test that no random fault breaks the promises of docs/safety.md, with the first seeds of
fault_campaign.py."""

import pytest
from fault_campaign import run_seed
from virtual import usual

BATCH = 20


@pytest.mark.episode
@pytest.mark.parametrize("first", usual([0], BATCH))
def test_whatever_fails_the_robot_receives_safe_commands(first):
    for seed in range(first, first + BATCH):
        result = run_seed(seed)
        assert not result["error"], f"seed {seed}: {result['error']}"
