"""Five failures open it, thirty seconds cool it, exactly one caller probes."""

from __future__ import annotations

from agent_cli.guardrails.breaker import Breakers


def opened() -> Breakers:
    breakers = Breakers()
    for second in range(5):
        assert breakers.of("api").admit(second)
        breakers.of("api").failed(second)
    return breakers


def test_it_opens_with_the_fifth_failure_in_a_row():
    breaker = opened().of("api")
    assert breaker.standing() == "open"
    assert not breaker.admit(4.1)
    assert breaker.probes_in(4.0) == 30.0


def test_a_success_clears_the_count():
    breakers = Breakers()
    for _ in range(4):
        breakers.of("api").failed(0)
    breakers.of("api").succeeded()
    breakers.of("api").failed(1)
    assert breakers.of("api").admit(2)


def test_of_ten_callers_exactly_one_probes():
    breaker = opened().of("api")
    assert [breaker.admit(34.0) for _ in range(10)].count(True) == 1
    assert breaker.standing() == "probing"


def test_a_probe_that_fails_opens_it_again_and_one_that_succeeds_closes_it():
    breaker = opened().of("api")
    assert breaker.admit(34.0)
    breaker.failed(35.0)
    assert not breaker.admit(64.9)
    assert breaker.admit(65.0)
    breaker.succeeded()
    assert [breaker.admit(65.1) for _ in range(3)] == [True, True, True]


def test_a_probe_that_was_cancelled_lets_another_caller_probe():
    breaker = opened().of("api")
    assert breaker.admit(34.0)
    breaker.abandoned()
    assert breaker.admit(34.1)


def test_each_dependency_has_its_own():
    breakers = opened()
    assert breakers.of("other").admit(4.1)
