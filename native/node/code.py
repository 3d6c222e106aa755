# The user's code, by content (docs/contracts/code.md): blobs in `<workdir>/code`, and a folder of links for each run. A snapshot is a
# manifest, whose SHA-256 is its name. What a node lacks comes in one stream without names or sizes, since the manifest has both.
import re

MARK = 946684800  # the modification time of a blob that is whole
KEPT = 128 << 20  # bytes of a stream that are kept for other nodes
PASSED_ON = 256 << 10  # bytes of a write to the next node; a read of the channel gives at most 32 KiB
DAY = 24 * 3600
TIDYING = 1  # seconds, at most
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
RUN_MARK = "made-by-trainyard"
OF_CODE = ("code", "code.json", "code.diff", RUN_MARK)


def hash_of(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()


HASH = re.compile(r"[0-9a-f]{64}\Z")
# An absolute path, one with an empty part, `.` or `..`, or with a zero byte.
LEADS_OUT = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)|\0")


def is_hash(text):
    return isinstance(text, str) and HASH.match(text) is not None


def boot_time():
    with open("/proc/stat") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("btime ")), 0)


class Manifest:
    """`files`: [path, whether it is a program, size, SHA-256]; `links`: [path, target]. Blobs are numbered as `files` first has them."""

    def __init__(self, data):
        self.data = data
        value = json.loads(data.decode())
        self.files = value["files"]
        self.links = value["links"]
        self.blobs = list({blob_name(file): file[2] for file in self.files}.items())
        self.folders = self.folders_of([entry[0] for entry in self.files + self.links])
        if not all(is_hash(file[3]) for file in self.files):
            raise Refused("the list of the code's files is damaged", REPORT)

    def folders_of(self, paths):
        found = set()
        for path in paths:
            if LEADS_OUT.search(path):
                raise Refused("%s leads out of the code folder" % path, REPORT)
            above = path.rpartition("/")[0]
            while above and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return sorted(found)


def blob_name(file):
    return file[3] + ("x" if file[1] else "")


class Store:
    """`<workdir>/code`."""

    def __init__(self, workdir):
        import hashlib

        self.workdir = expand(workdir)
        self.root = os.path.join(self.workdir, "code")
        self.boot = boot_time()
        self.read = None  # the manifest that was read last
        self.sha256 = hashlib.sha256

    def make(self):
        make_own(self.root)
        for name in ["snapshots"] + ["blobs/%02x" % number for number in range(256)]:
            if not os.path.isdir(os.path.join(self.root, name)):
                make_private(os.path.join(self.root, name))

    def blob(self, name):
        return "%s/blobs/%s/%s" % (self.root, name[:2], name[2:])

    def snapshot(self, name):
        return os.path.join(self.root, "snapshots", name)

    def manifest(self, name):
        """None where it is not known, or another file."""
        try:
            with open(self.snapshot(name), "rb") as file:
                data = file.read()
            os.utime(self.snapshot(name))  # it is in use: nobody tidies it away
        except FileNotFoundError:
            return None
        if hash_of(data) != name:
            return None
        if self.read is None or self.read.data != data:
            self.read = Manifest(data)
        return self.read

    def keep(self, name, data):
        self.make()
        if hash_of(data) != name:
            raise Refused("the list of the code's files arrived with another checksum", "Try again")
        put_file(self.snapshot(name), data, 0o400)

    def names(self):
        """Of all blobs, whole or not."""
        top = os.path.join(self.root, "blobs")
        starts = os.listdir(top) if os.path.isdir(top) else []
        return {start + rest for start in starts for rest in os.listdir(os.path.join(top, start))}

    def lacks(self, manifest):
        """The numbers of the blobs that are not whole here, as [first, last] each."""
        ranges = []
        there = self.names()
        for number, (name, size) in enumerate(manifest.blobs):
            if name in there and is_whole_blob(self.blob(name), name[:64], size, self.boot):
                continue
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        return ranges

    def write(self, name, size, stream):
        output = self.create(self.blob(name), 0o500 if len(name) > 64 else 0o400)
        try:
            digest = self.sha256()
            while size > 0:
                part = stream.some(size)
                digest.update(part)
                size -= len(part)
                while part:
                    part = part[os.write(output, part):]
            if digest.hexdigest() != name[:64]:
                raise Refused("a file of the code arrived with another checksum", "It may have changed meanwhile: try again", "direct")
            os.utime(output, (MARK, MARK))
        finally:
            os.close(output)

    def create(self, path, mode):
        try:
            return os.open(path, NEW_FILE, mode)
        except FileExistsError:
            os.unlink(path)  # cut short, or changed since
            return os.open(path, NEW_FILE, mode)

    def receive(self, manifest, ranges, stream):
        """Blobs as they come. One node at a time writes where several see one disk."""
        lease = Lease(os.path.join(self.root, "blobs"), "the code")
        lease.hold()
        try:
            with Beats(lease.renew):
                for first, last in ranges:
                    for name, size in manifest.blobs[first : last + 1]:
                        self.write(name, size, stream)
        finally:
            lease.release()


