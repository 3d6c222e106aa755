# Slurm, on its login node (docs/contracts/slurm.md): a job is submitted, asked about, cancelled.
# Every value is a word of a program's command line or stands in a file; no shell reads any.

SLURM_FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/slurm/bin", "/usr/local/slurm/bin", "/cm/shared/apps/slurm/current/bin")
SLURM_SECONDS = 60  # a controller under load answers late
HOLD_SECONDS = 10  # a client that keeps an end holds a folder for a moment
SLURM_NOTES = 1000  # of nodes, in one answer
SLURM_JSON_BYTES = 500000  # of the nodes of a cluster; an answer is one line of at most 1 MiB


def slurm_program(name):
    """Where it is: on PATH, or where clusters have it that set PATH in start files of a login shell
    alone."""
    for folder in os.environ.get("PATH", "").split(os.pathsep) + list(SLURM_FOLDERS):
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.access(path, os.X_OK):
            return path
    raise Refused("%s was not found on this node" % name, "Name a login node of the Slurm cluster as the head of the profile")


def slurm_environment():
    """In English, and with times in UTC. What a person set for sbatch would count more than what
    the script says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SBATCH_", "SLURM_JOB", "SQUEUE_", "SINFO_"))}
    kept.update({"LC_ALL": "C", "TZ": "UTC", "SLURM_TIME_FORMAT": "standard"})
    return kept


def slurm_says(name, *words, **more):
    """(exit code, stdout, stderr) of one of Slurm's programs."""
    import subprocess

    argv = [slurm_program(name)] + list(words)
    try:
        with beats_of(argv[0]):
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=slurm_environment(), timeout=SLURM_SECONDS, **more)
    except subprocess.TimeoutExpired:
        raise Refused("%s gave no answer within %d s" % (name, SLURM_SECONDS), "Ask whoever runs the cluster whether Slurm's controller is well")
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def slurm_asked(name, *words):
    """What it prints, where that is all that is wanted."""
    code, said, complaint = slurm_says(name, *words)
    if code != 0:
        raise Refused("%s failed: %s" % (name, complaint.strip()[-500:] or "exit code %d" % code), "Ask whoever runs the cluster whether Slurm is well")
    return said


def replace_json(path, value):
    """As the agent does it: a reader sees the old file or the new one."""
    replace_text(path, json.dumps(value) + "\n")


