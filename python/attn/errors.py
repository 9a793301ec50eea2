"""What calls of this package raise."""

from __future__ import annotations


class Error(Exception):
    """A call was refused or failed; the text is that of the C interface where it has one.

    `status` is "refused", "bad data", "no memory", "bad file", "bad device" or "internal"."""

    def __init__(self, text: str, status: str = "refused") -> None:
        super().__init__(text)
        self.status = status


class CompileError(Error):
    """attnc did not compile a source; the text is what it printed, diagnostics and all."""


# By attn_status.
STATUSES = {1: "refused", 2: "bad data", 3: "no memory", 4: "bad file", 5: "bad device",
            70: "internal"}
