"""What the proof has shown so far."""

from kept import KeptReport
from report import markdown


class Progress(KeptReport):
    """`known`: all parts' names, in their order."""

    def __init__(self, folders, known, about):
        super().__init__(folders, "gpu-proof", about, markdown)
        self.known = known
        self.report |= {"versions": {}, "parts": []}

    def open(self, goes_on):
        super().open(("versions", "parts"), goes_on)

    def entries(self):
        return {entry["part"]: entry for entry in self.report["parts"]}

    def holds(self, names):
        """Whether all of these ran, and held or said why they are not here."""
        entries = self.entries()
        return all(name in entries and (entries[name]["ok"] or "why_not" in entries[name]) for name in names)

    def begin(self, name):
        self.report["running"] = name
        self.write()

    def end(self, entry):
        """Takes the place of what an earlier run of this part said."""
        entries = self.entries() | {entry["part"]: entry}
        self.report["parts"] = [entries[name] for name in self.known if name in entries]
        self.report["running"] = None
        self.write()

    def break_off(self):
        """The part that began has not run after all."""
        self.report["running"] = None
        self.write()

    def leave_out(self, names, why, go_on):
        self.report["left_out"], self.report["go_on"] = [{"part": name, "why": why} for name in names], go_on
        self.write()

    def write(self):
        entries = self.entries()
        missing = [name for name in self.known if name not in entries]
        self.report |= {"not_shown": missing, "finished": not missing and self.report["running"] is None}
        self.report["ok"] = self.report["finished"] and self.holds(self.known)
        super().write()
