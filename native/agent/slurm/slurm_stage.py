# A folder on the own disks of an allocation's nodes, before the run starts: listed and read once on
# the first node, then from node to node, and only what a node lacks (docs/contracts/slurm.md). What
# each node does is in native/node/stage/stage.py, which each gets by srun as it gets it by SSH elsewhere.
# Standard library only, Python 3.9 and newer.
import json
import os
import re
import secrets
import subprocess
import sys
import threading
import time

from slurm_tools import step_environment, step_on

ROUNDS = 3  # listings of a folder that changes while it is sent
SAYING_EVERY = 5  # seconds between two lines of progress
STEP = 0.1

# Reads the set-up program, whose length is the first word, and becomes it.
LOADER = (
    "import os,sys\n"
    "text = b''\n"
    "while len(text) < int(sys.argv[1]):\n"
    "    text += os.read(0, int(sys.argv[1]) - len(text)) or os._exit(9)\n"
    "exec(compile(text, 'set-up', 'exec'))\n"
)


class Failed(Exception):
    """Why nothing can be staged, for the run's reason."""


class Cancelled(Exception):
    """The job is to end."""


class Node:
    """The set-up program on one node. It ends with its input."""

    def __init__(self, name, address, program):
        self.name, self.address = name, address
        self.place = None  # where others get from it
        self.plan = {"state": "lacks", "files": 0, "bytes": 0}
        self.done = 0
        self.is_over = False
        self.text = ""  # what it does, where that is no number of bytes
        argv = step_on([name], [sys.executable, "-ISc", LOADER, str(len(program))])
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(argv, env=step_environment(), stdin=pipe, stdout=pipe)
        self.send(program)

    def send(self, data):
        try:
            self.child.stdin.write(data)
            self.child.stdin.flush()
        except OSError:
            pass  # its end is met where an answer is awaited

    def ask(self, op, params):
        """The result. Failed with the node's own words."""
        self.send(json.dumps({"op": op, "params": params}).encode() + b"\n")
        for line in self.child.stdout:
            answer = json.loads(line.decode())
            if "result" in answer:
                return answer["result"]
            if "error" in answer:
                error = answer["error"]
                raise Failed("%s: %s. %s" % (self.name, error["what"], error["hint"]))
            if "progress" in answer:
                self.take_progress(answer["progress"])
        raise Failed("%s: the program that stages there has ended. See slurm.log" % self.name)

    def take_progress(self, text):
        found = re.match(r"(\d+) \d+$", text)
        if found:
            self.done = int(found.group(1))
        else:
            self.text = text

    def end(self):
        try:
            self.child.stdin.close()
        except OSError:
            pass  # it has ended
        try:
            self.child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.child.terminate()
            self.child.wait()


def share_text(done, whole):
    unit, name = (1e9, "GB") if whole >= 1e9 else (1e6, "MB")
    return "%.1f of %.1f %s" % (done / unit, whole / unit, name)


def files_text(count):
    return "%d file%s" % (count, "" if count == 1 else "s")


