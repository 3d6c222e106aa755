"""The file that is being made."""
import fcntl
import hashlib
import json
import os

from common import CHUNK, Failure


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(CHUNK), b""):
            digest.update(piece)
    return digest.hexdigest()


class Part:
    """What is there of the file already: FILE.part, and FILE.part.json saying what it is a part of."""

    def __init__(self, to, url):
        """Takes the file for itself: two downloads of it at a time are a Failure."""
        self.to, self.url = to, url
        self.path, self.notes = to + ".part", to + ".part.json"
        self.kept = to + ".json"
        self.file = open(self.path, "ab", buffering=0)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure("%s is being downloaded already" % to, "Wait for the other one")
        self.state = self.read(self.notes)
        self.done = os.fstat(self.file.fileno()).st_size
        if self.validator() is None:
            self.start_anew({})
        self.sum, self.summed = hashlib.sha256(), 0

    def read(self, path):
        try:
            with open(path) as file:
                state = json.load(file)
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) and state.get("url") == self.url else {}

    def validator(self):
        """What If-Range may say: a strong ETag, else a date."""
        etag = self.state.get("etag") or ""
        return etag if etag.startswith('"') else self.state.get("modified")

    def start_anew(self, state):
        self.file.truncate(0)
        self.done = 0
        self.sum, self.summed = hashlib.sha256(), 0
        self.note(state)

    def note(self, state):
        self.state = dict(state, url=self.url)
        with open(self.notes + ".new", "w") as file:
            json.dump(self.state, file)
        os.rename(self.notes + ".new", self.notes)

    def add(self, piece):
        """Appends it. OSError where the disk is full; `done` counts what is there even so."""
        while piece:
            count = self.file.write(piece)
            if self.summed == self.done:
                self.sum.update(piece[:count])
                self.summed += count
            self.done += count
            piece = piece[count:]

    def digest(self):
        """SHA-256 in hex, from what was counted on the way where nothing was there before."""
        return self.sum.hexdigest() if self.summed == self.done else sha256_of(self.path)

    def finish(self):
        os.fsync(self.file.fileno())
        os.rename(self.path, self.to)
        os.rename(self.notes, self.kept)

    def unfinished(self):
        """What is known of a file without notes: a process ended between renaming and noting it."""
        whole = self.state if self.state.get("total") == os.path.getsize(self.to) else {}
        if whole:
            os.rename(self.notes, self.kept)
        return whole

    def drop(self):
        for path in (self.path, self.notes):
            if os.path.exists(path):
                os.unlink(path)
