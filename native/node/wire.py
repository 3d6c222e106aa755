# What Trainyard runs on a node before anything of it is there: these files, one after the other as src/core/setup/payload.ts orders
# them, come over the connection as one program and are never written to disk. It talks in JSON lines: an answer to each request, progress in between, and raw bytes after `install` and `unpack`.
# Plain Python 3.6, so that a node whose Python is too old for training can still say so.
# What only some requests need is imported there: most channels only become another program, and start in a third of the time.
import _thread
import json
import os
import signal
import stat
import sys

CHUNK = 1 << 20
SAYING = _thread.allocate_lock()  # a sign of life comes from a thread of its own
USERS_UMASK = os.umask(0o077)


class Refused(Exception):
    """What is wrong with this node, and what to do about it."""

    def __init__(self, what, hint, remedy=None):
        Exception.__init__(self, what)
        self.what = what
        self.hint = hint
        self.remedy = remedy  # "wheels": the client may bring the packages itself; "direct": it may send the files itself


def say(message):
    with SAYING:
        write_line(message)


def write_line(message):
    data = (json.dumps(message) + "\n").encode()
    while data:
        data = data[os.write(1, data):]


def read_line():
    # Byte by byte: what follows belongs to the program that `serve` or `run` turns into.
    line = bytearray()
    while True:
        byte = os.read(0, 1)
        if byte == b"\n":
            return bytes(line)
        if not byte:
            sys.exit(0)
        line += byte


def read_exactly(count, take):
    while count > 0:
        data = os.read(0, min(count, CHUNK))
        if not data:
            raise Refused("the connection ended in the middle of a file", "Try again")
        take(data)
        count -= len(data)


def progress(text):
    say({"progress": text})


def expand(path):
    full = os.path.expanduser(path)
    if not os.path.isabs(full):
        raise Refused("%s is not an absolute path" % path, "Write it with a leading / or ~/")
    return os.path.normpath(full)


def make_private(folder):
    missing = []
    at = folder
    while not os.path.isdir(at):
        missing.append(at)
        at = os.path.dirname(at)
    for one in reversed(missing):
        try:
            os.mkdir(one, 0o700)
        except FileExistsError:
            pass


def reason(error):
    return "%s: %s" % (error.filename, error.strerror) if error.filename else str(error)
