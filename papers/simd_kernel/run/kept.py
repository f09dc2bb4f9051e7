# SPDX-License-Identifier: Apache-2.0
"""Records of a long measurement in the lab, written to disk while it runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from okosu.errors import OkosuError
from okosu.records import files
from okosu.records.types import Record

Say = Callable[[str], None]


class Kept:
    """Records in a file that is written as they come, so that an interruption loses only the step that was running.

    `where` is the file; None or "-" means a file with a new name of the kind `kind` among the user's records.
    """

    def __init__(self, schema: str, where: str | None, kind: str) -> None:
        self.schema, self.records = schema, list[Record]()
        self.path = files.default_path(kind, "uml") if where in (None, "-") else Path(str(where))

    def take(self, measured: Iterator[Record]) -> bool:
        """Collect all records, and write them however the measurement ends; true where it was interrupted."""
        try:
            for record in measured:
                self.records.append(record)
        except KeyboardInterrupt:
            return True
        finally:
            self.write()
        return False

    def before(self, say: Say) -> Say:
        """A `Say` that first writes the file and then prints its line; a measurement announces each of its steps with
        it.
        """

        def both(text: str) -> None:
            self.write()
            say(text)

        return both

    def text(self) -> str:
        """The records as JSON."""
        return json.dumps({"schema": self.schema, "records": msgspec.to_builtins(self.records)}, indent=2)

    def write(self) -> None:
        """Replace the file, if anything was measured; OkosuError where that fails."""
        if not self.records:
            return
        try:
            files.replace(self.path, f"{self.text()}\n".encode())
        except OSError as error:
            raise OkosuError(f"{self.path}: {error.strerror}", "", "--json FILE that can be written") from error
