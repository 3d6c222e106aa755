# Files that come to this node, from the client or from another node, and go on to others.


class Copies:
    """What this process has received. It may offer that to other nodes for as long as it lives."""

    def __init__(self):
        self.root = None
        self.names = []  # below the root; folders before what is in them
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
            make_private(os.path.dirname(target))
            remove_dead_partials(target)
            self.temporary = target = partial_of(target)
        make_private(target)
        self.root = target
        self.names = []
        count = 0
        made = set()
        for member in archive:
            path = os.path.normpath(os.path.join(target, member.name))
            inside = path == target or path.startswith(target.rstrip(os.sep) + os.sep)
            if params.get("as"):
                path = os.path.join(target, params["as"])
            if not inside or not (member.is_file() or member.is_folder()):
                raise Refused("the archive holds %s, which is no plain file of it" % member.name, "Report this")
            self.names.append(path[len(target):].lstrip(os.sep) or ".")
            if member.is_folder():
                os.makedirs(path, exist_ok=True)
                continue
            folder = os.path.dirname(path)
            if folder not in made:
                os.makedirs(folder, exist_ok=True)
                made.add(folder)
            receive(archive, member, path)
            count += 1
        return {"files": count, "folder": target, "shared": False}

    def offer(self, params):
        """Sends what was received to every node that asks with the key, from now to the end of this process."""
        key = bytes.fromhex(params["key"])
        listener, port = listen(params["address"], params["firstPort"], params["lastPort"])
        accept_all(listener, lambda connection: self.send(connection, key))
        first = next((name for name in self.names if not os.path.isdir(os.path.join(self.root, name))), ".")
        return {"port": port, "first": first, "mark": mark_of(self.root, first)}

    def send(self, connection, key):
        connection.settimeout(PATIENCE)
        own = challenge(connection, key)
        if own is not None:
            pack(self.root, self.names, FrameWriter(connection, own))

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


def pack(root, names, out):
    """These files as a tar archive. Where one is shorter than it was, the connection ends early, and the receiver says so."""
    for name in names:
        descriptor = os.open(os.path.join(root, name), os.O_RDONLY | os.O_NOFOLLOW)
        try:
            if not pack_one(name, descriptor, out):
                return
        finally:
            os.close(descriptor)
    out.write(bytes(2 * BLOCK))
    out.finish()


def pack_one(name, descriptor, out):
    import tarfile

    info = os.fstat(descriptor)
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(info.st_mode)
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


def receive(archive, member, path):
    """A file of an archive, which appears whole or not at all."""
    temporary = "%s.partial-%s" % (path, identity())
    try:
        output = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            archive.copy(member, output)
            os.fchmod(output, member.mode)
        finally:
            os.close(output)
        os.rename(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise
