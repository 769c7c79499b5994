"""What keys do in any text."""

from __future__ import annotations

EDITS = {
    "up": "cursor_up",
    "down": "cursor_down",
    "left": "cursor_left",
    "right": "cursor_right",
    "word-left": "cursor_word_left",
    "word-right": "cursor_word_right",
    "line-start": "cursor_line_start",
    "line-end": "cursor_line_end",
    "select-up": "cursor_up(True)",
    "select-down": "cursor_down(True)",
    "select-left": "cursor_left(True)",
    "select-right": "cursor_right(True)",
    "select-word-left": "cursor_word_left(True)",
    "select-word-right": "cursor_word_right(True)",
    "select-line-start": "cursor_line_start(True)",
    "select-line-end": "cursor_line_end(True)",
    "select-line": "select_line",
    "select-all": "select_all",
    "delete-left": "delete_left",
    "delete-right": "delete_right",
    "delete-word-left": "delete_word_left",
    "delete-word-right": "delete_word_right",
    "delete-to-start": "delete_to_start_of_line",
    "delete-to-end": "delete_to_end_of_line_or_delete_line",
    "delete-line": "delete_line",
    "cut": "cut",
    "copy-text": "copy",
    "undo": "undo",
    "redo": "redo",
}
"""What Textual calls each action of ours."""
