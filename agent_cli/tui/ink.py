"""The colours of the transcript, made from the theme: one place that says what a thing looks like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="agent-dark",
    primary="#7aa2f7",
    secondary="#9d8cd6",
    accent="#7aa2f7",
    foreground="#d5d8e0",
    background="#16181d",
    surface="#1d2027",
    panel="#252932",
    success="#8fbf7f",
    warning="#d9b36c",
    error="#e07a7a",
    dark=True,
)
LIGHT = Theme(
    name="agent-light",
    primary="#2f5fd0",
    secondary="#6f4fc0",
    accent="#2f5fd0",
    foreground="#23262d",
    background="#fbfbfa",
    surface="#f1f1ef",
    panel="#e6e6e3",
    success="#3c7d2e",
    warning="#8f6400",
    error="#b93636",
    dark=False,
)


@dataclass(frozen=True, slots=True)
class Ink:
    """Styles by meaning. Two inks of equal theme are the same object."""

    text: Style
    strong: Style
    emphasis: Style
    struck: Style
    dim: Style
    faint: Style
    accent: Style
    heading: Style
    code: Style
    fence: Style
    link: Style
    quote: Style
    good: Style
    warn: Style
    warning: Style
    bad: Style
    operator: Style
    operator_bar: Style
    added: Style
    removed: Style
    cursor: Style
    selection: Style
    dark: bool


def ink_of(theme: Theme) -> Ink:
    fallback = DARK if theme.dark else LIGHT
    names = ("primary", "foreground", "background", "surface", "success", "warning", "error")
    colors = [getattr(fallback if theme.ansi else theme, name) or getattr(fallback, name) for name in names]
    return _ink(tuple(colors), dark=theme.dark)


@cache
def _ink(colors: tuple[str, ...], *, dark: bool) -> Ink:
    primary, foreground, background, surface, success, warning, error = colors
    fore, back = Color.parse(foreground), Color.parse(background)

    def mixed(color: Color, share: float) -> str:
        return back.blend(color, share).hex

    def tint(color: str, share: float = 0.16) -> str:
        return mixed(Color.parse(color), share)

    panel = Color.parse(surface).hex
    dim = mixed(fore, 0.62)
    return Ink(
        text=Style(color=fore.hex),
        strong=Style(color=mixed(fore, 1.0), bold=True),
        emphasis=Style(italic=True),
        struck=Style(strike=True, dim=True),
        dim=Style(color=dim),
        faint=Style(color=mixed(fore, 0.38)),
        accent=Style(color=primary),
        heading=Style(color=primary, bold=True),
        code=Style(color=mixed(Color.parse(warning), 0.9), bgcolor=panel),
        fence=Style(color=fore.hex, bgcolor=panel),
        link=Style(color=primary, underline=True),
        quote=Style(color=dim, italic=True),
        good=Style(color=success),
        warn=Style(color=warning),
        warning=Style(color=warning, bold=True),
        bad=Style(color=error),
        operator=Style(color=fore.hex, bgcolor=panel),
        operator_bar=Style(color=primary, bgcolor=panel, bold=True),
        added=Style(color=success, bgcolor=tint(success)),
        removed=Style(color=error, bgcolor=tint(error)),
        cursor=Style(color=primary, bold=True),
        selection=Style(bgcolor=tint(primary, 0.35)),
        dark=dark,
    )
