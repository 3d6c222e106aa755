# What a stage has put into a folder: `.trainyard-stage` there, one JSON array a line, written line by line as files come and anew at the
# end (docs/contracts/staging.md). A file is looked at by size and time; its sums are those that the source made of it.

FILE, LINK, FOLDER, PARTIAL, OPEN = "f", "l", "d", "p", "o"


class Entry:
    """A file as it was put there. `durable`: its bytes are known to be on the disk."""

    def __init__(self, size, modified, changed, here, sums, durable):
        self.size, self.modified, self.changed, self.here, self.sums, self.durable = size, modified, changed, here, sums, durable

    def is_of(self, file):
        return file[1:4] == [self.size, self.modified, self.changed] and self.changed != 0

    def is_here(self, info):
        return stat.S_ISREG(info.st_mode) and (info.st_size, info.st_mtime_ns) == (self.size, self.here)

    def has_sums(self, path):
        """Reads all of it."""
        with open(path, "rb") as file:
            read = (sum_of(read_part(file.fileno(), self.size, part)) for part in range(parts_of(self.size)))
            return b"".join(read) == self.sums


class Record:
    def __init__(self, root):
        self.root = root
        self.path = os.path.join(root, STAGE_NAME)
        self.files, self.links, self.folders = {}, {}, set()
        self.partial = None  # [name, size, mtime, ctime] of the file that was not whole yet
        self.durable = True
        self.output = None
        self.seen = None
        self.load()

    def load(self):
        try:
            with open(self.path, "rb") as file:
                self.seen = self.mark(os.fstat(file.fileno()))
                for line in file:
                    self.take(line)
        except FileNotFoundError:
            pass

    def take(self, line):
        try:
            kind, *fields = json.loads(line.decode())
        except (ValueError, TypeError):
            return  # empty, or cut short as its writer was killed
        if kind == FILE:
            self.files[fields[0]] = Entry(*fields[1:5], bytes.fromhex(fields[5]), self.durable)
        elif kind == LINK:
            self.links[fields[0]] = fields[1]
        elif kind == FOLDER:
            self.folders.add(fields[0])
        elif kind == PARTIAL:
            self.partial = fields
        elif kind == OPEN:
            self.durable = False

    def mark(self, info):
        return (info.st_ino, info.st_size, info.st_mtime_ns)

    def is_as_seen(self):
        try:
            return self.mark(os.stat(self.path)) == self.seen
        except FileNotFoundError:
            return self.seen is None

    def open(self):
        self.durable = False
        self.output = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        self.write(b"\n", OPEN)

    def write(self, before, kind, *fields):
        put_all(self.output, before + self.line(kind, *fields))

    def line(self, kind, *fields):
        return json.dumps([kind] + list(fields), separators=(",", ":")).encode() + b"\n"

    def add_file(self, name, entry):
        """Before it has its name: a kill between the two leaves a line without a file, which is no harm."""
        self.files[name] = entry
        self.write(b"", FILE, *self.fields(name, entry))

    def fields(self, name, entry):
        return name, entry.size, entry.modified, entry.changed, entry.here, entry.sums.hex()

    def add_link(self, name, target):
        self.links[name] = target
        self.write(b"", LINK, name, target)

    def add_folder(self, name):
        self.folders.add(name)
        self.write(b"", FOLDER, name)

    def begin(self, file):
        self.partial = file[:4]
        self.write(b"", PARTIAL, *self.partial)

    def save(self, durable):
        """In the place of all that was written."""
        aside = self.path + ".new"
        lines = [] if durable else [self.line(OPEN)]
        lines += [self.line(FOLDER, name) for name in sorted(self.folders)]
        lines += [self.line(LINK, name, target) for name, target in self.links.items()]
        with open(aside, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.writelines(lines)
            file.writelines(self.line(FILE, *self.fields(name, entry)) for name, entry in self.files.items())
            file.flush()
            os.fsync(file.fileno())
        os.rename(aside, self.path)

    def close(self):
        if self.output is not None:
            os.close(self.output)
            self.output = None


def put_all(descriptor, data):
    data = memoryview(data)
    while data:
        data = data[os.write(descriptor, data):]
