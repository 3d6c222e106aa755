"""Proves the CUDA back end on a machine with a GPU, from the source tree alone and without a network.

Needs nvcc 13, g++ 11 or newer, and cuDNN 9 and cuBLAS 13 with their headers (PyTorch's wheels have them). Builds
libtrainer_cuda.so and a small program without oneDNN and MPI, runs every part, goes on after one that failed, and
writes gpu-proof.json and gpu-proof.md anew after each part: a run that is killed leaves what it has shown. With
PyTorch (of --torch, else of this Python) its steps are repeated there. `--device cpu` rehearses everything on a
machine without a GPU but the device. What cannot be shown on this machine says why, and is not a failure.

Exit 0 where every part that was asked for ran, and held or said why it is not here; 4 without a GPU; 1 otherwise.
"""

import argparse
import pathlib
import shlex
import sys
import time

from builder import Builder, sources_digest
from parts import LIMITS, SLOWER, Parts
from processes import Failed, Limit, NotHere, TimeLimit
from progress import Progress
from report import versions
from tools import ROOT, architectures, find_tools, gpu_identity, missing_gpu


class NoTime(Exception):
    """A part was not begun, since it may not end in the minutes that are left."""


class Proof:
    def __init__(self, given, progress, ends):
        self.given, self.progress, self.ends, self.parts = given, progress, ends, None

    def limit(self, name):
        return self.given.limit if self.given.limit is not None else LIMITS[name] * SLOWER[self.given.device]

    def fits(self, name):
        return self.ends is None or time.monotonic() + self.limit(name) <= self.ends

    def part(self, name, body):
        """Runs one part and notes how it went. Returns whether it held, and None where there was no time for it."""
        started, limit = time.monotonic(), Limit(self.limit(name))
        entry = {"part": name, "ok": False, "seconds": 0.0}
        self.progress.begin(name)
        try:
            body(entry, limit)
            entry["ok"] = True
        except NoTime:
            self.progress.break_off()
            return None
        except NotHere as reason:
            entry["why_not"] = str(reason)
        except TimeLimit as hit:
            entry["time_limit"] = limit.seconds
            entry["failure"] = f"{name} was stopped at its time limit of {limit.seconds:g} s; {hit}"
        except Failed as failure:
            entry["failure"] = str(failure)
        except Exception as failure:  # noqa: BLE001 - a part that breaks must not keep the others from running
            entry["failure"] = f"{type(failure).__name__}: {failure}"
        entry["seconds"] = round(time.monotonic() - started, 1)
        self.progress.end(entry)
        print(f"{'ok       ' if entry['ok'] else 'not shown' if 'why_not' in entry else 'FAILED   '} {name} ({entry['seconds']} s)", flush=True)
        why = entry.get("failure", entry.get("why_not"))
        if why is not None:
            print("          " + why.replace("\n", "\n          "), flush=True)
        return entry["ok"]

    def build(self):
        """Makes what the parts run. Returns as part() does."""
        given = self.given
        if given.program is not None:
            self.parts = Parts(given.out, given.device, given.torch, given.program, None, None)
            return True

        def body(entry, limit):
            tools = find_tools()
            builder = Builder(given.out, tools, given.targets or architectures(given.device), shlex.split(given.launcher))
            self.progress.report["versions"] = versions(tools)
            if not given.rebuild and builder.fresh():
                entry["figures"] = {"built before": "for " + ", ".join(f"sm_{t}" for t in builder.targets)}
            elif not self.fits("build"):
                raise NoTime
            else:
                entry["figures"] = builder.build(limit)
            self.parts = Parts(given.out, given.device, given.torch, given.out / "proof", builder.environment(), tools)

        return self.part("build", body)

    def run(self, asked):
        """The parts that were asked for, as many as time is left for. Returns the names of those that were not run,
        and why."""
        no_time = "its time limit is more than what was left of --minutes"
        built = self.build() if asked else True
        if built is None:
            return asked, f"the build comes first, and {no_time}"
        if not built:
            return [name for name in asked if name != "build"], "the build failed"
        left_out = []
        for name in asked:
            if name == "build":
                continue
            if not self.fits(name):
                left_out.append(name)
                continue
            self.part(name, lambda entry, limit, name=name: self.parts.run(name, entry, limit))
        return left_out, no_time


