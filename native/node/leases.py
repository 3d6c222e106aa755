# Runs of another machine on a disk that it shares with this one (docs/contracts/files.md, Who
# supervises a run).

LEASE_SECONDS = 30


def is_locked(path):
    """Whether a supervisor, or the guard of a dead one, holds the run; the file's time is now what time it is there."""
    import fcntl

    try:
        fd = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        os.utime(path)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


def supervised_by(folder):
    """The host that supervises the run in `folder`; None where nobody does."""
    try:
        with open(os.path.join(folder, "state.json")) as file:
            state = json.load(file)
        written = os.stat(os.path.join(folder, "state.json")).st_mtime
    except (OSError, ValueError):
        return None
    if state.get("phase") in ("finished", "stopped", "failed"):
        return None
    import time

    supervisor = state.get("supervisor") or {}
    host = supervisor.get("host") or "another host"
    lock = os.path.join(folder, "supervisor.lock")
    if is_locked(lock):
        return host
    with open("/proc/sys/kernel/random/boot_id") as file:
        if supervisor.get("bootId") == file.read().strip():
            return None  # the lock was free, and this machine's locks are all here
    now = os.stat(lock).st_mtime if os.path.exists(lock) else time.time()
    return host if abs(now - written) <= LEASE_SECONDS else None


def refuse_while_supervised(workdir):
    """Refuses when any run below the workdir is under way, on whatever host."""
    runs = os.path.join(workdir, "runs")
    refuse_while_queued(runs)
    for name in sorted(os.listdir(runs)) if os.path.isdir(runs) else ():
        host = supervised_by(os.path.join(runs, name))
        if host is not None:
            what = "the run %s is under way on %s" % (os.path.join(runs, name), host)
            raise Refused(what, "Stop it first")
