# What Trainyard runs on a node before anything of it is there: these files, one after the other as src/core/nodes/payload.ts orders
# them, come over the connection as one program and are never written to disk. It talks in JSON lines: an answer to each request, progress in between, and raw bytes after `install` and `unpack`.
# Plain Python 3.6, so that a node whose Python is too old for training can still say so.
# What only some requests need is imported there: most channels only become another program, and start in a third of the time.
import json
import os
import signal
import stat
import sys

CHUNK = 1 << 20
USERS_UMASK = os.umask(0o077)


class Refused(Exception):
    """What is wrong with this node, and what to do about it."""

    def __init__(self, what, hint, remedy=None):
        Exception.__init__(self, what)
        self.what = what
        self.hint = hint
        self.remedy = remedy  # "wheels": the client may bring the packages itself; "direct": it may send the files itself


def say(message):
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


def partial_of(target):
    return os.path.join(os.path.dirname(target), ".%s.partial-%d-%s" % (os.path.basename(target), os.getpid(), start_time(os.getpid())))


def start_time(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None


def remove_dead_partials(target):
    """Leftovers of transfers whose process is gone. True when one is still at work."""
    prefix = ".%s.partial-" % os.path.basename(target)
    folder = os.path.dirname(target)
    busy = False
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if not name.startswith(prefix):
            continue
        pid, _, started = name[len(prefix):].partition("-")
        if pid.isdigit() and start_time(int(pid)) == started.partition("-")[0]:
            busy = True
        else:
            import shutil

            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    return busy


def make_whole(target, fill, is_whole=os.path.isdir):
    """A folder that appears whole or not at all: `fill` works on another one beside it. Where the same was made meanwhile, that stays."""
    import shutil

    partial = partial_of(target)
    try:
        os.mkdir(partial, 0o700)
        fill(partial)
        if os.path.lexists(target) and not is_whole(target):
            os.rename(target, partial + "-old")
        try:
            os.rename(partial, target)
        except OSError:
            if not is_whole(target):
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(partial + "-old", ignore_errors=True)
