"""Each signal: what it trips at, what falls one short, what it stands down for, who is exempt."""

from __future__ import annotations

import pytest

from agent_cli.guardrails.book import PROFILES, STANCES, Profile, Tuned, signals
from agent_cli.guardrails.watch import UNREACHED, Watch
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text
from agent_cli.ports import Called, Came
from tests.guardrails.played import OPERATOR, RESET, Call, Step, alerts, edit, names, only, read, says, shell

A, B, C = read("a", "1"), read("b", "2"), read("c", "3")


def wait(result: str = "not yet", *, ok: bool = True, empty: bool = False) -> Call:
    return Call("wait_and_verify", {"command": "curl x"}, result, ok, empty=empty)


def searched(words: str, name: str = "web_search") -> Call:
    return Call(name, {"query": words}, f"nothing about {words}", empty=True)


def failing(number: int) -> Call:
    return Call("bash", {"command": f"try {number}"}, f"error {number}", ok=False)


def noop(number: int) -> Call:
    return Call("mark_task_done", {"detail": f"in other words {number}"}, "already recorded", no_op=True)


def done(number: int) -> Call:
    return Call("mcp__server__click", {"at": number}, "done")


TRIPS: dict[str, list[list[Step]]] = {
    "alternating-tool-cycle": [
        [A, B] * 3,
        [A, B, C] * 3,
        [A, A, B] * 3,
        [read(letter, letter) for letter in "abcdef"] * 3,
        [(A, B), (A, B), (A, B)],
        [C, *[A, B] * 3],
    ],
    "dominant-tool-call": [
        [A, A, A, B, A, A, C, A, A, A],
        [A, A, A, A, B, A, A, A, A],
    ],
    "repeated-tool-name": [[shell(f"x{number % 7}", str(number)) for number in range(15)]],
    "stuck-interaction": [[A, A, B, A, A, C, A, A]],
    "no-op-streak": [[noop(1), noop(2), noop(3)], [noop(1), failing(1), noop(2), noop(3)]],
    "null-result-streak": [
        [searched(f"w{number}") for number in range(12)],
        [failing(number) if number % 2 else searched(f"w{number}") for number in range(12)],
        [tuple(searched(f"w{number}{place}") for place in range(2)) for number in range(6)],
    ],
    "no-news": [
        [read(f"a{number}", "same") for number in range(12)],
        [A, B, *[A, B, B, A, A] * 2],
        [read(f"f{number}", str(number)) for number in range(9)] * 3,
    ],
    "tool-failure-streak": [[failing(number) for number in range(5)]],
    "no-new-state": [[*(read(letter, letter) for letter in "abcdefg")] * 2],
    "tools-without-text": [[read(f"f{number}", str(number)) for number in range(60)]],
}  # fmt: skip
NOT: dict[str, list[list[Step]]] = {
    "alternating-tool-cycle": [
        [A, B] * 2,
        [*[A, B] * 2, A],
        [A] * 12,
        [step for n in range(6) for step in (read("a", f"{n} failed"), B)],
        [read(letter, letter) for letter in "abcdefg"] * 3,
        [edit(), shell("make")] + [step for n in range(5) for step in (edit(text=str(n)), shell("make"))],
        [*[A, B] * 2, OPERATOR, A, B],
        [*[A, B] * 2, RESET, A, B],
        [A, wait()] * 4,
    ],
    "dominant-tool-call": [
        [A, A, A, B, A, A, C, A, B, A],
        [step for n in range(8) for step in (read("a", str(n)), B)],
        [A, A, A, B, edit(), A, A, C, A, A, A, B, A],
        [A, A, A, B, A, OPERATOR, A, C, A, A, A],
        [wait()] * 12,
    ],
    "repeated-tool-name": [
        [shell(f"x{number % 7}", str(number)) for number in range(14)],
        [shell(f"x{number % 8}", str(number)) for number in range(20)],
        [*[shell(f"x{number}") for number in range(3)], *[shell("same", str(n)) for n in range(20)]],
        [*[shell(f"x{number % 7}", str(number)) for number in range(14)], A, *[shell("y")] * 3],
        [wait(str(n)) for n in range(20)],
    ],
    "stuck-interaction": [
        [step for n in range(6) for step in (A, read(f"o{n}", f"o{n}"))],
        [A, A, B, A, A, C, A],
        [step for n in range(9) for step in (read("a", str(n)), B)][:10],
        [step for n in range(9) for step in (A, B, C)][:18],
        [*[A] * 5, edit(), *[A] * 5],
        [wait()] * 9,
    ],
    "no-op-streak": [
        [noop(1), noop(2)],
        [noop(1), noop(2), A, noop(3)],
        [noop(1), noop(2), OPERATOR, noop(3)],
        [failing(n) for n in range(9)],
        [Call("delete_file", {"path": f"f{n}"}, f"There is no f{n}.") for n in range(5)],
    ],
    "null-result-streak": [
        [searched(f"w{number}") for number in range(7)],
        [*[searched(f"w{number}") for number in range(7)], A, *[searched(f"w{number}") for number in range(7)]],
        [wait(empty=True)] * 20,
        [Call("bash", {"command": f"make {n}"}, "", empty=True, changed=("o",)) for n in range(20)],
        [Call("bash", {"command": f"rm {n}"}, "refused", refused=True) for n in range(20)],
        [tuple(searched(f"w{number}") for number in range(12))],
    ],
    "no-news": [
        [read(f"a{number}", "same") for number in range(11)],
        [read(f"f{number}", str(number)) for number in range(40)],
        [step for n in range(20) for step in (edit(text=str(n)), A, B)],
        [done(number) for number in range(30)],
        [searched(f"w{number}")._replace(result="nothing") for number in range(30)],
        [wait()] * 30,
        [Call("bash_output", {"shell": "1"}, "no new output")] * 30,
    ],
    "tool-failure-streak": [
        [failing(number) for number in range(4)],
        [*[failing(number) for number in range(4)], A, failing(5)],
        [(failing(number), read(str(number))) for number in range(9)],
        [tuple(failing(number) for number in range(9))],
        [Call("bash", {"command": str(n)}, "no", refused=True) for n in range(9)],
    ],
    "no-new-state": [
        [*(read(letter, letter) for letter in "abcde")] * 2,
        [read(f"f{number}", "same") for number in range(20)],
        [*(read(letter, letter) for letter in "abcd"), OPERATOR] * 3,
        [wait()] * 20,
        [failing(1)] * 20,
        [noop(1)] * 20,
    ],
    "tools-without-text": [
        [read(f"f{number}", str(number)) for number in range(59)],
        [*[read(f"f{number}", str(number)) for number in range(40)], says("so far so good"), *[A] * 59],
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "steps"), [(name, steps) for name, held in TRIPS.items() for steps in held])
def test_it_trips_once(name: str, steps: list[Step]):
    found = only(name, *steps)
    assert found, "nothing was told"
    last = found[-1]
    assert len({alert.severity for alert in found}) == len(found) == 1 or (
        name == "null-result-streak" and [alert.severity for alert in found] == ["warn", "critical"]
    )
    if name != "stuck-interaction":
        assert (last.severity, last.scope) == STANCES[name]
    assert last.guidance
    assert "/guardrail" not in last.guidance
    assert last.reason != last.guidance


