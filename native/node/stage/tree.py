# A folder as staging sees it (docs/contracts/staging.md): names, sizes and times of what is to be on each node, and its bytes in parts.
# Names are text of one character for each byte, since a file's name need not be UTF-8.

PART = 4 << 20  # bytes of a file that have a sum of their own
YOUNG = 2 * 10**9  # nanoseconds: who changes a file within them may leave no trace in its times
READERS = 4
AHEAD = 8  # parts that are read before they are wanted
DATA, CHANGED, FAILED, WAIT = b"D", b"C", b"F", b"W"
STAGE_NAME = ".trainyard-stage"


def wire_name(path):
    return os.fsencode(path).decode("latin-1")


def local_name(name):
    return os.fsdecode(name.encode("latin-1"))


def shown_name(name):
    return name.encode("latin-1").decode("utf-8", "replace")


def parts_of(size):
    """An empty file has one too."""
    return max(1, -(-size // PART))


def part_bytes(size, part):
    return min(PART, size - part * PART)


def sum_of(data):
    import hashlib

    return hashlib.sha256(data).digest()


def read_part(descriptor, size, part):
    """As far as there is something."""
    length = part_bytes(size, part)
    data = os.pread(descriptor, length, part * PART)
    while len(data) < length:
        more = os.pread(descriptor, length - len(data), part * PART + len(data))
        if not more:
            break
        data += more
    return data


class Tree:
    """`files`: [name, size, mtime, ctime, mode], times in nanoseconds, ctime 0 for one that was changed a moment before; `links`:
    [name, target]; `folders`: names."""

    def __init__(self, data, single=None):
        import zlib

        self.data = data
        self.id = hash_of(data)
        value = json.loads(zlib.decompress(data).decode())
        self.files, self.links, self.folders = value["files"], value["links"], value["folders"]
        if single is not None:
            self.files[0][0] = wire_name(single)
        for name in [entry[0] for entry in self.files + self.links] + self.folders:
            if LEADS_OUT.search(name):
                raise Refused("%s leads out of the folder" % shown_name(name), REPORT)


class Listing:
    """Walks over a folder. A link to a place inside of it stays a link; any other stands for what it leads to."""

    def __init__(self, root):
        self.root = root
        self.files, self.links, self.folders, self.left_out = [], [], [], []
        self.patience = Patience()

    def walk(self):
        info = os.stat(self.root)
        waiting = [("", {(info.st_dev, info.st_ino)})]
        while waiting:
            prefix, above = waiting.pop()
            folders = []
            for name in sorted(os.listdir(os.path.join(self.root, prefix)), key=os.fsencode):
                self.patience.went_on()
                path = os.path.join(prefix, name)
                if not prefix and name.startswith(STAGE_NAME):
                    continue
                info = self.look(path)
                if info is None:
                    continue
                if stat.S_ISDIR(info.st_mode):
                    if (info.st_dev, info.st_ino) in above:
                        self.left_out.append(path)  # a link that leads back to where it is
                        continue
                    self.folders.append(wire_name(path))
                    folders.append((path, above | {(info.st_dev, info.st_ino)}))
                elif stat.S_ISREG(info.st_mode):
                    self.add(path, info)
                else:
                    self.left_out.append(path)
            waiting += reversed(folders)

    def look(self, path):
        """None where it is done, or gone meanwhile."""
        full = os.path.join(self.root, path)
        try:
            info = os.lstat(full)
            if not stat.S_ISLNK(info.st_mode):
                return info
            real = os.path.realpath(full)
            if not real.startswith(os.path.join(self.root, "")):
                return os.stat(full)
            os.stat(real)
        except FileNotFoundError:
            self.left_out.append(path)
            return None
        # `path` may lead through a link to a folder elsewhere, which is a real one on the nodes.
        self.links.append([wire_name(path), wire_name(os.path.relpath(real, os.path.dirname(full)))])
        return None

    def add(self, path, info):
        import time

        young = max(info.st_mtime_ns, info.st_ctime_ns) > time.time() * 1e9 - YOUNG
        self.files.append([wire_name(path), info.st_size, info.st_mtime_ns, 0 if young else info.st_ctime_ns, stat.S_IMODE(info.st_mode) & 0o777])

    def data(self):
        import zlib

        value = {"files": self.files, "links": self.links, "folders": self.folders}
        return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)


class TreeSource:
    """The bytes where they lie first. Some are read ahead, since a file system of the network answers late and many at a time."""

    def __init__(self, root, names, tree):
        self.root = root
        self.names = names  # as they are here
        self.tree = tree
        self.parts = {}  # of each file the sums of the parts that were sent

    def chunks(self, wanted):
        """(kind, data, sum) of each part of `wanted`, which are (number, part); nothing more of a file after CHANGED."""
        from collections import deque
        from concurrent.futures import ThreadPoolExecutor

        executor = ThreadPoolExecutor(READERS)
        ahead = deque()
        changed = None
        try:
            for number, part in wanted:
                ahead.append((number, part, executor.submit(self.read, number, part)))
                if len(ahead) < AHEAD:
                    continue
                changed = yield from self.give(ahead.popleft(), changed)
            while ahead:
                changed = yield from self.give(ahead.popleft(), changed)
        finally:
            for _, _, future in ahead:
                future.cancel()
            executor.shutdown()

    def give(self, job, changed):
        number, part, future = job
        chunk = future.result()
        if number == changed:
            return changed
        known = self.parts.setdefault(number, {})
        known[part] = chunk[2]
        yield chunk
        return number if chunk[0] == CHANGED else None

    def digest(self):
        """Of the sums of all files; None where not all of them were made."""
        parts = [(number, part) for number, file in enumerate(self.tree.files) for part in range(parts_of(file[1]))]
        sums = [self.parts.get(number, {}).get(part) for number, part in parts]
        return sum_of(b"".join(sums)).hex() if all(sums) else None

    def read(self, number, part):
        _, size, modified, changed, _ = self.tree.files[number]
        try:
            descriptor = os.open(os.path.join(self.root, self.names[number]), os.O_RDONLY | os.O_NONBLOCK)
            try:
                data = read_part(descriptor, size, part)
                info = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except (FileNotFoundError, NotADirectoryError):
            return CHANGED, b"", b""
        except OSError as error:
            return FAILED, reason(error).encode("utf-8", "replace"), b""
        same = (info.st_size, info.st_mtime_ns) == (size, modified) and changed in (0, info.st_ctime_ns)
        if not same or len(data) != part_bytes(size, part):
            return CHANGED, b"", b""
        return DATA, data, sum_of(data)
