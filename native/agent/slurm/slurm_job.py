# slurm_job.py RUN_DIR: what Slurm's batch script becomes, on the first node of an allocation
# (docs/contracts/slurm.md). It writes the nodes into run.json, starts the supervisor here and
# `agent join` on the other nodes by srun, and passes on what Slurm says to the job.
# slurm_job.py join RUN_DIR PORT: what srun starts on each of the other nodes.
# slurm_job.py look: what srun starts on each node, to say what GPUs and driver are there.
# Standard library only, Python 3.9 and newer.
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder of this file is as it was put there

from slurm_nodes import look_at, note_drivers, say_node, too_old  # noqa: E402: after that
from slurm_stage import Cancelled, Failed, stage_all  # noqa: E402: after that
from slurm_tools import (  # noqa: E402: after that
    Wrong,
    address_of,
    down_nodes,
    end_board,
    ended_log,
    gpus_of,
    keep_earlier,
    newest_step,
    read_json,
    replace_json,
    says,
    step_environment,
    step_on,
    write_end,
)

NUMBER_SECONDS = 60  # for run.json to have the job's number, which is known after the job was submitted
JOIN_SECONDS = 60  # for the supervisor to listen, and for its file to be seen on the other nodes
STEP = 0.1

# Why a job is not given to the queue again.
NOWHERE = (
    "its time limit was near before it made a step, so it does not go back into the queue:"
    " give it more time, or a shorter stopAhead"
)
DATA_MISSING = 4  # a run's exit code where what it needs cannot be put on its nodes
DEVICE = 4  # that of a trainer whose GPUs cannot be used
PROGRAM = os.path.abspath(__file__)
STOPPED = 75


