# slurm_job.py RUN_DIR: what Slurm's batch script becomes, on the first node of an allocation (docs/contracts/slurm.md). It writes the
# nodes into run.json, starts the supervisor here and `agent join` on the other nodes by srun, and passes on what Slurm says to the job.
# slurm_job.py join RUN_DIR PORT: what srun starts on each of the other nodes.
# Standard library only, Python 3.9 and newer.
import json
import os
import re
import signal
import subprocess
import sys
import time

NUMBER_SECONDS = 60  # for run.json to have the job's number, which is known after the job was submitted
JOIN_SECONDS = 60  # for the supervisor to listen, and for its file to be seen on the other nodes
STEP = 0.1
SLURM_SECONDS = 60  # a controller under load answers late

# By what slurmstepd writes into slurm.log before it ends a job: Slurm's state of such a job.
ENDINGS = {"NODE FAILURE": "NODE_FAIL", "PREEMPTION": "PREEMPTED", "TIME LIMIT": "TIMEOUT", "JOB REQUEUE": "REQUEUED"}
LOG_BYTES = 16384  # of the end of slurm.log, in which that line stands

# srun takes these for flags that were given to it; what is meant for the job is no flag for a step of it.
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
    """Which GPUs of a node the ranks take, as NVML counts there: those that Slurm shows to the job."""
    if wanted == 0:
        return None
    listed = [word for word in (visible or "").split(",") if word]
    if len(listed) < wanted or not all(word.isdigit() for word in listed):
        raise Wrong("%s: Slurm gives the job the GPUs '%s', and %d are wanted, by their numbers" % (node, visible or "", wanted))
    return [int(word) for word in listed[:wanted]]


def visible_gpus(nodes):
    """What CUDA_VISIBLE_DEVICES is on each node, as Slurm sets it there."""
    script = "import os; print('GPUS', os.environ['SLURMD_NODENAME'], os.environ.get('CUDA_VISIBLE_DEVICES', ''))"
    argv = step_on(nodes, [sys.executable, "-c", script])
    said = subprocess.run(argv, env=step_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True).stdout
    found = {}
    for line in said.splitlines():
        words = line.split(" ")
        if words[0] == "GPUS":
            found[words[1]] = words[2].strip() if len(words) > 2 else ""
    return found


def ended_log(path, job):
    """Why Slurm ends the job, as slurmstepd said it in slurm.log; None where it said nothing of this job."""
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
    """An entry of `earlier`: when the start of `state` held its nodes, and at which price an hour."""
    span = {"from": state["started"], "to": state["ended"] if state.get("ended") is not None else state["updated"]}
    price = run.get("price")
    nodes = run.get("nodes")
    if price and nodes:
        units = len(nodes) if price["per"] == "node" else sum(len(node.get("gpus") or ()) for node in nodes)
        span.update({"perHour": price["amount"] * units, "currency": price["currency"]})
    return span


def keep_earlier(run, state):
    """The start before this one counts on in the run's time and price, once; a client has written those before a resume."""
    if not state or not state.get("generation"):  # of a job that left the queue before it had nodes
        return
    earlier = run.setdefault("earlier", [])
    if all(span["from"] != state["started"] for span in earlier):
        earlier.append(earlier_start(run, state))