def is_whole_blob(path, digest, size, boot):
    """By size and time; read and compared when it is from before this machine started, for then power may have failed before its bytes were
    on the disk. Whoever writes into it changes the time."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return False
    if info.st_size != size or info.st_mtime_ns != MARK * 10**9 or not stat.S_ISREG(info.st_mode):
        return False
    return info.st_ctime >= boot or digest_of(path) == digest


def put_file(path, data, mode):
    partial = "%s.tmp-%d" % (path, os.getpid())
    try:
        os.unlink(partial)
    except FileNotFoundError:
        pass
    output = os.open(partial, NEW_FILE, mode)
    with os.fdopen(output, "wb") as file:
        file.write(data)
    os.rename(partial, path)


class ChannelStream:
    """Bytes that the client sends, and a copy of them for other nodes."""

    def __init__(self, size, shared):
        self.left = size
        self.shared = shared
        self.chunk = memoryview(bytearray(CHUNK))
        self.rest = self.chunk[:0]

    def some(self, most):
        if not self.rest:
            count = os.readv(0, [self.chunk[: min(self.left, CHUNK)]])
            if count == 0:
                raise Refused(CUT_SHORT, "Try again")
            self.left -= count
            self.rest = self.chunk[:count]
            self.shared.add(self.rest)
        part = self.rest[:most]
        self.rest = self.rest[len(part):]
        return part


class FrameStream:
    """Bytes of another node."""

    def __init__(self, reader):
        self.reader = reader
        self.chunk = memoryview(bytearray(CHUNK))
        self.rest = self.chunk[:0]

    def some(self, most):
        if not self.rest:
            count = self.reader(self.chunk)
            if count == 0:
                raise Refused(CUT_SHORT, "Try again", "direct")
            self.rest = self.chunk[:count]
        part = self.rest[:most]
        self.rest = self.rest[len(part):]
        return part


class Shared:
    """What a node is being sent. Others that lack the same get it as it comes."""

    def __init__(self, ranges, size):
        import threading

        self.ranges = ranges
        self.size = size
        self.pieces = []
        self.waiting = 0  # bytes that nobody was told of
        self.left = size
        self.is_over = size == 0
        self.is_broken = False
        self.changed = threading.Condition()

    def add(self, piece):
        if self.size > KEPT:
            return
        self.waiting += len(piece)
        self.left -= len(piece)
        with self.changed:
            self.pieces.append(bytes(piece))
            if self.waiting >= PASSED_ON or self.left == 0:
                self.waiting = 0
                self.changed.notify_all()

    def end(self, is_broken):
        with self.changed:
            self.is_over = True
            self.is_broken = is_broken
            self.changed.notify_all()

    def until_over(self):
        with self.changed:
            self.changed.wait_for(lambda: self.is_over)
        if self.is_broken:
            raise Refused(CUT_SHORT, "Try again", "direct")

    def follow(self, out):
        sent = left = 0
        left = self.size
        while left > 0:
            with self.changed:
                self.changed.wait_for(lambda: len(self.pieces) > sent or self.is_broken)
                pieces = self.pieces[sent:]
            if not pieces:
                raise Refused(CUT_SHORT, "Try again", "direct")
            sent += len(pieces)
            for piece in pieces:
                out.write(piece)
                left -= len(piece)
            out.flush()


class Code:
    """One snapshot on its way to this node, and on to others for as long as this process lives."""

    def __init__(self):
        self.store = None
        self.manifest = None
        self.ranges = []
        self.shared = Shared([], 0)
        self.whole = None  # the snapshot whose blobs this process has just put there

    def take(self, params):
        """The manifest, on standard input."""
        data = bytearray()
        read_exactly(params["bytes"], data.extend)
        self.store_of(params).keep(params["snapshot"], bytes(data))
        return self.look(params)

    def store_of(self, params):
        if self.store is None or self.store.workdir != expand(params["workdir"]):
            self.store = Store(params["workdir"])
        return self.store

    def look(self, params):
        self.store_of(params)
        self.whole = None
        with beats_of(params["workdir"]):
            self.manifest = self.store.manifest(params["snapshot"])
            if self.manifest is None:
                return {"state": "unknown", "lacks": []}
            self.ranges = self.store.lacks(self.manifest)
        self.shared = Shared(self.ranges, self.size_of(self.ranges))
        return {"state": "lacks" if self.ranges else "whole", "lacks": self.ranges}

    def size_of(self, ranges):
        return sum(size for first, last in ranges for _, size in self.manifest.blobs[first : last + 1])

    def blobs(self, params):
        """What `look` or `take` said is lacking, on standard input."""
        is_broken = True
        try:
            self.store.make()
            with beats_of(params["workdir"]):
                self.store.receive(self.manifest, self.ranges, ChannelStream(self.shared.size, self.shared))
            self.whole = params["snapshot"]
            is_broken = False
        finally:
            self.shared.end(is_broken)
        return {}

    def place(self, params):
        """The run's folder of code, where the snapshot is whole here."""
        run = run_folder(params)
        if is_placed(run, params["snapshot"]):
            return {"state": "placed", "lacks": [], "dir": run}
        found = {"state": "whole", "lacks": []} if self.whole == params["snapshot"] else self.look(params)
        if found["state"] == "whole":
            try:
                self.make_folder(run, params["snapshot"])
            except FileNotFoundError:  # a blob went meanwhile
                return dict(self.look(params), dir=run)
            found["state"] = "placed"
            tidy(self.store)
        return dict(found, dir=run)

    def make_folder(self, run, snapshot):
        make_run_folder(run)

        def done():
            put_link(self.store.snapshot(snapshot), os.path.join(run, "code.json"))

        make_once(os.path.join(run, "code"), "the code", lambda _: is_placed(run, snapshot), self.fill, done)

    def fill(self, folder):
        for name in self.manifest.folders:
            os.mkdir(os.path.join(folder, name), 0o700)
        start = folder + "/"
        for file in self.manifest.files:
            put_link(self.store.blob(blob_name(file)), start + file[0])
        for path, target in self.manifest.links:
            os.symlink(target, os.path.join(folder, path))

    def offer(self, params):
        """To every node that asks with the key, from now to the end of this process."""
        if self.manifest is None:
            self.manifest = self.store_of(params).manifest(params["snapshot"])
        if self.manifest is None:
            raise Refused("it no longer has the list of the code's files", "Send the code again", "direct")
        return offer_to_all(params, self.serve)

    def serve(self, asked, out):
        while True:
            request = message_of(asked)
            if "lacks" in request:
                self.send(request["lacks"], out)
                out.finish()
                return
            out.write(self.manifest.data)
            out.finish()

    def send(self, ranges, out):
        if ranges == self.shared.ranges and self.shared.size <= KEPT:
            return self.shared.follow(out)
        self.shared.until_over()
        for first, last in ranges:
            for name, _ in self.manifest.blobs[first : last + 1]:
                with open(self.store.blob(name), "rb") as file:
                    for part in iter(lambda: file.read(CHUNK), b""):
                        out.write(part)

    def fetch(self, params):
        """What is lacking here, from the node that offers it; then as `place`."""
        key = bytes.fromhex(params["key"])
        with beats_of(params["workdir"]):
            connection = reach(params["host"], params["port"])
            try:
                own = respond(connection, key)
                connection.settimeout(LONG)
                self.fetch_by(params, FrameWriter(connection, proof(own, b"asks")), FrameReader(connection, own))
            finally:
                connection.close()
        return self.place(params)

    def fetch_by(self, params, asks, reader):
        self.manifest = self.store_of(params).manifest(params["snapshot"])
        if self.manifest is None:
            asks.send(json.dumps({"manifest": True}).encode())
            self.store.keep(params["snapshot"], bytes(message_bytes(reader)))
            self.manifest = self.store.manifest(params["snapshot"])
        self.store.make()
        self.ranges = self.store.lacks(self.manifest)
        if self.ranges:
            asks.send(json.dumps({"lacks": self.ranges}).encode())
            self.store.receive(self.manifest, self.ranges, FrameStream(reader))
        self.whole = params["snapshot"]


