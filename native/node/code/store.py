# The blobs and manifests that a node keeps, in `<workdir>/code`.

MARK = 946684800  # the modification time of a blob that is whole
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


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