class Staging:
    """`order` is that of stage.json. `say` gets a line about how far all nodes are; `ends` says
    whether the job is to end."""

    def __init__(self, order, say, ends):
        self.order, self.say, self.ends = order, say, ends
        self.key = secrets.token_hex(32)
        self.source = None
        self.nodes = []
        self.opened = []
        self.said_at = 0

    def open(self, name, address):
        node = Node(name, address, self.order["program"].encode())
        self.opened.append(node)
        return node

    def close(self):
        for node in self.opened:
            node.end()

    def all(self, tasks):
        """Runs these at once, and says how far they are meanwhile. The first error of any."""
        results = [None] * len(tasks)
        errors = []

        def run(index, task):
            try:
                results[index] = task()
            except (Failed, ValueError, OSError) as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=each, daemon=True) for each in enumerate(tasks)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if self.ends():
                raise Cancelled()
            self.say_progress()
            time.sleep(STEP)
        if errors:
            raise Failed(str(errors[0]))
        return results

    def one(self, task):
        return self.all([task])[0]

    def say_progress(self):
        if time.monotonic() < self.said_at + SAYING_EVERY:
            return
        self.said_at = time.monotonic()
        texts = []
        for node in self.nodes:
            if node.plan["state"] == "lacks" and node.plan["bytes"] > 0:
                state = "done" if node.is_over else share_text(node.done, node.plan["bytes"])
                texts.append("%s %s" % (node.name, state))
        self.say(", ".join(texts) or self.source.text or "looking at %s" % self.order["from"])

    def stage(self):
        """What was done, for people. Failed, Cancelled."""
        folder = self.order["from"]
        if "programs" in self.order:
            beside = self.order["to"].rstrip("/") + ".fetched"
            params = {"url": folder, "to": beside, "programs": self.order["programs"]}
            folder = self.one(lambda: self.source.ask("stage-address", params))["folder"]
        for _ in range(ROUNDS):
            listed = self.one(lambda: self.source.ask("stage-list", {"from": folder}))
            if listed["files"] == 0:
                raise Failed("%s: there is no file in %s. Name another folder" % (self.source.name, folder))
            if not listed["isFolder"]:
                raise Failed("%s on %s is a file. Name a folder" % (folder, self.source.name))
            params = {name: listed[name] for name in ("tree", "first", "mark")}
            params.update({"to": self.order["to"], "key": self.key})
            params.update({"keep": True, "replace": False, "verify": False})
            changed = self.round(params)
            if changed is None:
                return self.summary(listed)
        raise Failed("%s: %s changed while it was sent. Try again once nothing writes to it" % (self.source.name, changed))

    def offer(self, node):
        first, last = self.order["ports"]
        params = {"key": self.key, "address": node.address, "firstPort": first, "lastPort": last}
        node.place = {"host": node.address, "port": node.ask("stage-offer", params)["port"]}

    def round(self, params):
        """One listing on all nodes. The name of a file that changed meanwhile, or None."""
        if self.source.place is None:
            self.one(lambda: self.offer(self.source))
        from_source = dict(params, **{"from": [self.source.place]})
        plans = self.all([lambda node=node: node.ask("stage-plan", from_source) for node in self.nodes])
        for node, plan in zip(self.nodes, plans):
            node.plan, node.done, node.is_over = plan, 0, plan["state"] != "lacks"
        chain = [node for node in self.nodes if node.plan["state"] != "same"]
        chain.sort(key=lambda node: node.plan["state"] != "whole")  # those that lack nothing give first
        self.all([lambda node=node: self.offer(node) for node in chain[:-1] if node.place is None])
        answers = self.all([lambda at=at: self.get(chain, at, params) for at in range(len(chain))])
        digests = {answer["digest"] for answer in answers if answer["digest"] is not None}
        if len(digests) > 1:
            raise Failed("what the nodes have in %s differs. Remove the folder there, and start again" % params["to"])
        return next((answer["changed"][0] for answer in answers if answer["changedCount"] > 0), None)

    def get(self, chain, at, params):
        """From the node before it in the chain, and at last from the source."""
        givers = [node.place for node in reversed(chain[:at])] + [self.source.place]
        answer = chain[at].ask("stage-get", dict(params, **{"from": givers}))
        chain[at].is_over = True
        return answer

    def summary(self, listed):
        sent = self.one(lambda: self.source.ask("stage-sent", {}))
        parts = []
        for node in self.nodes:
            shared = node.plan["state"] == "same"
            got = "sees the source's own files" if shared else "got " + files_text(node.plan["files"])
            parts.append("%s %s" % (node.name, got))
        text = "%s, %d bytes, in %s: %s; %d bytes left the source"
        whole = (files_text(listed["files"]), listed["bytes"], self.order["to"])
        return text % (whole + (", ".join(parts), sent["bytes"]))


def stage_all(run_dir, nodes, say, ends):
    """Stages what stage.json of the run asks for; `nodes` are names and addresses, the first one
    first. What was done, for people; None where nothing is asked for. Failed, Cancelled."""
    try:
        with open(os.path.join(run_dir, "stage.json")) as file:
            order = json.load(file)
    except FileNotFoundError:
        return None
    staging = Staging(order, say, ends)
    try:
        first, address = nodes[0]
        staging.source = staging.open(first, address)
        staging.nodes = [staging.open(*node) for node in nodes]
        return staging.stage()
    finally:
        staging.close()