def message_bytes(reader):
    data = bytearray()
    buffer = bytearray(CHUNK)
    while True:
        count = reader(buffer)
        if count == 0:
            return data
        data += buffer[:count]


def message_of(reader):
    buffer = bytearray(CHUNK)
    return json.loads(bytes(buffer[: reader(buffer)]).decode())


def put_link(source, path):
    """A link; a copy where there can be none: on another disk, or when a file has as many as its file system allows."""
    try:
        try:
            os.link(source, path)
        except FileExistsError:
            os.unlink(path)
            os.link(source, path)
    except FileNotFoundError:
        raise
    except OSError:
        import shutil

        shutil.copy2(source, path)


def run_folder(params):
    given = params.get("dir")
    return expand(given) if given else os.path.join(expand(params["workdir"]), "runs", params["id"])


def make_run_folder(run):
    is_new = not os.path.isdir(run)
    make_own(run)
    if is_new:
        put_file(os.path.join(run, RUN_MARK), b"This folder was made for a run, and goes with it.\n", 0o600)


def is_placed(run, snapshot):
    """Whether the run has the folder of this snapshot. After a start of the machine its files are read."""
    path = os.path.join(run, "code.json")
    try:
        with open(path, "rb") as file:
            data = file.read()
        since = os.stat(path).st_ctime
    except (FileNotFoundError, NotADirectoryError):
        return False
    if hash_of(data) != snapshot:
        return False
    boot = boot_time()
    if since >= boot:
        return os.path.isdir(os.path.join(run, "code"))
    return all(is_whole_blob(os.path.join(run, "code", file[0]), file[3], file[2], boot) for file in Manifest(data).files)