@pytest.mark.parametrize(("name", "steps"), [(name, steps) for name, held in NOT.items() for steps in held])
def test_a_near_miss_is_nothing(name: str, steps: list[Step]):
    assert only(name, *steps) == []


def test_blank_text_and_hidden_thoughts_are_no_words():
    grind = [read(f"f{number}", str(number)) for number in range(60)]
    assert only("tools-without-text", *grind[:40], says("  \n"), *grind[40:])


def test_the_null_results_are_told_at_eight_and_stop_at_twelve():
    steps = [searched(f"w{number}") for number in range(11)]
    assert [alert.severity for alert in only("null-result-streak", *steps)] == ["warn"]
    (alert,) = only("null-result-streak", *steps[:8], profile="seed")
    assert alert.severity == "critical"


def test_stuck_warns_at_the_sixth_copy_and_stops_at_the_ninth_where_dominance_is_enforced():
    laps = [step for n in range(9) for step in (A, read(f"o{n}", f"o{n}"), read(f"p{n}", f"p{n}"))]
    pairs: list[Step] = [tuple(laps[at : at + 3]) for at in range(0, 27, 3)]
    first, second = only("stuck-interaction", *pairs)
    assert (first.severity, first.at_once, second.severity, second.at_once) == (
        "warn",
        True,
        "critical",
        False,
    )
    assert "9 times" in second.reason
    without = {"dominant-tool-call": Tuned(enabled=False)}
    alone = [signal for signal in signals("default", without) if signal.name == "stuck-interaction"]
    assert [alert.reason.split(" was called ")[1][:7] for alert in alerts(pairs, alone)] == [
        "6 times",
        "7 times",
    ]


