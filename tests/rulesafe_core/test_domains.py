import subprocess
import sys

import pytest

from rulesafe_core import domains
from rulesafe_core.domains import LARGEST, reserve_domain
from rulesafe_core.errors import RuleSafeError


def test_each_reservation_is_another_domain_also_in_other_processes():
    code = "from rulesafe_core.domains import reserve_domain; print(reserve_domain()); input()"
    others = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    found = [int(other.stdout.readline()) for other in others]
    found += [reserve_domain(), reserve_domain()]
    assert len(set(found)) == 4 and all(1 <= domain <= LARGEST for domain in found)
    for other in others:
        other.communicate("\n", timeout=60)


def test_without_a_free_domain_it_says_so(monkeypatch):
    monkeypatch.setattr(domains, "LARGEST", 0)
    with pytest.raises(RuleSafeError, match="are all reserved; end a test run"):
        reserve_domain()
