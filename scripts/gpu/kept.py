"""A report that is kept on disk, whole, while it grows. A call may go on with what an earlier one found."""

import datetime
import json

from processes import write_whole


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


class KeptReport:
    """NAME.json and NAME.md in each folder; the first one's is gone on with. `about` is what two calls must have in
    common for their findings to stand in one report."""

    def __init__(self, folders, name, about, markdown):
        self.folders, self.name, self.about, self.markdown = folders, name, about, markdown
        self.report = {"date": now(), "updated": now(), **about, "finished": False, "running": None, "left_out": [], "go_on": None}
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)

    def take_over(self, fields):
        """These fields of the report in the first folder. Returns why not, where there is one of something else."""
        try:
            earlier = json.loads((self.folders[0] / f"{self.name}.json").read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as failure:
            return f"it cannot be read ({failure})"
        # Who only builds may know no GPU.
        differs = [name for name, text in self.about.items() if earlier.get(name, text) != text]
        if differs:
            return f"it is of other {' and '.join(differs)}"
        self.report |= {field: earlier[field] for field in ("date", *fields)}
        return None

    def set_aside(self):
        """Keeps the report that is there under another name, which it returns; None without one."""
        kept = None
        for ending in ("md", "json"):
            there = self.folders[0] / f"{self.name}.{ending}"
            if there.exists():
                kept = there.replace(there.with_stem(f"{self.name}-before"))
        return kept

    def open(self, fields, goes_on):
        """Goes on with the report that is there, or keeps it under another name and says so."""
        why = self.take_over(fields) if goes_on else "this call begins anew"
        kept = self.set_aside() if why is not None else None
        if kept is not None:
            print(f"the report that was there is now {kept}: {why}", flush=True)

    def write(self):
        self.report["updated"] = now()
        for folder in self.folders:
            write_whole(folder / f"{self.name}.json", json.dumps(self.report, indent=1) + "\n")
            write_whole(folder / f"{self.name}.md", self.markdown(self.report))