def test_stuck_only_warns_where_nothing_is_enforced():
    assert names(*[A] * 12, enforced=False).count("stuck-interaction") == 1


# ── what only the other profiles see ──


@pytest.mark.parametrize(
    ("profile", "name", "steps"),
    [
        ("seed", "repeated-tool-name", [shell(f"x{number}", str(number)) for number in range(15)]),
        ("seed", "tool-failure-streak", [failing(number) for number in range(3)]),
        ("seed", "no-new-state", [read(f"f{number}", "same") for number in range(7)]),
        ("seed", "tools-without-text", [read(f"f{number}", str(number)) for number in range(12)]),
        ("seed", "dominant-tool-call", [step for n in range(8) for step in (read("a", str(n)), read(f"o{n}"))][:12] + [read("a", "x"), read("a", "y")] * 2),
        ("strict", "dominant-tool-call", [shell("make test"), A, shell("make test"), B, shell("make test")]),
        ("strict", "alternating-tool-cycle", [A, B, A, B]),
    ],
)  # fmt: skip
def test_what_a_profile_adds(profile: Profile, name: str, steps: list[Step]):
    assert len(only(name, *steps, profile=profile)) == 1
    assert only(name, *steps) == []


def test_edit_and_test_by_turns_is_work_in_every_profile():
    steps: list[Step] = []
    for number in range(40):
        steps += [edit(text=str(number)), shell("make test", "1 failed", ok=False), says("still one")]
    for profile in PROFILES:
        assert [
            alert.signal for alert in alerts(steps, signals(profile)) if alert.severity == "critical"
        ] == []


def test_a_change_that_came_before_with_the_same_result_excuses_nothing():
    reset = Call("bash", {"command": "git reset --hard"}, "HEAD is now at", changed=("a",))
    lap = [reset, edit(), shell("make test", "1 failed", ok=False), read("a", "x"), read("b", "y"), A, B, C]
    assert "no-news" in names(*lap * 4)
    assert "alternating-tool-cycle" in names(*[reset, edit(), shell("make test")] * 4)


# ── one behaviour, one alert ──


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([A] * 20, ["repeated-tool-call"]),
        ([A, B] * 10, ["alternating-tool-cycle"]),
        ([A, A, B] * 8, ["alternating-tool-cycle"]),
        ([A, A, A, B] * 6, ["alternating-tool-cycle"]),
        ([A, A, A, B, A, A, C, *[A] * 3, B, A, A, A, C, A, A], ["dominant-tool-call"]),
        ([*[A] * 5, B, *[A] * 4, C, *[A] * 4, B], ["repeated-tool-call"]),
        ([*[B, C] * 3, *[A] * 5], ["alternating-tool-cycle", "repeated-tool-call"]),
    ],
)
def test_one_behaviour_is_told_once_by_the_most_specific(steps: list[Step], told: list[str]):
    calling = {"repeated-tool-call", "alternating-tool-cycle", "dominant-tool-call", "repeated-tool-name"}
    assert [name for name in names(*steps) if name in calling] == told


def seen(number: int, *, blind: bool = False) -> Came:
    """The result of a call, which is an image where it is `blind`."""
    call = Called(f"c{number}", "read_file", "read_file a")
    return Came(call, "" if blind else "same", "" if blind else "same", last=True)


@pytest.mark.parametrize("name", ["no-new-state", "no-news", "stuck-interaction", "repeated-tool-call"])
def test_a_result_that_cannot_be_told_from_others_is_no_evidence(name: str):
    watched = [signal for signal in signals() if signal.name == name]
    watch, told = Watch(watched), []
    for number in range(30):
        told += [
            *watch.call(Called(f"c{number}", "read_file", "read_file a")),
            *watch.result(seen(number, blind=True)),
        ]
    assert told == []
    assert [*watch.result(seen(31))] == []


def test_a_result_that_cannot_be_told_begins_the_run_of_known_ones_again():
    (signal,) = [signal for signal in signals() if signal.name == "no-new-state"]
    watch = Watch([signal])
    told = [alert for number in range(7) for alert in watch.result(seen(number, blind=number == 4))]
    assert told == []
    assert [alert.signal for number in range(7, 10) for alert in watch.result(seen(number))] == []
    assert [alert.signal for number in range(10, 13) for alert in watch.result(seen(number))] == [
        "no-new-state"
    ]


