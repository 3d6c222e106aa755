# The folders of runs that have code, and what of the store no run needs any more.

DAY = 24 * 3600  # seconds
TIDYING = 1  # seconds, at most
RUN_MARK = "made-by-trainyard"
OF_CODE = ("code", "code.json", "code.diff", RUN_MARK)


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