def code_note(params):
    """A text beside the code of the run: what of it was not committed."""
    put_file(os.path.join(run_folder(params), "code.diff"), params["text"].encode(), 0o600)
    return {}


def code_drop(params):
    """The folder of a run that was not started after all."""
    drop(run_folder(params))
    return {}


def drop(run):
    import shutil

    names = os.listdir(run) if os.path.isdir(run) else ["no folder"]
    if any(name not in OF_CODE and not name.startswith(".code.") for name in names):
        return
    for name in names:
        path = os.path.join(run, name)
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
    os.rmdir(run)


def drop_old(runs, since):
    """Of runs that never began, since their client was gone by then."""
    for name in os.listdir(runs) if os.path.isdir(runs) else []:
        path = os.path.join(runs, name)
        if os.path.lexists(os.path.join(path, "code.json")) and os.stat(path).st_mtime < since:
            drop(path)


def tidy(store, every=DAY):
    """Once a day: snapshots that no run has, and the blobs of none, where both are older than a day. For a second at most."""
    import time

    stamp = os.path.join(store.root, "tidied")
    try:
        if time.time() - os.stat(stamp).st_mtime < every:
            return
    except FileNotFoundError:
        return put_file(stamp, b"", 0o600)  # a new store has nothing old
    put_file(stamp, b"", 0o600)
    until = now() + TIDYING
    drop_old(os.path.join(store.workdir, "runs"), time.time() - every)
    needed = set()
    for name in os.listdir(os.path.join(store.root, "snapshots")):
        path = store.snapshot(name)
        info = os.stat(path)
        if info.st_nlink == 1 and time.time() - info.st_mtime > every:
            os.unlink(path)
            continue
        with open(path, "rb") as file:
            needed.update(blob for blob, _ in Manifest(file.read()).blobs)
        if now() > until:
            return  # too many for today's second: nothing goes
    for start in os.listdir(os.path.join(store.root, "blobs")):
        folder = os.path.join(store.root, "blobs", start)
        for rest in os.listdir(folder):
            path = os.path.join(folder, rest)
            if start + rest not in needed and time.time() - os.stat(path).st_ctime > every:
                os.unlink(path)
        if now() > until:
            return