@pytest.mark.parametrize(("size", "profiles"), [(4, 3), (5, 2), (6, 2), (7, 0)])
def test_blocks_of_five_and_six_are_cycles_for_all_but_the_first_seed(size: int, profiles: int):
    steps = [read(letter, letter) for letter in "abcdefg"[:size]] * 3
    assert (
        sum(bool(only("alternating-tool-cycle", *steps, profile=profile)) for profile in PROFILES) == profiles
    )


STORM = ev.GuardrailFinding("refusal_storm", "action", "halt", "refused 3 times")
REFUSED_TURN = (ev.TurnStarted("m"), ev.TurnError("refused", "halted", 3, "the session is halted"))


def test_what_a_storm_of_refusals_ended_counts_no_more():
    refused = Call("write_file", {"path": "a"}, "refused", refused=True)
    assert names(*[refused] * 5) == ["repeated-tool-call"]
    assert names(*[refused] * 3, STORM, *[refused] * 4) == []


def test_a_turn_that_was_refused_is_no_boundary_and_a_note_of_the_product_neither():
    note = ev.OperatorMessage((Text("[watchdog]"),), by="product")
    assert names(*[A] * 3, *REFUSED_TURN, note, *[A] * 2) == ["repeated-tool-call"]
    letters = [read(letter, letter) for letter in "abcdef"]
    assert [alert.signal for alert in only("no-new-state", *letters, *REFUSED_TURN, *letters)] == [
        "no-new-state"
    ]
    assert only("no-new-state", *letters, OPERATOR, *letters) == []


def test_a_signal_that_reads_results_may_add_its_own():
    assert names(*[noop(1)] * 5) == ["no-op-streak", "repeated-tool-call"]


def test_a_call_that_a_stop_kept_from_running_says_nothing_of_the_agent():
    why = f"{UNREACHED}: read_file was called 5 times in a row"
    failed = Call("read_file", {"path": "a"}, "no such file", ok=False)
    kept = Call("read_file", {"path": "a"}, why, ok=False)
    assert names(*[failed] * 4, kept) == ["repeated-tool-call"]
    rest = tuple(Call("read_file", {"path": f"{number}"}, why, ok=False) for number in range(20))
    assert names(A, rest) == []


# ── the runaways that the signals were made for ──


def test_the_read_loop():
    assert names(*[read("a.txt")] * 5) == ["repeated-tool-call"]


def test_the_alternation():
    lap = [Call("list_agents", {}, "x"), Call("check_agent", {"id": 1}, "y")]
    assert names(*lap * 3) == ["alternating-tool-cycle"]


def test_twenty_two_calls_with_others_in_between_are_seen_within_the_first_twelve():
    clusters = Call("mcp__gke__list_clusters", {"project": "p"}, "[]")
    steps: list[Step] = []
    for number in range(22):
        steps += [clusters] if number % 4 else [read(f"o{number}", str(number)), clusters]
    found = names(*steps[:12])
    assert "dominant-tool-call" in found
    assert "repeated-tool-call" not in names(*steps)


def test_nine_reworded_checkpoints():
    assert names(*[noop(number) for number in range(9)]) == ["no-op-streak"]


def test_thirteen_refused_ones_split_by_one_other_call_are_two_loops():
    steps = [*[noop(n) for n in range(7)], read("a"), *[noop(n) for n in range(7, 13)]]
    assert names(*steps) == ["no-op-streak", "no-op-streak"]


def test_forty_reworded_searches():
    steps = [searched(f"the same in words {number}") for number in range(40)]
    assert names(*steps) == ["null-result-streak", "null-result-streak"]


def test_forty_reworded_searches_a_step_are_stopped_as_the_second_forty_come_back():
    """What one step asks side by side is one question; that it is asked again is what nobody does forty times."""
    first, second = (tuple(searched(f"{step} in words {n}") for n in range(40)) for step in range(2))
    assert only("null-result-streak", first) == []
    (alert,) = only("null-result-streak", first, second)
    assert (alert.severity, alert.reason) == ("critical", "41 results in a row were empty or errors")


def test_a_long_honest_session_is_left_alone():
    steps: list[Step] = []
    for number in range(100):
        failed = 9 - number % 9
        steps += [
            edit(text=str(number), path=f"f{number % 5}"),
            shell("pytest", f"{failed} failed in 0.{number}s", ok=False),
        ]
        steps += [says("next"), wait(), read(f"f{number % 5}", f"content {number}")]
    assert names(*steps) == []