class Job:
    def __init__(self, run_dir):
        self.dir = run_dir
        self.run_file = os.path.join(run_dir, "run.json")
        self.number = os.environ["SLURM_JOB_ID"]
        self.supervisor = None
        self.steps = None
        self.others = []  # nodes that have not been told to join yet
        self.asked = None  # the signal that asked for a stop
        self.told = False  # whether the supervisor knows of it
        self.began = False  # whether the state is that of this start

    def read_run(self):
        """run.json, once it names this job: another job in it is a later start in the same folder."""
        deadline = time.monotonic() + NUMBER_SECONDS
        while True:
            run = read_json(self.run_file)
            if run and run.get("slurm", {}).get("job") == self.number:
                return run
            if time.monotonic() > deadline:
                raise Wrong("%s does not name job %s: the run was started anew, or its folder cannot be read here" % (self.run_file, self.number))
            time.sleep(STEP)

    def say_goes_on(self, goes_on):
        run = read_json(self.run_file)
        if run is None or bool(run["slurm"].get("goesOn")) == goes_on:
            return
        run["slurm"].pop("goesOn", None)
        if goes_on:
            run["slurm"]["goesOn"] = True
        replace_json(self.run_file, run)

    def place(self, run):
        """The nodes of this allocation, in run.json as the supervisor reads it."""
        names = says("scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]).split()
        layout = run["slurm"]["layout"]
        here = os.environ.get("SLURMD_NODENAME")
        if here in names:
            names.remove(here)
            names.insert(0, here)
        if len(names) < len(layout):
            raise Wrong("Slurm gave %d nodes, and %d were asked for" % (len(names), len(layout)))
        names = names[: len(layout)]
        wants_gpus = any(node["gpus"] for node in layout)
        visible = visible_gpus(names) if wants_gpus else {}
        gpus = [gpus_of(name, visible.get(name), node["gpus"]) for name, node in zip(names, layout)]
        keep_earlier(run, read_json(os.path.join(self.dir, "state.json")))
        run["slurm"].pop("ended", None)
        run["launcher"] = "manual"
        run["nodes"] = [self.node(*each) for each in zip(names, layout, gpus)]
        replace_json(self.run_file, run)
        return names

    @staticmethod
    def node(name, layout, gpus):
        node = {"host": name, "address": address_of(name), "slots": layout["slots"], "gpus": gpus}
        for field in ("workers", "nvidia"):
            if field in layout:
                node[field] = layout[field]
        return node

    def start(self):
        run = self.read_run()
        names = self.place(run)
        join_file = os.path.join(self.dir, "join.json")
        if os.path.exists(join_file):
            os.unlink(join_file)
        log = open(os.path.join(self.dir, "supervisor.log"), "ab")
        argv = [run["paths"]["agent"], "supervise", "--run-dir", self.dir]
        self.supervisor = subprocess.Popen(argv, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.others = names[1:]

    def join_others(self):
        """Once the supervisor listens."""
        joining = read_json(os.path.join(self.dir, "join.json"))
        if joining is None:
            return
        names, self.others = self.others, []
        argv = step_on(names, [sys.executable, os.path.abspath(__file__), "join", self.dir, str(joining["port"])])
        self.steps = subprocess.Popen(argv, env=step_environment(), stdin=subprocess.DEVNULL)

    def take_signal(self, number, _frame):
        """USR1 comes ahead of the time limit, TERM where Slurm ends the job, USR2 from `trainyard stop`."""
        if self.asked is None:
            self.asked = number

    def pass_on(self):
        """What Slurm asked for, once the supervisor has taken up the run."""
        self.told = True
        print("slurm_job.py: %s: the run stops after a checkpoint" % signal.Signals(self.asked).name, flush=True)
        run = read_json(self.run_file) or {}
        if self.asked != signal.SIGUSR2 and run.get("slurm", {}).get("requeue"):
            self.say_goes_on(True)
        self.supervisor.send_signal(signal.SIGTERM)
        if self.asked != signal.SIGUSR2:
            self.say_why()

    def say_why(self):
        """Why Slurm ends the job, in run.json."""
        run = read_json(self.run_file)
        if run is None:
            return
        try:
            run["slurm"]["ended"] = self.why(run)
            replace_json(self.run_file, run)
        except Wrong as error:
            print("slurm_job.py: Slurm does not say why: %s" % error, flush=True)

    def why(self, run):
        """Slurm's word for the end that comes; TIME_LIMIT_NEAR ahead of a time limit. The controller forgets it where it requeues the job."""
        said = says("scontrol", "show", "job", "-o", self.number)
        fields = dict(word.split("=", 1) for word in said.split() if "=" in word)
        if fields.get("PreemptTime", "None") not in ("None", "N/A"):
            return {"state": "PREEMPTED"}
        if self.asked == signal.SIGUSR1:
            return {"state": "TIME_LIMIT_NEAR"}
        state = ended_log(os.path.join(self.dir, "slurm.log"), self.number) or fields.get("JobState", "UNKNOWN")
        if fields.get("Reason") == "NodeDown":
            state = "NODE_FAIL"
        if state != "NODE_FAIL":
            return {"state": state}
        down = down_nodes([node["host"] for node in run["nodes"]])
        return {"state": state, "detail": down} if down else {"state": state}

    def look(self):
        if not self.began:
            state = read_json(os.path.join(self.dir, "state.json")) or {}
            self.began = state.get("supervisor", {}).get("pid") == self.supervisor.pid
            if self.began:
                self.say_goes_on(False)
        if self.began and self.others:
            self.join_others()
        if self.began and self.asked and not self.told:
            self.pass_on()

    def run(self):
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
            signal.signal(number, self.take_signal)
        self.start()
        while self.supervisor.poll() is None:
            self.look()
            time.sleep(STEP)
        if self.steps:
            self.end_steps()
        return self.conclude()

    def end_steps(self):
        """Each `agent join` ends by itself when the run is over."""
        try:
            self.steps.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.steps.terminate()
            self.steps.wait()

    def conclude(self):
        state = read_json(os.path.join(self.dir, "state.json")) or {}
        phase = state.get("phase")
        goes_on = bool((read_json(self.run_file) or {}).get("slurm", {}).get("goesOn"))
        if goes_on and self.asked == signal.SIGTERM:
            return 0  # whether the job goes on is decided already, and Slurm's queue tells it
        if goes_on and phase == "stopped":
            try:
                says("scontrol", "requeue", self.number)
                return 0
            except Wrong as error:
                print("slurm_job.py: error: %s. Start the run in its folder again" % error, flush=True)
        self.say_goes_on(False)
        if phase in ("finished", "stopped"):
            return 0
        return state.get("exitCode") or 1


def join(run_dir, port):
    """Tells this node's `agent join` where the supervisor is; the key comes by the run's folder, which nobody else can read."""
    host = os.environ["SLURMD_NODENAME"]
    deadline = time.monotonic() + JOIN_SECONDS
    while True:
        joining = read_json(os.path.join(run_dir, "join.json"))
        if joining and joining.get("port") == port:
            break
        if time.monotonic() > deadline:
            raise Wrong("%s: join.json of %s is not seen here within %d s" % (host, run_dir, JOIN_SECONDS))
        time.sleep(STEP)
    run = read_json(os.path.join(run_dir, "run.json"))
    paths = run["paths"]
    folder = os.path.join(run_dir, "nodes", host)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    proxy = os.path.join(os.path.dirname(paths["mpiexec"]), "hydra_pmi_proxy")
    spec = {"address": run["nodes"][0]["address"], "port": port, "key": joining["key"]}
    spec["paths"] = {"agent": paths["agent"], "trainer": paths["trainer"], "proxy": proxy}
    replace_json(os.path.join(folder, "join.json"), spec)
    log = os.open(os.path.join(folder, "join.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.execv(paths["agent"], [paths["agent"], "join", "--run-dir", run_dir, "--host", host])


def main(words):
    os.umask(0o077)
    try:
        if words[0] == "join":
            join(words[1], int(words[2]))
        return Job(os.path.abspath(words[0])).run()
    except (Wrong, OSError) as error:
        print("slurm_job.py: error: %s" % error, flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
