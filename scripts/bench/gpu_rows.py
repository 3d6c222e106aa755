"""The rows that bench:gpu has so far."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
from gpu_table import markdown  # noqa: E402
from kept import KeptReport  # noqa: E402


def key(row):
    return row["precision"], row["batch"], row["program"]


class Rows(KeptReport):
    def __init__(self, folders, about, versions):
        super().__init__(folders, "bench-gpu", about, markdown)
        self.report |= {"versions": versions, "rows": []}

    def open(self, goes_on):
        super().open(("rows",), goes_on)

    def shown(self, again):
        """Keys of the rows that are there; without those that failed where they are to be measured again."""
        return {key(row) for row in self.report["rows"] if not (again and "failure" in row)}

    def begin(self, words):
        self.report["running"] = words
        self.write()

    def end(self, row, place):
        """Takes the place of an earlier row of the same key; `place` of a key says where it stands in the table."""
        rows = {key(one): one for one in self.report["rows"]} | {key(row): row}
        self.report["rows"] = sorted(rows.values(), key=lambda one: place(key(one)))
        self.report["running"] = None
        self.write()

    def finish(self, left_out, go_on):
        self.report |= {"finished": not left_out, "left_out": left_out, "go_on": go_on}
        self.write()
