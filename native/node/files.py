# Files of a run's folder for the client (docs/contracts/programs.md): what a path there names,
# with sizes and SHA-256.
# The bytes come by the agent's file.read. Names are text in UTF-8, as the agent takes them.

MOST_FILES = 100000
MOST_ANSWER = 400000  # characters of names and sums in one answer; a line holds 1 MiB
MOST_SHOWN = 20
SUM_CHUNK = 1 << 20


def utf8_name(path):
    """Also where Python's own encoding of names is another one. UnicodeDecodeError where it is no
    UTF-8."""
    return os.fsencode(path).decode("utf-8")


def name_for_people(path):
    return os.fsencode(path).decode("utf-8", "replace")


def is_below(path, folder):
    return path == folder or path.startswith(os.path.join(folder, ""))


def is_missing(path):
    """A link to nothing too."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


class RunFiles:
    """What was asked for last: `files` are [name below the folder, path, size]."""

    def __init__(self):
        self.files, self.left_out = [], []

    def look(self, params):
        run = os.path.realpath(expand(params["dir"]))
        path = os.fsdecode(params["path"].encode())
        places = self.places(run, os.path.normpath(os.path.expanduser(path) if path.startswith("~/") else path))
        place = next((one for one in places if not is_missing(one)), None)
        if not places or place is not None and not is_below(os.path.realpath(place), run):
            return {"state": "outside"}
        if place is None:
            return self.missing(run, places)
        info = os.stat(place)
        is_folder = stat.S_ISDIR(info.st_mode)
        if not is_folder and not stat.S_ISREG(info.st_mode):
            return {"state": "special"}
        self.files, self.left_out = [], []
        if is_folder:
            self.walk(run, place)
        else:
            self.files.append((utf8_name(os.path.basename(place)), place, info.st_size))
        return {
            "state": "there",
            "folder": utf8_name(place if is_folder else os.path.dirname(place)),
            "isFolder": is_folder,
            "leftOut": [name_for_people(name) for name in self.left_out[:5]],
            "leftOutCount": len(self.left_out),
        }

    def places(self, run, path):
        """Where it may be, the likelier one first; none where it leads out of the run's folder."""
        if os.path.isabs(path):
            return [path] if is_below(os.path.realpath(path), run) else []
        if path.split(os.sep)[0] == "..":
            return []
        # An own program with code starts in `code`, and writes there.
        above = [("code",), ()] if path != "." else [()]
        return [os.path.normpath(os.path.join(run, *each, path)) for each in above]

    def missing(self, run, places):
        """With what the nearest folder above it has; of two that are as near, the program's own."""
        found = []
        for place in places:
            folder = os.path.dirname(place)
            while is_missing(folder) and folder != os.path.dirname(folder):
                folder = os.path.dirname(folder)
            real = os.path.realpath(folder)
            if os.path.isdir(real) and is_below(real, run):
                left = place[len(folder):].count(os.sep)
                found.append((left, real))
        if not found:
            return {"state": "missing", "near": "", "there": [], "thereCount": 0}
        folder = min(found, key=lambda one: one[0])[1]
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        names = [name_for_people(entry.name) + ("/" if entry.is_dir() else "") for entry in entries]
        near = "" if folder == run else name_for_people(os.path.relpath(folder, run))
        return {"state": "missing", "near": near, "there": names[:MOST_SHOWN], "thereCount": len(names)}

    def walk(self, run, root):
        patience = Patience()

        def fail(error):
            if not isinstance(error, FileNotFoundError):  # else it went meanwhile
                raise error

        for folder, folders, names in os.walk(root, onerror=fail):
            folders.sort()
            for name in sorted(names + [one for one in folders if os.path.islink(os.path.join(folder, one))]):
                patience.went_on()
                self.add(run, root, os.path.join(folder, name))
                if len(self.files) > MOST_FILES:
                    what = "%s has more than %d files" % (name_for_people(root), MOST_FILES)
                    raise Refused(what, "Name a folder in it, or pack them into one file first")

    def add(self, run, root, path):
        """A link counts as the file that it leads to, where that is in the run's folder."""
        name = os.path.relpath(path, root)
        try:
            info = os.stat(path)
            if stat.S_ISREG(info.st_mode) and is_below(os.path.realpath(path), run):
                self.files.append((utf8_name(name), path, info.st_size))
                return
        except UnicodeDecodeError:
            pass  # the agent could not be asked for it
        except OSError:
            if not os.path.islink(path) and os.path.lexists(path):
                raise
        self.left_out.append(name)

    def sums(self, params):
        """Of the files from number `start` on, as many as fit into an answer: [name, size,
        SHA-256]. `gone` were there a moment before."""
        at = params["start"]
        before = sum(size for _, _, size in self.files[:at])
        said = ReadSoFar(before, sum(size for _, _, size in self.files))
        files, gone, length = [], [], 0
        while at < len(self.files) and length < MOST_ANSWER:
            name, path, _ = self.files[at]
            try:
                size, total = file_sum(path, said)
                files.append([name, size, total])
            except FileNotFoundError:
                gone.append(name)
            length += 6 * len(name) + 100  # as JSON writes it
            at += 1
        return {"files": files, "gone": gone, "next": at if at < len(self.files) else None}


class ReadSoFar:
    """Says once a second how much was read. A client takes that for a sign of life."""

    def __init__(self, done, total):
        import time

        self.now = time.monotonic
        self.last = self.now()
        self.done, self.total = done, total

    def more(self, count):
        self.done += count
        if self.now() - self.last >= 1:
            self.last = self.now()
            progress("reading %.1f of %.1f MB for their SHA-256" % (self.done / 1e6, self.total / 1e6))


def file_sum(path, said):
    """Size and SHA-256 of what the file holds now: what a program appends meanwhile does not
    count."""
    import hashlib

    total = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        size = os.fstat(descriptor).st_size
        read = 0
        while read < size:
            data = os.read(descriptor, min(SUM_CHUNK, size - read))
            if not data:
                break  # it was cut short
            total.update(data)
            read += len(data)
            said.more(len(data))
        return read, total.hexdigest()
    finally:
        os.close(descriptor)


RUN_FILES = RunFiles()
FILES_OPERATIONS = {"look": RUN_FILES.look, "sums": RUN_FILES.sums}
