"""The two kinds of value: `Plain`, and `Value` with a tag, so that a union of them can be read back.

Both are frozen structs: equal content is equal, identity and time belong to the log entry. A struct costs
a thirtieth of a dataclass to define and to read from JSON, which is what start-up and resume consist of.
"""

from __future__ import annotations

import msgspec


class Plain(msgspec.Struct, frozen=True, omit_defaults=True):
    """A frozen value without a tag."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """A frozen value; its JSON carries `kind`, the tag given with the class."""


def kind_of(value: msgspec.Struct) -> str:
    """The tag of a value."""
    return str(type(value).__struct_config__.tag)
