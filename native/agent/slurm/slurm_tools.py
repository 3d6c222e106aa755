# What a batch job of a run (slurm_job.py) asks Slurm's programs, and reads and writes in the run's
# folder. Standard library only, Python 3.9 and newer.
import json
import os
import re
import signal
import subprocess
import sys
import time

SLURM_SECONDS = 60  # a controller under load answers late

# By what slurmstepd writes into slurm.log before it ends a job: Slurm's state of such a job.
ENDINGS = {"NODE FAILURE": "NODE_FAIL", "PREEMPTION": "PREEMPTED", "TIME LIMIT": "TIMEOUT", "JOB REQUEUE": "REQUEUED"}
LOG_BYTES = 16384  # of the end of slurm.log, in which that line stands

# srun takes these for flags that were given to it; what is meant for the job is no flag for a step
# of it.
OF_STEPS = re.compile(r"^(SLURM_(NTASKS|NPROCS|NNODES|JOB_NUM_NODES|NTASKS_PER_NODE|TASKS_PER_NODE|CPUS_PER_TASK|EXACT|DISTRIBUTION)|SRUN_.*)$")


class Wrong(Exception):
    """Why the run cannot begin, for slurm.log."""


def read_json(path):
    try:
        with open(path) as file:
            value = json.load(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def replace_json(path, value):
    temporary = "%s.tmp-%d" % (path, os.getpid())
    with open(temporary, "w") as file:
        file.write(json.dumps(value) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.chmod(temporary, 0o600)
    os.rename(temporary, path)


def slurm_program(name):
    """Slurm's own programs stand beside the one that PATH has, or in one of the usual folders."""
    folders = os.environ.get("PATH", "").split(os.pathsep) + ["/usr/bin", "/usr/local/bin", "/opt/slurm/bin", "/cm/shared/apps/slurm/current/bin"]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.access(path, os.X_OK):
            return path
    raise Wrong("%s was not found on this node" % name)


def says(name, *words):
    argv = [slurm_program(name)] + list(words)
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=SLURM_SECONDS)
    except subprocess.TimeoutExpired:
        raise Wrong("%s gave no answer within %d s" % (name, SLURM_SECONDS))
    if done.returncode != 0:
        raise Wrong("%s failed: %s" % (name, done.stderr.strip()))
    return done.stdout


def step_environment():
    return {name: value for name, value in os.environ.items() if not OF_STEPS.match(name)}


def step_on(nodes, argv):
    """The command line of one process on each of these nodes, beside what runs there already."""
    count = str(len(nodes))
    words = ["--overlap", "--nodes=" + count, "--ntasks=" + count, "--ntasks-per-node=1", "--cpu-bind=none", "--nodelist=" + ",".join(nodes)]
    return [slurm_program("srun")] + words + ["--kill-on-bad-exit=0", "--export=ALL"] + argv


def address_of(node):
    """How the other nodes reach it: Slurm's own address of it."""
    found = re.search(r"\bNodeAddr=(\S+)", says("scontrol", "show", "node", "-o", node))
    return found.group(1) if found else node


def gpus_of(node, visible, wanted):
    """Which GPUs of a node the ranks take, as NVML counts there: those that Slurm shows to the
    job."""
    if wanted == 0:
        return None
    listed = [word for word in (visible or "").split(",") if word]
    if len(listed) < wanted or not all(word.isdigit() for word in listed):
        raise Wrong("%s: Slurm gives the job the GPUs '%s', and %d are wanted, by their numbers" % (node, visible or "", wanted))
    return [int(word) for word in listed[:wanted]]


def ended_log(path, job):
    """Why Slurm ends the job, as slurmstepd said it in slurm.log; None where it said nothing of
    this job."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    found = re.findall(r"\*\*\* JOB %s ON \S+ CANCELLED AT \S+(?: DUE TO ([A-Z ]+))?" % re.escape(job), text)
    return ENDINGS.get(found[-1].strip(), "CANCELLED") if found else None


def down_nodes(names):
    """Which of these nodes are down, each with what Slurm says of it."""
    said = says("sinfo", "-h", "-N", "-n", ",".join(names), "-o", "%N|%T|%E")
    lines = [line.strip().split("|", 2) for line in said.splitlines()]
    found = {line[0]: line[2] for line in lines if len(line) == 3 and line[1].startswith(("down", "fail"))}
    return ", ".join(node if why in ("", "none", "Not responding") else "%s: %s" % (node, why) for node, why in found.items())


def earlier_start(run, state):
    """An entry of `earlier`: when the start of `state` held its nodes, at which price an hour, and
    how many GPUs its ranks had."""
    span = {"from": state["started"], "to": state["ended"] if state.get("ended") is not None else state["updated"]}
    price = run.get("price")
    nodes = run.get("nodes")
    if nodes:
        span["gpus"] = sum(len(node.get("gpus") or ()) for node in nodes)
    if price and nodes:
        units = len(nodes) if price["per"] == "node" else span["gpus"]
        span.update({"perHour": price["amount"] * units, "currency": price["currency"]})
    return span


def keep_earlier(run, state):
    """The start before this one counts on in the run's time and price, once; a client has written
    those before a resume."""
    if not state or not state.get("generation"):  # of a job that left the queue before it had nodes
        return
    earlier = run.setdefault("earlier", [])
    if all(span["from"] != state["started"] for span in earlier):
        earlier.append(earlier_start(run, state))


def write_end(run_dir, phase, reason, exit_code, began):
    """The state of a start that ends before there is a supervisor, as slurm_cancel of the set-up
    program writes it."""
    path = os.path.join(run_dir, "state.json")
    now = time.time()
    generation = (read_json(path) or {}).get("generation", 0)
    nobody = {"pid": 0, "startTime": 0, "bootId": "", "host": ""}
    state = {"version": 1, "phase": phase, "generation": generation, "world": 0, "supervisor": nobody, "ranks": []}
    state.update({"mpiexec": None, "evaluator": None, "started": began, "ended": now, "exitCode": exit_code})
    state.update({"reason": reason, "updated": now})
    replace_json(path, state)
    over = {"time": now, "kind": "finished", "generation": generation, "phase": phase, "exit_code": exit_code}
    over.update({"reason": reason, "seconds": now - began})
    with open(os.path.join(run_dir, "events.jsonl"), "a") as file:
        file.write(json.dumps(over) + "\n")


def end_board(run_dir):
    """TensorBoard of the run on this node, which must not outlive the job that has the node."""
    board = read_json(os.path.join(run_dir, "tensorboard.json"))
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            here = file.read().strip()
        if board is None or board["bootId"] != here:
            return
        with open("/proc/%d/stat" % board["pid"]) as file:
            started = int(file.read().rpartition(")")[2].split()[19])
        if started == board["startTime"]:
            os.kill(board["pid"], signal.SIGTERM)
    except FileNotFoundError:
        pass  # it has ended
    except (OSError, LookupError, TypeError, ValueError) as error:
        print("slurm_job.py: TensorBoard is left as it is: %s" % error, flush=True)


def newest_step(run_dir):
    """The step of the newest checkpoint; 0 where there is none."""
    try:
        names = os.listdir(os.path.join(run_dir, "checkpoints"))
    except FileNotFoundError:
        return 0
    return max([int(name[5:]) for name in names if re.match(r"step-\d+$", name)], default=0)
