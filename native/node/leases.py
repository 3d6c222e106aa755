# Whether a run uses the programs below a workdir (docs/contracts/nodes.md, What `clean` removes):
# on this machine, on another one that shares its disk (docs/contracts/files.md, Who supervises a
# run), or in Slurm's queue.

LEASE_SECONDS = 30
END_SECONDS = 5
PROGRAM_FOLDERS = ("node", "runtime", "cuda", "wheels", "code", "environments")
ELSEWHERE = "runs-elsewhere"
NOTE_FOLDERS = ("slurm-drivers", ELSEWHERE)
# Of what stands in PROGRAM_FOLDERS, what a run consists of. TensorBoard's server outlives its run.
RUN_PROGRAMS = ("agent", "trainer", "mpiexec", "mpiexec.hydra", "hydra_pmi_proxy")


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


def workdir_of(run):
    """Where the programs of a run stand, by its run.json: WORKDIR/node/HASH/bin/agent. None where
    that does not say."""
    path = (run.get("paths") or {}).get("agent")
    if not path:
        return None
    for _ in range(4):
        path = os.path.dirname(path)
    return os.path.realpath(path)


def note_elsewhere(folder, run):
    """Notes a run's folder in its workdir, unless it is one of those that stand there."""
    import hashlib

    workdir = workdir_of(run)
    if workdir is None:
        return
    if os.path.realpath(os.path.dirname(folder)) == os.path.realpath(os.path.join(workdir, "runs")):
        return
    notes = os.path.join(workdir, ELSEWHERE)
    make_private(notes)
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    replace_json(os.path.join(notes, name + ".json"), {"dir": folder})


def noted_elsewhere(workdir):
    """The folders of these runs that still have their programs here."""
    notes = os.path.join(workdir, ELSEWHERE)
    found = []
    for name in names_in(notes):
        folder = (read_object(os.path.join(notes, name)) or {}).get("dir")
        run = folder and read_object(os.path.join(folder, "run.json"))
        if run and workdir_of(run) == os.path.realpath(workdir):
            found.append(folder)
    return found


def refuse_while_used(workdir):
    """Refuses when any run that has its programs below the workdir is under way, or waits for its
    nodes."""
    runs = os.path.join(workdir, "runs")
    names = sorted(os.listdir(runs)) if os.path.isdir(runs) else ()
    folders = [os.path.join(runs, name) for name in names] + noted_elsewhere(workdir)
    refuse_while_queued(folders)
    for folder in folders:
        host = supervised_by(folder)
        if host is not None:
            raise Refused("the run %s is under way on %s" % (folder, host), "Stop it first")
    refuse_while_alive(workdir)


def refuse_while_alive(workdir):
    """Refuses when a program of a run that stands there is a process of this machine, wherever the
    run's folder is. Those of a run that has just ended may take a moment to end."""
    import time

    until = time.monotonic() + END_SECONDS
    alive = living_program(workdir)
    while alive and time.monotonic() < until:
        time.sleep(0.2)
        alive = living_program(workdir)
    if alive:
        pid, words = alive
        run = run_of_process(pid, words)
        of_run = " of the run %s" % run if run else ""
        raise Refused("%s%s is alive as process %s" % (words[0], of_run, pid), "Stop that run, or end that process")


def living_program(workdir):
    """(pid, command line) of the first such process, or None."""
    roots = {workdir, os.path.realpath(workdir)}
    below = tuple(os.path.join(root, name, "") for root in roots for name in PROGRAM_FOLDERS)
    for pid in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        words = run_program(pid, below) or program_of_packages(pid, below)
        if words:
            return pid, words
    return None


def run_program(pid, below):
    """The command line of a process of this user whose program is one of RUN_PROGRAMS and stands
    below one of these; else None. `agent serve` is a client's, and no part of a run."""
    try:
        if os.stat("/proc/%s" % pid).st_uid != os.getuid():
            return None
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            words = os.fsdecode(file.read()).split("\0")
        program = os.readlink("/proc/%s/exe" % pid)
    except OSError:
        return None  # it has ended, or is a thread of the kernel
    named = [path for path in (program, words[0]) if path.startswith(below)]
    if not any(os.path.basename(path) in RUN_PROGRAMS for path in named) or words[1:2] == ["serve"]:
        return None
    return words


def program_of_packages(pid, below):
    """The command line of a process of a run that has its Python packages below one of these."""
    variables = environment_of(pid)
    if "VIRTUAL_ENV" not in variables or "TRAINYARD_RUN_DIR" not in variables:
        return None
    if not variables["VIRTUAL_ENV"].startswith(below):
        return None
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            return os.fsdecode(file.read()).split("\0")
    except OSError:
        return None


def environment_of(pid):
    """Of another user's process, and of one that has ended: nothing."""
    try:
        with open("/proc/%s/environ" % pid, "rb") as file:
            lines = os.fsdecode(file.read()).split("\0")
    except OSError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def run_of_process(pid, words):
    """The folder of the run that a process is of; None where it does not say."""
    if "--run-dir" in words[:-1]:
        return words[words.index("--run-dir") + 1]
    return environment_of(pid).get("TRAINYARD_RUN_DIR")
