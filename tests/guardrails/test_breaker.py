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
    assert breaker.refusal(4.0) == (
        "api failed 5 times in a row and is not asked now: the next attempt is possible in 30 s"
    )


def test_a_success_clears_the_count():
    breakers = Breakers()
    for _ in range(4):
        breakers.of("api").failed(0)
    breakers.of("api").succeeded()
    breakers.of("api").failed(1)
    assert breakers.of("api").admit(2)


def test_of_ten_callers_exactly_one_probes():
    breaker = opened().of("api")
    assert [breaker.admit(34.0) is not None for _ in range(10)].count(True) == 1
    assert breaker.standing() == "probing"
    assert breaker.refusal(34.0).endswith("another request finds out now whether it is back")


def test_what_was_under_way_when_it_opened_brings_no_second_probe():
    """A request of before that is cancelled, or fails late, is not the probe."""
    breakers = Breakers()
    breaker = breakers.of("api")
    old = [breaker.admit(0.0) for _ in range(7)]
    for admitted in old[:5]:
        assert admitted is not None
        breaker.failed(1.0, admitted)
    probe = breaker.admit(31.0)
    assert probe is not None
    assert old[5] is not None
    breaker.abandoned(old[5])
    assert breaker.admit(31.1) is None
    breaker.failed(31.2, old[5])
    assert breaker.admit(61.3) is None, "the probe is still under way"
    breaker.failed(62.0, probe)
    assert breaker.admit(91.9) is None
    assert breaker.admit(92.0) is not None


def test_what_hangs_counts_after_it_was_given_up():
    breaker = opened().of("api")
    probe = breaker.admit(34.0)
    assert probe is not None
    breaker.abandoned(probe)
    breaker.failed(64.0)
    assert breaker.admit(93.9) is None
    assert breaker.admit(94.0) is not None


def test_a_probe_that_fails_opens_it_again_and_one_that_succeeds_closes_it():
    breaker = opened().of("api")
    probe = breaker.admit(34.0)
    assert probe is not None
    breaker.failed(35.0, probe)
    assert not breaker.admit(64.9)
    assert breaker.admit(65.0)
    breaker.succeeded()
    assert None not in [breaker.admit(65.1) for _ in range(3)]


def test_a_probe_that_was_cancelled_lets_another_caller_probe():
    breaker = opened().of("api")
    probe = breaker.admit(34.0)
    assert probe is not None
    breaker.abandoned(probe)
    assert breaker.admit(34.1)


def test_each_dependency_has_its_own():
    breakers = opened()
    assert breakers.of("other").admit(4.1)
