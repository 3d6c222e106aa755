"""The ops once more, each tool of NVIDIA's compute-sanitizer looking on."""

import itertools
import re
import shutil

from processes import NotHere

# A substring of the names of the kernels that copy by TMA, which racecheck leaves out. For copies by cp.async.bulk it
# reports hazards that are none (https://github.com/Dao-AILab/flash-attention, AI/RACECHECK_TMA_HAZARD.md). With these
# kernels among others of ours it ended within itself on an H200; whether they are the cause is not known yet.
BY_TMA = "pointwise_"
# A substring of the names of all kernels of ours, which stand in this namespace. NVIDIA's libraries copy by TMA too, and
# over their kernels racecheck was not done after 45 s.
OURS = "trainyard"
OPTIONS = {"memcheck": [], "racecheck": ["--kernel-name", f"kns={OURS}", "--kernel-name-exclude", f"kns={BY_TMA}"], "synccheck": []}
# Tools whose time over our kernels is not known yet. One that is not done in time says nothing of the program.
UNBOUNDED = ["racecheck"]
# What compute-sanitizer of CUDA 13.0 prints when the tool itself fails, or cannot watch this GPU.
OWN_FAULT = re.compile("Internal Sanitizer Error|Device not supported")
# What it prints of the program. A warning is one only where it names a hazard: others are about the tool's own limits.
FINDING = re.compile(r"Error|(Warning: )?(Race|Potential|Invalid|Barrier|Uninitialized|Program hit)")


def command_of(tool, device):
    """compute-sanitizer's command line before the program's own. Throws NotHere."""
    if device == "cpu":
        raise NotHere("it watches a GPU")
    found = shutil.which("compute-sanitizer")
    if found is None:
        raise NotHere("compute-sanitizer was not found on PATH")
    return [found, "--tool", tool, "--error-exitcode", "9", *OPTIONS[tool]]


def environment_of(environment):
    """Who starts the program is a thread of the sanitizer, which may end before the program."""
    return {name: value for name, value in environment.items() if name != "TRAINYARD_PROOF_TIED"}


def fault_of(text):
    """The line in which compute-sanitizer says that it failed itself, or None."""
    return next((line.lstrip("= ") for line in text.splitlines() if OWN_FAULT.search(line)), None)


def finds(text):
    """Whether compute-sanitizer named a fault of the program before it failed itself. What it says afterwards is that
    the program ended with it."""
    before = itertools.takewhile(lambda line: not OWN_FAULT.search(line), text.splitlines())
    own = (line.lstrip("= ") for line in before if line.startswith("========="))
    return any(FINDING.match(line) for line in own)
