"""Where sessions are kept, and how the screen looks."""

from typing import Annotated, Literal

from agent_cli.config.kinds import File, Name, Section, Switch, says


class Session(Section, frozen=True):
    db: Annotated[
        File | None,
        says("The file that holds the sessions; without one it is in the user's state directory."),
    ] = None
    task_class: Annotated[
        Name | None,
        says("The kind of work: debug, implement, chat, research, review, or one of task_classes."),
    ] = None
    answer_schema: Annotated[
        File | None,
        says("A JSON Schema file that the answer of each one-shot run has to fit, as with --json-schema."),
    ] = None
    transcripts: Annotated[
        Switch,
        says(
            "Whether each run leaves a summary (JSON) and a transcript (Markdown) in the user's state directory."
        ),
    ] = True


class Ui(Section, frozen=True):
    theme: Annotated[Name, says("The colours of the screen.")] = "auto"
    notify: Annotated[
        Literal["auto", "bell", "osc9", "osc777", "off"],
        says("How the terminal tells that an approval waits or a turn ended while it is not looked at."),
    ] = "auto"
    title: Annotated[Switch, says("Whether the title of the terminal says where the session stands.")] = True
    keys: Annotated[
        dict[Name, str],
        says('Keys by action, commas between several; /keys lists the actions: {"mode": "f2"}.'),
    ] = {}
    vi: Annotated[Switch, says("Whether the line that you type into has the keys of vi.")] = False
    mouse: Annotated[
        Switch, says("Whether the program uses the mouse; without that it is the terminal's own.")
    ] = True
    motion: Annotated[
        Switch, says("Whether anything on the screen moves by itself, such as the seconds that a step takes.")
    ] = True
    status_command: Annotated[
        Name | None,
        says(
            "A command whose first line of output is shown under the status bar; it gets the state as JSON on"
            " its standard input. Never taken from a project's config."
        ),
    ] = None
