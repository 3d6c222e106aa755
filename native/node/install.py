# The programs, by content hash.


def install(params):
    """Files of a folder, each followed by its bytes, which are checked."""
    target = expand(params["dir"])
    make_private(os.path.dirname(target))
    remove_dead_partials(target)
    make_whole(target, lambda folder: read_files(params, folder))
    return {}


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