def read_arguments():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    arguments.add_argument("--parts", nargs="+", metavar="NAME", help=f"these alone, into the report that is there: {', '.join(LIMITS)}")
    arguments.add_argument("--continue", dest="go_on", action="store_true", help="only parts that the report that is there does not show")
    arguments.add_argument("--minutes", type=float, help="start no part whose time limit is more than what is left of these")
    arguments.add_argument("--limit", type=float, metavar="SECONDS", help="the time limit of each part, instead of its own")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build/gpu-proof", help="for what is built, and the report")
    arguments.add_argument("--report", type=pathlib.Path, metavar="FOLDER", help="write the report there too")
    arguments.add_argument("--targets", nargs="+", metavar="90", help="compute capabilities to build for (default: the GPUs' own)")
    arguments.add_argument("--rebuild", action="store_true", help="build even where everything is as it was")
    arguments.add_argument("--launcher", default="", help="words in front of each compiler, such as ccache")
    arguments.add_argument("--torch", default=sys.executable, help="a Python with PyTorch and torchvision")
    arguments.add_argument("--program", help="a stand-in for the program that is built: for tests of this script")
    given = arguments.parse_args()
    unknown = [name for name in given.parts or [] if name not in LIMITS]
    if unknown:
        arguments.error(f"--parts {' '.join(unknown)} is not known. The parts are {', '.join(LIMITS)}")
    given.out = given.out.resolve()
    return given


def go_on_command(given, left_out):
    """The command that runs what this call left out."""
    words = ["python3", "scripts/gpu/proof.py", "--device", given.device, "--out", str(given.out), "--continue", "--parts", *left_out]
    for flag in ("minutes", "limit", "report", "torch", "program", "launcher"):
        value = getattr(given, flag)
        if value not in (None, "") and (flag != "torch" or value != sys.executable):
            words += [f"--{flag}", str(value) if not isinstance(value, float) else f"{value:g}"]
    return shlex.join(words)


def open_report(given):
    """The report that this call writes, with what earlier calls showed where it goes on with them."""
    folders = [given.out] + ([given.report.resolve()] if given.report is not None else [])
    known = [name for name in LIMITS if name != "build" or given.program is None]
    sources = sources_digest() if given.program is None else "none: a stand-in"
    about = {"device": given.device, "sources": sources, "program": given.program}
    progress = Progress(folders, known, about | (gpu_identity() if given.device == "cuda" else {}))
    progress.open(given.parts is not None or given.go_on)
    return progress


def main():
    given = read_arguments()
    # Who only builds, and says for what, needs no GPU.
    needs_gpu = given.device == "cuda" and not (given.parts == ["build"] and given.targets) and given.program is None
    missing = missing_gpu() if needs_gpu else None
    if missing is not None:
        print(f"gpu-proof: error: there is no NVIDIA GPU here ({missing}). Run it on a machine with one, or rehearse it with --device cpu", file=sys.stderr)
        return 4
    ends = time.monotonic() + 60 * given.minutes if given.minutes is not None else None
    progress = open_report(given)
    asked = [name for name in progress.known if given.parts is None or name in given.parts]
    shown = progress.entries() if given.go_on else {}
    left_out, why = Proof(given, progress, ends).run([name for name in asked if name not in shown])
    if left_out:
        progress.leave_out(left_out, why, go_on_command(given, left_out))
        print(f"left out: {', '.join(left_out)}: {why}\nto go on: {progress.report['go_on']}")
    else:
        progress.write()
    missing = progress.report["not_shown"]
    holds = not left_out and progress.holds(asked)  # what an earlier call showed is no answer to this one
    print(f"{'everything' if holds else 'not everything'} that was asked for holds; {len(missing)} parts are not shown yet: {given.out / 'gpu-proof.md'}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
