# Files that come to this node, from the client or from another node, and go on to others.


class Copies:
    """What this process has received. It may offer that to other nodes for as long as it lives."""

    def __init__(self):
        self.root = None
        self.names = []  # below the root; folders before what is in them
        self.modes = {}  # of files that got others from their disk
        self.temporary = None

    def unpack(self, params):
        """A tar archive on standard input, in records of `blocks`, below a folder and never outside of it; `as` renames its one file."""
        return self.take(Archive(blocks=params.get("blocks", RECORD)), params)

    def fetch(self, params):
        """The same from a node that offers it."""
        key = bytes.fromhex(params["key"])
        target = expand(params["to"])
        if not params.get("temporary") and os.path.isdir(target) and mark_of(target, params["first"]) == params["mark"]:
            return {"files": params["files"], "folder": target, "shared": True}  # both see the same disk
        connection = reach(params["host"], params["port"])
        try:
            return self.take(Archive(FrameReader(connection, respond(connection, key))), params)
        finally:
            connection.close()

    def take(self, archive, params):
        with beats_of(params["to"]):
            return self.receive_all(archive, params)

    def receive_all(self, archive, params):
        target = expand(params["to"])
        if params.get("temporary"):
            make_own(os.path.dirname(target))
            remove_dead_partials(target)
            self.temporary = target = partial_of(target)
        make_private(target)
        self.root = target
        self.names = []
        self.modes = {}
        digest = start_digest() if params.get("digest") else None
        count = 0
        with Folders(target) as folders:
            for member in archive:
                name = self.name_of(member, params.get("as"))
                self.names.append(name)
                if digest:
                    digest.update(summary(member, name))
                if member.is_folder():
                    folders.open(name)
                    continue
                mode = receive(archive, member, folders, name, digest)
                if mode != member.mode:
                    self.modes[name] = member.mode
                count += 1
        if digest and digest.hexdigest() != params["digest"]:
            self.remove_files()
            raise Refused("what the other node sent is not what it was given", "Look at that node and its disk", "direct")
        return {"files": count, "folder": target, "shared": False}

    def remove_files(self):
        for name in self.names:
            path = os.path.join(self.root, name)
            if os.path.lexists(path) and not os.path.isdir(path):
                os.unlink(path)

    def name_of(self, member, given):
        """Below the root, `.` for the root itself; `given` is the name of the one file there is.
        Refused for all else than plain files."""
        name = os.path.normpath(member.name)
        outside = os.path.isabs(name) or name.split(os.sep)[0] == ".."
        if outside or not (member.is_file() and name != "." or member.is_folder()):
            raise Refused("the archive holds %s, which is no plain file of it" % member.name, "Report this")
        return given if given and member.is_file() else name

    def offer(self, params):
        """Sends what was received to every node that asks with the key, from now to the end of this process."""
        key = bytes.fromhex(params["key"])
        listener, port = listen(params["address"], params["firstPort"], params["lastPort"])
        accept_all(listener, lambda connection, is_known: self.send(connection, key, is_known))
        first = next((name for name in self.names if not os.path.isdir(os.path.join(self.root, name))), ".")
        return {"port": port, "first": first, "mark": mark_of(self.root, first)}

    def send(self, connection, key, is_known):
        own = challenge(connection, key)
        if own is not None:
            is_known()
            pack(self.root, self.names, self.modes, FrameWriter(connection, own))

    def close(self):
        if self.temporary is not None:
            import shutil

            shutil.rmtree(self.temporary, ignore_errors=True)


def mark_of(root, name):
    """By which two nodes tell that they see the same file: its number, size and times, to the nanosecond."""
    try:
        info = os.stat(os.path.join(root, name))
    except OSError:
        return None
    return [info.st_ino, info.st_size, str(info.st_mtime_ns), str(info.st_ctime_ns)]


def start_digest():
    """Of what an archive brings; src/core/streams/tarDigest.ts makes the same of what the client
    sends."""
    import hashlib

    return hashlib.sha256()


def summary(member, name):
    """What counts of a member beside its bytes."""
    data = os.fsencode(name)
    start = b"D 0 0" if member.is_folder() else b"F %o %d" % (member.mode, member.size)
    return start + b" %d\n" % len(data) + data


def pack(root, names, modes, out):
    """These files as a tar archive. Where one is shorter than it was, the connection ends early, and the receiver says so."""
    for name in names:
        descriptor = os.open(os.path.join(root, name), os.O_RDONLY | os.O_NOFOLLOW)
        try:
            if not pack_one(name, modes.get(name), descriptor, out):
                return
        finally:
            os.close(descriptor)
    out.write(bytes(2 * BLOCK))
    out.finish()


def pack_one(name, mode, descriptor, out):
    import tarfile

    info = os.fstat(descriptor)
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(info.st_mode) if mode is None else mode
    entry.type = tarfile.DIRTYPE if stat.S_ISDIR(info.st_mode) else tarfile.REGTYPE
    left = entry.size = 0 if entry.isdir() else info.st_size
    out.write(entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))
    while left > 0:
        data = os.read(descriptor, min(left, CHUNK))
        if not data:
            return False
        out.write(data)
        left -= len(data)
    out.write(bytes(-entry.size % BLOCK))
    return True


class Folders:
    """Those below a root, each opened from the one above it, so that no link leads out of the root.
    To be used in `with`."""

    def __init__(self, root):
        self.root = root
        self.names = []
        self.opened = [os.open(root, os.O_RDONLY | os.O_DIRECTORY)]  # one for each name, and the root

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close_to(0)
        os.close(self.opened.pop())

    def close_to(self, depth):
        while len(self.names) > depth:
            self.names.pop()
            os.close(self.opened.pop())

    def open(self, name):
        """Its descriptor, which lasts until another one is opened. What is missing of it is
        made."""
        names = [] if name in ("", ".") else name.split(os.sep)
        common = 0
        while common < min(len(names), len(self.names)) and names[common] == self.names[common]:
            common += 1
        self.close_to(common)
        for one in names[common:]:
            self.opened.append(self.step(one))
            self.names.append(one)
        return self.opened[-1]

    def step(self, name):
        import errno

        above = self.opened[-1]
        path = os.path.join(self.root, *(self.names + [name]))
        try:
            try:
                os.mkdir(name, 0o700, dir_fd=above)
            except FileExistsError:
                pass
            return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise OSError(error.errno, error.strerror, path)
        raise Refused("%s is a link or no folder" % path, "Remove it, or copy straight to where it leads")


def receive(archive, member, folders, name, digest):
    """A file of an archive, which appears whole or not at all. Returns the permissions that its
    disk gave it."""
    folder = folders.open(os.path.dirname(name))
    partial = ".trainyard.partial-" + os.urandom(8).hex()  # nobody can have put anything there
    try:
        output = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            mode = write_file(archive, member, output, digest)
            os.rename(partial, os.path.basename(name), src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(partial, dir_fd=folder)
            raise
        return mode
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.path.join(folders.root, name))


def write_file(archive, member, output, digest):
    try:
        archive.copy(member, output, digest)
        os.fchmod(output, member.mode)
        return os.fstat(output).st_mode & 0o777
    finally:
        os.close(output)
