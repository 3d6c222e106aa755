# What the nodes of an allocation are: the GPUs that Slurm shows to the job there, and NVIDIA's
# driver, which is noted on the shared disk. The next start takes the build of the CUDA back end
# that fits (src/core/setup/notedDrivers.ts). Standard library only, Python 3.9 and newer.
import json
import os
import re
import subprocess
import sys
import time

from driver import driver_version, nvidia_gpus
from slurm_tools import replace_json, step_environment, step_on

MARK = "NODE "
LOOK_SECONDS = 120  # a large allocation starts its step slowly
OLDEST = 525  # the first driver that runs any build (oldestDrivers of src/core/setup/cudaBuild.ts)
# A name of Slurm's that can be a name of a file.
NAME = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$")


def say_node():
    """One line of this node, for look_at."""
    node = {"node": os.environ["SLURMD_NODENAME"], "visible": os.environ.get("CUDA_VISIBLE_DEVICES", "")}
    node.update({"driver": driver_version(), "gpus": nvidia_gpus()})
    print(MARK + json.dumps(node), flush=True)


def look_at(nodes, program):
    """By node: what `program look`, the job's own program, says there."""
    argv = step_on(nodes, [sys.executable, program, "look"])
    try:
        said = subprocess.run(argv, env=step_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True, timeout=LOOK_SECONDS).stdout
    except subprocess.TimeoutExpired:
        print("slurm_job.py: the nodes did not say within %d s what GPUs they have" % LOOK_SECONDS, flush=True)
        return {}
    lines = [said_node(line[len(MARK) :]) for line in said.splitlines() if line.startswith(MARK)]
    return {line["node"]: line for line in lines if line}


def said_node(text):
    """None for a line of somebody else's, as a site's prolog may print it."""
    try:
        node = json.loads(text)
    except ValueError:
        return None
    return node if isinstance(node, dict) and "node" in node else None


def note_drivers(workdir, partition, seen):
    """Keeps what the nodes with a driver are: a file for each partition and node."""
    folder = os.path.join(workdir, "slurm-drivers", partition)
    for name, node in seen.items():
        if node["driver"] is None or not NAME.match(partition) or not NAME.match(name):
            continue
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            note = {"node": name, "driver": node["driver"], "gpus": node["gpus"], "time": time.time()}
            replace_json(os.path.join(folder, name + ".json"), note)
        except OSError as error:
            print("slurm_job.py: the driver of %s is not noted: %s" % (name, error), flush=True)


def too_old(oldest, seen):
    """Why the build of the CUDA back end that the run has cannot run on its nodes; None where it
    can, and where no driver is to be seen."""
    drivers = {name: node["driver"] for name, node in sorted(seen.items()) if node["driver"] is not None}
    found = {name: driver for name, driver in drivers.items() if release_of(driver) < oldest}
    if not found:
        return None
    nodes = ", ".join("%s has %s" % each for each in found.items())
    what = "the run's build of the CUDA back end needs NVIDIA's driver %d or newer, and %s. " % (oldest, nodes)
    if any(release_of(driver) < OLDEST for driver in found.values()):
        return what + "Install driver %d or newer there, or keep the run off these nodes" % OLDEST
    return what + "The drivers are noted: start the run again, and it gets the build that fits. Where the profile says \"cuda\", take it out"


def release_of(driver):
    """580 of 580.65.06."""
    number = driver.split(".")[0]
    return int(number) if number.isdigit() else 0
