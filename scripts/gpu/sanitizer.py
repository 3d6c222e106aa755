"""The ops once more, each tool of NVIDIA's compute-sanitizer looking on."""

import re
import shutil

from processes import NotHere, run

# A substring of the names of the kernels that copy by TMA, which racecheck leaves out: it does not follow copies by
# cp.async.bulk (https://github.com/Dao-AILab/flash-attention, AI/RACECHECK_TMA_HAZARD.md), and ended within itself on them.
BY_TMA = "pointwise_"
OPTIONS = {"memcheck": [], "racecheck": ["--kernel-name-exclude", f"kns={BY_TMA}"], "synccheck": []}
# What compute-sanitizer of CUDA 13.0 prints when the tool itself fails.
OWN_FAULT = "Internal Sanitizer Error"


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
    return next((line.lstrip("= ") for line in text.splitlines() if OWN_FAULT in line), None)


def finds(text):
    """Whether compute-sanitizer had found something before: lines of its own that name a fault of the program."""
    own = (line.lstrip("= ") for line in text.splitlines() if line.startswith("=========") and OWN_FAULT not in line)
    return any(re.match(r"(Error|Warning|Race|Potential|Invalid|Barrier|Uninitialized|Program hit)", line) for line in own)