class Job:
    def __init__(self, run_dir):
        self.dir = run_dir
        self.run_file = os.path.join(run_dir, "run.json")
        self.number = os.environ["SLURM_JOB_ID"]
        self.supervisor = None
        self.steps = None
        self.seen = {}  # by node, where the job has GPUs: what look_at found there
        self.others = []  # nodes that have not been told to join yet
        self.asked = None  # the signal that asked for a stop
        self.told = False  # whether the supervisor knows of it
        self.began = False  # whether the state is that of this start
        self.step = 0  # of the newest checkpoint, before this start

    def read_run(self):
        """run.json, once it names this job: another job in it is a later start in the same
        folder."""
        deadline = time.monotonic() + NUMBER_SECONDS
        while True:
            run = read_json(self.run_file)
            if run and run.get("slurm", {}).get("job") == self.number:
                return run
            if time.monotonic() > deadline:
                raise Wrong("%s does not name job %s: the run was started anew, or its folder cannot be read here" % (self.run_file, self.number))
            time.sleep(STEP)

    def stopped_by(self):
        """Who stopped this job's run by `trainyard stop`; None where nobody did."""
        stop = read_json(os.path.join(self.dir, "stop-job.json"))
        return stop["by"] if stop and stop["job"] == self.number else None

    def say_goes_on(self, goes_on):
        run = read_json(self.run_file)
        said = True if goes_on else None  # False is a client's word, of a job that is over
        if run is None or run["slurm"].get("goesOn") is said:
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
        # Slurm sets it where a job has GPUs, whether Trainyard gives them to ranks or not.
        has_gpus = "CUDA_VISIBLE_DEVICES" in os.environ or any(node["gpus"] for node in layout)
        self.seen = look_at(names, PROGRAM) if has_gpus else {}
        visible = {name: node["visible"] for name, node in self.seen.items()}
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

    def fits(self, run):
        """Whether the nodes' drivers run what the run has for GPUs. They are noted first."""
        began = time.time()
        workdir = os.path.abspath(os.path.join(os.path.dirname(PROGRAM), "../../../.."))
        note_drivers(workdir, os.environ.get("SLURM_JOB_PARTITION", ""), self.seen)
        trouble = too_old(run["slurm"].get("oldestDriver", 0), self.seen)
        if trouble is None:
            return True
        print("slurm_job.py: error: %s" % trouble, flush=True)
        write_end(self.dir, "failed", trouble, DEVICE, began)
        return False

    def stage(self):
        """Whether the run may start: what it wants staged is on its nodes' own disks."""
        began = time.time()
        nodes = [(node["host"], node["address"]) for node in read_json(self.run_file)["nodes"]]
        try:
            done = stage_all(self.dir, nodes, self.say_staging, lambda: self.asked is not None)
        except Failed as error:
            self.say_staging(None)
            print("slurm_job.py: error: %s" % error, flush=True)
            write_end(self.dir, "failed", "staging failed: %s" % error, DATA_MISSING, began)
            return False
        except Cancelled:
            self.say_staging(None)
            self.say_goes_on(False)  # but where Slurm is to start the job again
            self.prepare_end()
            write_end(self.dir, "stopped", "stopped while its data was staged", STOPPED, began)
            return False
        self.say_staging(None)
        if done is not None:
            print("slurm_job.py: staged %s" % done, flush=True)
        return True

    def say_staging(self, text):
        """How far staging is, in run.json, for people."""
        run = read_json(self.run_file)
        if run is None or run["slurm"].get("staging") == text:
            return
        run["slurm"].pop("staging", None)
        if text is not None:
            run["slurm"]["staging"] = text
            print("slurm_job.py: staging: %s" % text, flush=True)
        replace_json(self.run_file, run)

    def start(self, names):
        run = read_json(self.run_file)
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
        argv = step_on(names, [sys.executable, PROGRAM, "join", self.dir, str(joining["port"])])
        self.steps = subprocess.Popen(argv, env=step_environment(), stdin=subprocess.DEVNULL)

    def take_signal(self, number, _frame):
        """USR1 comes ahead of the time limit, TERM where Slurm ends the job, USR2 from `trainyard
        stop`."""
        if self.asked is None:
            self.asked = number

    def pass_on(self):
        """What Slurm asked for, once the supervisor has taken up the run."""
        self.told = True
        print("slurm_job.py: %s: the run stops after a checkpoint" % signal.Signals(self.asked).name, flush=True)
        self.prepare_end(lambda: self.supervisor.send_signal(signal.SIGTERM))

    def prepare_end(self, end=lambda: None):
        """What run.json says of an end that Slurm asked for, before and after `end`."""
        run = read_json(self.run_file) or {}
        if self.asked != signal.SIGUSR2 and run.get("slurm", {}).get("requeue") and not self.stopped_by():
            self.say_goes_on(True)
        end()
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
        """Slurm's word for the end that comes; TIME_LIMIT_NEAR ahead of a time limit. The
        controller forgets it where it requeues the job."""
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
        run = self.read_run()
        by = self.stopped_by()
        if by:
            self.say_goes_on(False)
            write_end(self.dir, "stopped", "stopped by %s before its job began again" % by, STOPPED, time.time())
            return 0
        self.step = newest_step(self.dir)
        names = self.place(run)
        if self.fits(run) and self.stage():
            self.supervise(names)
        return self.conclude()

    def supervise(self, names):
        self.start(names)
        while self.supervisor.poll() is None:
            self.look()
            time.sleep(STEP)
        if self.steps:
            self.end_steps()
        end_board(self.dir)

    def end_steps(self):
        """Each `agent join` ends by itself when the run is over."""
        try:
            self.steps.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.steps.terminate()
            self.steps.wait()

    def came_nowhere(self):
        """Whether a training was stopped ahead of its time limit before it made a step: it would be
        so for ever. Steps of an own program are not known."""
        run = read_json(self.run_file) or {}
        near = self.end_state() == "TIME_LIMIT_NEAR"
        return near and run.get("program") == "trainer" and newest_step(self.dir) <= self.step

    def end_state(self):
        """Slurm's word for the end, once say_why has written it."""
        return (read_json(self.run_file) or {}).get("slurm", {}).get("ended", {}).get("state")

    def say_came_nowhere(self):
        path = os.path.join(self.dir, "state.json")
        replace_json(path, dict(read_json(path), reason=NOWHERE))
        print("slurm_job.py: %s" % NOWHERE, flush=True)

    def conclude(self):
        state = read_json(os.path.join(self.dir, "state.json")) or {}
        phase = state.get("phase")
        goes_on = bool((read_json(self.run_file) or {}).get("slurm", {}).get("goesOn")) and not self.stopped_by()
        if goes_on and self.asked == signal.SIGTERM:
            # Whether the job goes on is decided already, and Slurm's queue tells it. One that
            # somebody cancelled does not.
            if self.end_state() == "CANCELLED":
                self.say_goes_on(False)
            return 0
        if goes_on and phase == "stopped" and self.came_nowhere():
            self.say_came_nowhere()
        elif goes_on and phase == "stopped":
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
    """Tells this node's `agent join` where the supervisor is; the key comes by the run's folder,
    which nobody else can read."""
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
        if words[0] == "look":
            return say_node()
        return Job(os.path.abspath(words[0])).run()
    except (Wrong, OSError) as error:
        print("slurm_job.py: error: %s" % error, flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
