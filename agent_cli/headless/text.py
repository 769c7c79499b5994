"""`--output-format text`: stdout is the answer.

Whether a text is the answer is known only at the end of its step: what a model says before it calls tools
is not. So into a pipe or a file the answer is written as soon as it is known to be one. A terminal shows
both streams to a person and to nobody else: there text appears as it comes, whatever it turns out to be.
"""

from __future__ import annotations

from agent_cli.headless.narration import Level
from agent_cli.headless.plain import plain
from agent_cli.headless.printer import Printer, Voice
from agent_cli.headless.streams import Stream
from agent_cli.headless.summary import Result
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of

WITHDRAWN = "the text above is withdrawn: its request failed and is sent again"


class TextPrinter(Printer):
    def __init__(self, out: Stream, voice: Voice) -> None:
        super().__init__(out, voice)
        self._live = out.terminal and voice.level > Level.QUIET
        self._shown = ""
        self._last = ""
        if self._live:
            voice.before_line = self._end_line
            voice.speech_shown = True

    def hold(self) -> None:
        self._live = self.voice.speech_shown = False

    def event(self, event: ev.Event) -> None:
        if self._live:
            self._show(event)
        super().event(event)

    def finish(self, result: Result) -> None:
        answer = result.answer
        if answer is not None and (not self._live or answer != self._last):
            self._write(answer)
        self._end_line()
        super().finish(result)

    def _show(self, event: ev.Event) -> None:
        if isinstance(event, ev.TextDelta):
            self.voice.counted()
            self._write(event.text)
            self._shown += event.text
        elif isinstance(event, ev.Entry) and not event.branch:
            self._settle(event.event)

    def _settle(self, event: ev.Recorded) -> None:
        """Previews may be lost; the fact is what counts, so what is missing of it is made up for."""
        if isinstance(event, ev.AssistantMessage):
            said = text_of(event.parts)
            if not said.startswith(self._shown):
                self._end_line()
                self._shown = ""
            self._write(said[len(self._shown) :])
            self._shown, self._last = "", said
        elif isinstance(event, (ev.Retry, ev.ModelSwitched)) and self._shown:
            self._shown = ""
            self.voice.note(WITHDRAWN)

    _midline = False

    def _write(self, text: str) -> None:
        if text:
            self._midline = not text.endswith("\n")
            self.out.write(plain(text) if self.out.terminal else text)

    def _end_line(self) -> None:
        if self._midline:
            self._midline = False
            self.out.write("\n")
