# The programs, by content hash.


def programs_problem(folder, files, hashed):
    """None, or which of these files is missing, cut short or another. Those in `hashed` are read; None stands for all."""
    for file in files:
        path = os.path.join(folder, file["name"])
        try:
            info = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return "%s is missing" % path
        if not stat.S_ISREG(info.st_mode) or info.st_size != file["bytes"]:
            return "%s is not whole" % path
        if file["executable"] and not info.st_mode & stat.S_IXUSR:
            return "%s is no program" % path
        if (hashed is None or file["name"] in hashed) and digest_of(path) != file["sha256"]:
            return "%s is another file" % path
    return None


def digest_of(path):
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(CHUNK), b""):
            digest.update(part)
    return digest.hexdigest()


def install(params):
    """Files of a folder where they do not stand yet: `send` asks for their bytes, one file after the other, which are checked."""

    def fill(folder):
        say({"send": True})
        read_files(params, folder)

    def is_whole(folder):
        return programs_problem(folder, params["files"], None) is None

    return {"made": make_once(expand(params["dir"]), "the programs", is_whole, fill)}


def read_files(params, folder):
    import hashlib

    for file in params["files"]:
        path = os.path.join(folder, file["name"])
        make_private(os.path.dirname(path))
        digest = hashlib.sha256()
        with open(path, "wb") as out:

            def take(data):
                digest.update(data)
                out.write(data)

            read_exactly(file["bytes"], take)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != file["sha256"]:
            raise Refused("%s arrived with another checksum" % file["name"], "Try again; if it stays so, check this node's disk")
        os.chmod(path, 0o700 if file["executable"] else 0o600)
    for name, to in params.get("links", {}).items():
        os.symlink(to, os.path.join(folder, name))
