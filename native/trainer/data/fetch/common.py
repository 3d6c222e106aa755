"""What the parts of the downloader share: errors, and lines for whoever started it."""
import json
import sys

CHUNK = 1 << 18  # bytes read at once


class Failure(Exception):
    """What went wrong, and what to do: nothing that another try would mend."""

    def __init__(self, what, to_do, code=3):
        super().__init__("%s. %s" % (what, to_do))
        self.what, self.to_do = what, to_do
        self.code = code


class Passing(Exception):
    """Something that may go by itself. `wait`: seconds that the server asked for."""

    def __init__(self, what, wait=0):
        super().__init__(what)
        self.wait = wait


class Again(Exception):
    """Ask once more, at once: what is known of the file or its place has changed."""


def say(kind, **fields):
    fields["kind"] = kind
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def megabytes(count):
    return "%.1f MB" % (count / 1e6)