def replace_text(path, text):
    temporary = "%s.tmp-%d" % (path, os.getpid())
    try:
        with open(temporary, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def read_object(path):
    try:
        with open(path) as file:
            value = json.load(file)
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def hold_folder(folder):
    """Keeps other starts out of a run's folder until it is closed, or this program ends."""
    import fcntl

    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise Refused("another launch in %s, or its deletion, is under way" % folder, "Attach to that run")
    except OSError:
        pass  # where folders cannot be locked, Slurm's own queue is looked at before
    return held


def slurm_submit(params):
    """Makes the run's folder and gives the job to Slurm. Where Slurm refuses it, what was made goes
    again."""
    import time

    folder = expand(params["dir"])
    run_file = os.path.join(folder, "run.json")
    is_new = not os.path.isdir(folder)
    make_private(os.path.dirname(folder))
    if is_new:
        os.mkdir(folder, 0o700)
        replace_text(os.path.join(folder, RUN_MARK), "This folder was made for a run, and goes with it.\n")
    held = hold_folder(folder)
    before = read_object(run_file)
    run = dict(params["run"])
    run["created"] = (before or {}).get("created", time.time())
    try:
        note_elsewhere(folder, run)
        replace_text(os.path.join(folder, "slurm.sh"), params["script"])
        if params.get("stage") is not None:
            replace_json(os.path.join(folder, "stage.json"), params["stage"])
        replace_json(run_file, run)
        code, said, complaint = slurm_says("sbatch", "--parsable", "--chdir=" + folder, os.path.join(folder, "slurm.sh"))
        job = said.strip().split(";")[0].strip()
        if code != 0 or not job.isdigit():
            words = [line.replace("sbatch: error:", "").strip() for line in complaint.strip().splitlines()]
            raise Refused("Slurm refused the job: %s" % ("; ".join(filter(None, words))[-500:] or "sbatch said nothing"), "Correct the profile's slurm, or what was asked for")
    except BaseException:
        if before is not None:
            replace_json(run_file, before)
        elif os.path.exists(run_file):
            os.unlink(run_file)
        if is_new:
            for name in ("slurm.sh", "stage.json", RUN_MARK):
                if os.path.exists(os.path.join(folder, name)):
                    os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
        raise
    # The job itself waits until its number stands there.
    run["slurm"] = dict(run["slurm"], job=job)
    replace_json(run_file, run)
    if before is None:
        created = {"time": run["created"], "kind": "created", "generation": 1, "id": run["id"]}
        with open(os.path.join(folder, "events.jsonl"), "a") as file:
            file.write(json.dumps(created) + "\n")
    os.close(held)
    return {"id": run["id"], "dir": folder, "job": job}


def slurm_queue(params):
    """What Slurm says of this user's jobs, as its programs print it: who asks reads it."""
    jobs = set(params["jobs"])
    mine = slurm_asked("squeue", "-h", "-u", str(os.getuid()), "-o", params["format"])
    waiting = ""
    partitions = {line.split("|")[4] for line in mine.splitlines() if line.split("|")[0] in jobs and "|PENDING|" in line}
    if partitions:
        waiting = slurm_asked("squeue", "-h", "-t", "PENDING", "-p", ",".join(sorted(partitions)), "-o", params["format"])
    there = {line.split("|")[0] for line in mine.splitlines()}
    ended = []
    gone = sorted(jobs - there)
    for job in gone:
        code, said, _ = slurm_says("scontrol", "show", "job", "-o", job)
        ended.append(said if code == 0 else "")
    records = ""
    forgotten = [job for job, said in zip(gone, ended) if said == ""]
    if forgotten:
        records = slurm_records(forgotten, params["fields"])
    return {"mine": mine, "waiting": waiting, "ended": [said for said in ended if said], "records": records}


def slurm_records(jobs, fields):
    """Of jobs that the controller has forgotten; empty where the cluster keeps no accounts."""
    try:
        code, said, _ = slurm_says("sacct", "-n", "-P", "-X", "-j", ",".join(jobs), "-o", fields)
    except Refused:
        return ""
    return said if code == 0 else ""


def queued_jobs():
    """The numbers of this user's jobs that wait, run or end."""
    return slurm_asked("squeue", "-h", "-u", str(os.getuid()), "-o", "%i").split()


def slurm_record(folder):
    """What run.json says of Slurm."""
    return (read_object(os.path.join(folder, "run.json")) or {}).get("slurm") or {}


def slurm_ended(params):
    """Keeps why jobs ended in their runs' records, for Slurm forgets it. A record that names
    another job is left, and one that goes on where Slurm has its job."""
    ends = [(expand(one["dir"]), one["job"], one["ended"]) for one in params["ends"]]
    goes_on = any(slurm_record(folder).get("goesOn") for folder, _, _ in ends)
    queued = queued_jobs() if goes_on else None
    for folder, job, end in ends:
        try:
            held = hold_folder(folder)
        except (Refused, OSError):
            continue  # a start or a deletion is under way, or the folder is gone
        try:
            if not slurm_record(folder).get("goesOn") or (queued is not None and job not in queued):
                keep_end(folder, job, end)
        finally:
            os.close(held)
    return {}


def keep_end(folder, job, end):
    """Why the job of a run ended, in its record. One that was to go on does not any more: the state
    in the folder stays that of the start before."""
    run_file = os.path.join(folder, "run.json")
    run = read_object(run_file) or {}
    slurm = run.get("slurm") or {}
    goes_on = slurm.get("goesOn")
    if slurm.get("job") != job or ("ended" in slurm and not goes_on):
        return
    slurm["ended"] = end
    if goes_on:
        slurm["goesOn"] = False
    replace_json(run_file, run)


def slurm_cancel(params):
    """Takes a job out of the queue. A run that had not begun is over then, and its folder says so.
    Of one that was to go on, the record does."""
    folder = expand(params["dir"])
    code, _, complaint = slurm_says("scancel", params["job"])
    if code != 0:
        raise Refused("scancel failed: %s" % complaint.strip()[-500:], "Try again")
    if read_object(os.path.join(folder, "state.json")) is None:
        write_cancelled(folder, params["by"])
        return {}
    try:
        held = hold_soon(folder)
    except Refused:
        return {}  # a client that hears of the end keeps it (slurm_ended)
    try:
        keep_end(folder, params["job"], {"state": "CANCELLED", "detail": "in the queue by %s" % params["by"]})
    finally:
        os.close(held)
    return {}


def hold_soon(folder):
    """As hold_folder, but others may have it for a moment."""
    import time

    until = time.monotonic() + HOLD_SECONDS
    while True:
        try:
            return hold_folder(folder)
        except Refused:
            if time.monotonic() > until:
                raise
        time.sleep(0.1)


def write_cancelled(folder, by):
    """The state of a run whose job had no nodes."""
    import time

    now = time.time()
    nobody = {"pid": 0, "startTime": 0, "bootId": "", "host": ""}
    state = {"version": 1, "phase": "stopped", "generation": 0, "world": 0, "supervisor": nobody, "ranks": []}
    state.update({"mpiexec": None, "evaluator": None, "started": now, "ended": now, "exitCode": 75})
    state.update({"reason": "cancelled in the queue by %s" % by, "updated": now})
    replace_json(os.path.join(folder, "state.json"), state)
    over = {"time": now, "kind": "finished", "generation": 0, "phase": "stopped", "exit_code": 75, "reason": state["reason"], "seconds": 0}
    with open(os.path.join(folder, "events.jsonl"), "a") as file:
        file.write(json.dumps(over) + "\n")


def slurm_keep_out(params):
    """Somebody stops the run: its job does not begin again, also where Slurm ends it meanwhile. The
    job reads this file before it is given to the queue again, and when it begins."""
    path = os.path.join(expand(params["dir"]), "stop-job.json")
    replace_json(path, {"job": params["job"], "by": params["by"]})
    return {}


def slurm_signal(params):
    """Asks the job's own program to stop the run after a checkpoint."""
    code, _, complaint = slurm_says("scancel", "--batch", "--signal=USR2", params["job"])
    if code != 0:
        raise Refused("scancel failed: %s" % complaint.strip()[-500:], "Try again")
    return {}


def refuse_while_queued(folders):
    """Refuses when a job of Slurm would start one of these runs, or runs it: it needs the
    programs."""
    jobs = {slurm_record(folder).get("job"): folder for folder in folders}
    jobs.pop(None, None)
    for job in queued_jobs() if jobs else ():
        if job in jobs:
            raise Refused("the run %s is Slurm's job %s, which is not over" % (jobs[job], job), "Stop it first")


def slurm_drivers(params):
    """What jobs noted of the compute nodes of these partitions (slurm_nodes.py), the newest notes;
    of all partitions where none is named."""
    folder = os.path.join(expand(params["workdir"]), "slurm-drivers")
    wanted = params["partitions"]
    patience = Patience()
    notes = []
    for partition in names_in(folder):
        if not wanted or partition in wanted:
            notes += notes_in(os.path.join(folder, partition), patience)
    notes.sort(key=lambda note: -note["time"])
    return {"nodes": notes[:SLURM_NOTES]}


def names_in(folder):
    """None where there is no such folder, or it cannot be read: notes only save a step."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def notes_in(folder, patience):
    """Those that are whole; whatever else is there counts as none."""
    found = []
    for name in names_in(folder):
        patience.went_on()
        try:
            note = read_object(os.path.join(folder, name)) if name.endswith(".json") else None
        except OSError:
            continue
        if note is not None and is_note(note):
            found.append({key: note[key] for key in ("node", "driver", "gpus", "time")})
    return found


def is_note(note):
    texts = [note.get("node"), note.get("driver")]
    gpus, time = note.get("gpus"), note.get("time")
    if not isinstance(gpus, list) or not isinstance(time, (int, float)) or not 0 < time < 1e12:
        return False
    return all(isinstance(text, str) for text in texts + gpus)


def slurm_partitions(params):
    """What sinfo prints of the partitions. `json` is null where this Slurm prints none, or more
    than an answer can hold."""
    version = slurm_asked("sinfo", "--version")
    code, text, _ = slurm_says("sinfo", "-h", "-O", params["fields"])
    if code != 0:  # an earlier version that lacks one of the fields
        text = slurm_asked("sinfo", "-h", "-o", params["format"])
    return {"version": version, "partitions": text, "json": slurm_nodes()}


def slurm_nodes():
    """`sinfo -N --json`, which came with 21.08, and only where Slurm was built with JSON."""
    code, said, _ = slurm_says("sinfo", "-N", "--json")
    if code != 0:
        return None
    try:
        found = json.loads(said)
    except ValueError:
        return None
    return found if len(json.dumps(found)) < SLURM_JSON_BYTES else None
