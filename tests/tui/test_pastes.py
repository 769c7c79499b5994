"""A big paste is a chip in the draft and whole in the message."""

from __future__ import annotations

from agent_cli.tui.pastes import CHARACTERS, LINES, Pastes


def test_small_pastes_stay_text():
    pastes = Pastes()
    assert pastes.fold("a\nb") == "a\nb"
    assert pastes.fold("x" * CHARACTERS) == "x" * CHARACTERS
    assert pastes.fold("\n" * (LINES - 1) + "x").count("\n") == LINES - 1


def test_big_ones_become_chips_that_unfold():
    pastes = Pastes()
    lines, letters = "a\n" * 1_234, "b" * 5_000
    assert pastes.fold(lines) == "[pasted 1,234 lines]"
    assert pastes.fold(letters) == "[pasted 5,000 characters]"
    assert (
        pastes.unfold("see [pasted 1,234 lines] and [pasted 5,000 characters].")
        == f"see {lines} and {letters}."
    )


def test_two_of_one_size_are_told_apart():
    pastes = Pastes()
    first, second = pastes.fold("a\n" * 30), pastes.fold("b\n" * 30)
    assert (first, second) == ("[pasted 30 lines]", "[pasted 30 lines #2]")
    assert pastes.fold("a\n" * 30) == first
    assert pastes.unfold(second) == "b\n" * 30


def test_a_paste_that_names_a_chip_is_left_alone():
    pastes = Pastes()
    chip = pastes.fold("a\n" * 30)
    other = pastes.fold(f"{chip}\n" * 40)
    assert pastes.unfold(other) == f"{chip}\n" * 40


def test_line_ends_of_a_terminal_become_line_feeds():
    assert Pastes().fold("a\r\nb\rc") == "a\nb\nc"


def test_the_chip_at_the_cursor():
    pastes = Pastes()
    chip = pastes.fold("a\n" * 30)
    assert pastes.chip_before(f"x {chip}") == chip
    assert pastes.chip_before(f"{chip} x") == ""
