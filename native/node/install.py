# The programs, by content hash.


def install(params):
    """Files of a folder, each followed by its bytes: under a temporary name, checked, then one rename."""
    import hashlib
    import shutil

    target = expand(params["dir"])
    make_private(os.path.dirname(target))
    remove_dead_partials(target)
    partial = partial_of(target)
    try:
        os.mkdir(partial, 0o700)
        for file in params["files"]:
            path = os.path.join(partial, file["name"])
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
            os.symlink(to, os.path.join(partial, name))
        if not os.path.isdir(target):
            try:
                os.rename(partial, target)
            except OSError:
                if not os.path.isdir(target):  # otherwise another one put the same there first
                    raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {}
