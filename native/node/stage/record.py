# What a stage has put into a folder: `.trainyard-stage` there, one JSON array a line, written line by line as files come and anew at the
# end (docs/contracts/staging.md). A file is looked at by size and time; its sums are those that the source made of it.
# Other users may be able to write into the folder. So a record is believed only where it is this
# user's own file, and no link is followed.

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
        if self.own_mark() is None:
            return
        with os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            info = os.fstat(file.fileno())
            if is_own(info, self.root):
                self.seen = self.mark(info)
                for line in file:
                    self.take(line)

    def own_mark(self):
        """None where there is no record, or somebody else's."""
        try:
            info = os.lstat(self.path)
        except FileNotFoundError:
            return None
        return self.mark(info) if is_own(info, self.root) else None

    def take(self, line):
        try:
            kind, *fields = json.loads(line.decode())
        except (ValueError, TypeError):
            return  # empty, or cut short as its writer was killed
        if fields and LEADS_OUT.search(fields[0]):
            return  # no stage writes such a name
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
        return self.own_mark() == self.seen

    def open(self):
        self.durable = False
        if self.seen is None:
            self.output = create(self.path)
        else:
            self.output = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
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
        with os.fdopen(create(aside), "wb") as file:
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


class Gone:
    """What earlier stages put there and `tree` no longer has. Only what is as it was put there is
    looked at and removed."""

    def __init__(self, record, tree):
        self.record = record
        self.now = {file[0] for file in tree.files}
        links = {link[0] for link in tree.links}
        self.files = [name for name in record.files if name not in self.now]
        self.links = [name for name in record.links if name not in links]
        self.folders = sorted(record.folders - set(tree.folders), key=len, reverse=True)

    def count(self):
        return len(self.files) + len(self.links)

    def infos(self):
        """Of the files."""
        found = (self.in_folder(name, self.file_info) for name in self.files)
        return [info for info in found if info]

    def remove(self):
        for name in self.files:
            self.in_folder(name, self.remove_file)
            del self.record.files[name]
        for name in self.links:
            if name not in self.now:
                self.in_folder(name, self.remove_link)
            del self.record.links[name]
        for name in self.folders:
            self.in_folder(name, self.remove_folder)
            self.record.folders.discard(name)

    def in_folder(self, name, act):
        """What `act` returns, given the name, its last part and the descriptor of its folder. None
        where it is not there, or a link leads to it."""
        *above, own = local_name(name).split(os.sep)
        folder = open_below(self.record.root, above)
        if folder is None:
            return None
        try:
            return act(name, own, folder)
        except FileNotFoundError:
            return None
        finally:
            os.close(folder)

    def file_info(self, name, own, folder):
        info = os.lstat(own, dir_fd=folder)
        return info if self.record.files[name].is_here(info) else None

    def remove_file(self, name, own, folder):
        if self.file_info(name, own, folder):
            os.unlink(own, dir_fd=folder)

    def remove_link(self, name, own, folder):
        is_link = stat.S_ISLNK(os.lstat(own, dir_fd=folder).st_mode)
        if is_link and os.readlink(own, dir_fd=folder) == local_name(self.record.links[name]):
            os.unlink(own, dir_fd=folder)

    def remove_folder(self, _, own, folder):
        try:
            os.rmdir(own, dir_fd=folder)
        except OSError:
            pass  # something of somebody else's is in it


def open_below(root, names):
    """The descriptor of a folder that is reached from `root` without a link, or None."""
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for name in names:
        above = at
        try:
            at = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        except OSError:
            return None
        finally:
            os.close(above)
    return at


def is_own(info, folder):
    """Whether it is a file that this user alone may write. Some network file systems show one
    owner and one mode for all files. So any other file is compared with a new one."""
    if not stat.S_ISREG(info.st_mode):
        return False
    if info.st_uid == os.getuid() and info.st_mode & 0o022 == 0:
        return True
    new = info_of_new(folder)
    return new is not None and (new.st_uid, new.st_mode) == (info.st_uid, info.st_mode)


def info_of_new(folder):
    """None where none can be made."""
    path = os.path.join(folder, ".trainyard.partial-" + os.urandom(8).hex())
    try:
        descriptor = create(path)
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)
            os.unlink(path)
    except OSError:
        return None


def create(path):
    """A new file, in the place of what lies there. No link is followed."""
    if os.path.lexists(path):
        os.unlink(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)


def put_all(descriptor, data):
    data = memoryview(data)
    while data:
        data = data[os.write(descriptor, data):]
