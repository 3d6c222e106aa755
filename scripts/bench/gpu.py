"""Our training step on a GPU beside PyTorch's, eager and torch.compile, in one run.

For each precision and batch: images/s, the GPU's memory, and seconds from a process's start to the end of its first
step. `--trainer` is the built trainer, else native/proof is built from the source tree (as scripts/gpu/proof.py does) and
measured, which needs nvcc, g++, cuDNN and cuBLAS. Ours and PyTorch's steps are of one fixed batch, which is on the
device before they begin. With `--trainer` and `--data SHARDS`, real images too, decoded on the CPU and by nvJPEG.

Writes bench-gpu.json and bench-gpu.md anew after each row: a run that is killed leaves the rows that it has. Rows of
torch.compile, which take minutes, come last. `--device cpu` rehearses it with tiny networks; its figures mean nothing.
Exit 4 without a GPU, 1 when a row failed or was left out.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
from builder import Builder, sources_digest  # noqa: E402
from gpu_rows import Rows  # noqa: E402
from gpu_table import line_of, markdown  # noqa: E402
from processes import Failed, Limit, TimeLimit, call, run  # noqa: E402
from report import versions  # noqa: E402
from tools import ROOT, architectures, find_tools, gpu_identity, missing_gpu  # noqa: E402

REAL = {"model": "resnet50", "size": 224, "batches": [32, 64, 256], "precisions": ["bf16", "fp16"], "steps": 50}
REHEARSAL = {"model": "resnet18", "size": 32, "batches": [2], "precisions": ["bf16"], "steps": 1}
MODES = ["eager", "compile"]
COMPILE_MODES = ["max-autotune", "reduce-overhead", "default"]
# Seconds that a row may take on a GPU; a rehearsal on a processor takes up to SLOWER times as long.
LIMITS = {"PyTorch eager": 120, "PyTorch compile": 420}
OURS, BUILD, SLOWER = 90, 420, 5
# What a program says on stderr when it goes another way than the one to be measured.
ANOTHER_WAY = re.compile(r"\bnote:|fall(s|ing)?[ -]?back|skipping cudagraphs|not enough SMs", re.IGNORECASE)


class MemoryWatch:
    """The memory of the GPU that a program takes first, while something runs, over what was taken before: MiB, looked
    at twice a second. `peak` is None where nvidia-smi did not say it."""

    def __init__(self, device):
        self.watched, self.peak, self.ended = device == "cuda", 0, threading.Event()

    @staticmethod
    def used():
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
        which = [f"--id={first}"] if first else []
        words = ["nvidia-smi", *which, "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        return int(call(words, 60).splitlines()[0])

    def __enter__(self):
        if self.watched:
            self.before = self.look()
            self.thread = threading.Thread(target=self.watch)
            self.thread.start()
        return self

    def look(self):
        try:
            return self.used()
        except (Failed, OSError, ValueError) as failure:
            print(f"the memory of this row is not known: {failure}", file=sys.stderr)
            self.peak = None
            return None

    def watch(self):
        while self.peak is not None and not self.ended.wait(0.5):
            now = self.look()
            if now is not None:
                self.peak = max(self.peak, now - self.before)

    def __exit__(self, *_):
        self.ended.set()
        if self.watched:
            self.thread.join()


def measure(command, device, env, seconds):
    began = time.time()
    with MemoryWatch(device) as watch:
        ended = run(command, seconds, env)
    if ended.code is None:
        raise TimeLimit(f"stopped at its time limit of {seconds:g} s")
    if ended.code != 0:
        raise Failed(f"ended with {ended.code}: {(ended.out + ended.err).strip()[-1500:]}")
    said = json.loads(ended.out.strip().splitlines()[-1])
    notes = [line.strip() for line in ended.err.splitlines() if ANOTHER_WAY.search(line)]
    return {"images_per_sec": said["images_per_sec"], "step_ms": said["step_ms"], "images": said["images"],
            "recorded_graphs": said.get("recorded_graphs"), "memory_mib": watch.peak, "start_seconds": said["first_step_at"] - began,
            "notes": list(dict.fromkeys(notes))[:5]}


class Ours:
    """The trainer that was given, or the program made from the source tree."""

    def __init__(self, given, shape, seconds):
        """seconds: in which a build must end."""
        self.device, self.trainer, self.shape, self.env = given.device, given.trainer, shape, None
        if self.trainer is not None:
            return
        builder = Builder(given.out, find_tools(), architectures(given.device))
        self.program, self.env = given.out / "proof", builder.environment()
        if not builder.fresh():
            builder.build(Limit(seconds))

    def command(self, batch, precision, data="synthetic:1000x224", jpeg_decoder="cpu"):
        model, size, steps = (self.shape[name] for name in ("model", "size", "steps"))
        if self.trainer is None:
            return [self.program, "bench", self.device, model, size, batch, precision, steps]
        return [self.trainer, "bench", "step", "--comm", "none", "--device", self.device, "--model", model, "--image-size", size,
                "--batch-size", batch, "--precision", precision, "--steps", steps, "--warmup", "6", "--data", data, "--jpeg-decoder", jpeg_decoder]


def torch_command(python, mode, shape, device, batch, precision, compile_mode):
    model, size, steps = (shape[name] for name in ("model", "size", "steps"))
    return [python, ROOT / "scripts/bench/support/torch_step.py", "--mode", mode, "--compile-mode", compile_mode, "--device", device,
            "--model", model, "--image-size", size, "--batch-size", batch, "--precision", precision, "--steps", steps, "--warmup", 6]


class Comparison:
    """Rows: one a precision, batch and program, each its figures or why there are none."""

    def __init__(self, given, shape, rows, ends):
        self.given, self.shape, self.rows, self.ends = given, shape, rows, ends

    def programs(self):
        given = self.given
        names = ["trainyard"]
        if given.trainer is not None and given.data is not None:
            names += ["trainyard, real images"] + (["trainyard, real images by nvJPEG"] if given.device == "cuda" else [])
        return names + [f"PyTorch {mode}" for mode in given.modes]

    def keys(self):
        """In the order of the table."""
        return [(precision, batch, program) for precision in self.shape["precisions"] for batch in self.shape["batches"]
                for program in self.programs()]

    def command(self, ours, precision, batch, program):
        if program.startswith("PyTorch "):
            given, mode = self.given, program.removeprefix("PyTorch ")
            return torch_command(given.torch, mode, self.shape, given.device, batch, precision, given.compile_mode)
        if program == "trainyard":
            return ours.command(batch, precision)
        return ours.command(batch, precision, self.given.data, "nvjpeg" if program.endswith("nvJPEG") else "cpu")

    def limit(self, program):
        own = LIMITS.get(program, OURS) * (SLOWER if self.given.device == "cpu" else 1)
        return self.given.limit if self.given.limit is not None else own

    def build_seconds(self):
        own = BUILD * (SLOWER if self.given.device == "cpu" else 1)
        return own if self.ends is None else max(0.0, min(own, self.ends - time.monotonic()))

    def fits(self, seconds):
        return self.ends is None or time.monotonic() + seconds <= self.ends

    def run(self):
        """Returns the keys of the rows that there was no time for."""
        order = {row: place for place, row in enumerate(self.keys())}
        place_of = lambda row: (order.get(row, len(order)), str(row))
        shown = self.rows.shown(self.given.again) if self.given.go_on else set()
        # Sorting keeps the order of the table otherwise.
        wanted = sorted((row for row in order if row not in shown), key=lambda row: row[2] == "PyTorch compile")
        if not wanted:
            return []
        ours = Ours(self.given, self.shape, self.build_seconds()) if any(row[2].startswith("trainyard") for row in wanted) else None
        left_out = []
        for precision, batch, program in wanted:
            if not self.fits(self.limit(program)):
                left_out.append((precision, batch, program))
                continue
            row = {"precision": precision, "batch": batch, "program": program}
            self.rows.begin(f"{program}, {precision}, batch {batch}")
            try:
                command = self.command(ours, precision, batch, program)
                row |= measure(command, self.given.device, ours.env if program.startswith("trainyard") else None, self.limit(program))
                if program == "PyTorch compile" and self.given.device == "cuda":
                    row["notes"].insert(0, f"the mode of torch.compile is {self.given.compile_mode}")
            except (Failed, OSError, ValueError, KeyError, IndexError) as failure:
                row["failure"] = str(failure) or type(failure).__name__
            self.rows.end(row, place_of)
            print(line_of(row), flush=True)
        return left_out


def read_arguments():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build/gpu-proof")
    arguments.add_argument("--report", type=pathlib.Path, metavar="FOLDER", help="write the report there too")
    arguments.add_argument("--torch", default=sys.executable, help="a Python with PyTorch and torchvision")
    arguments.add_argument("--trainer", help="the built trainer (default: a program made from the source tree)")
    arguments.add_argument("--batches", type=int, nargs="+", help="images a step (default: 32 64 256)")
    arguments.add_argument("--precisions", nargs="+", choices=["fp32", "tf32", "bf16", "fp16"], help="default: bf16 fp16")
    arguments.add_argument("--modes", nargs="*", choices=MODES, default=MODES, help="of PyTorch; compiling takes minutes for each row")
    arguments.add_argument("--compile-mode", choices=COMPILE_MODES, default="max-autotune", help="of torch.compile (default: max-autotune)")
    arguments.add_argument("--data", help="TFRecord shards of images for the rows of real ones; needs --trainer")
    arguments.add_argument("--minutes", type=float, help="start no row whose time limit is more than what is left of these")
    arguments.add_argument("--limit", type=float, metavar="SECONDS", help="the time limit of each row, instead of its own")
    arguments.add_argument("--continue", dest="go_on", action="store_true", help="only rows that the report that is there does not have")
    arguments.add_argument("--again", action="store_true", help="with --continue: those that failed too")
    given = arguments.parse_args()
    if given.data is not None and given.trainer is None:
        arguments.error("--data needs --trainer: the program made from the source tree reads no images")
    given.out = given.out.resolve()
    return given


def go_on_command(words):
    """The command that measures what this call left out."""
    flags = [] if "--continue" in words else ["--continue"]
    return shlex.join(["python3", "scripts/bench/gpu.py", *words, *flags])


def identity(given):
    """What is measured as ours: rows of two of them do not belong into one table."""
    if given.trainer is None:
        return f"the source tree {sources_digest()}"
    return f"the trainer {hashlib.sha256(pathlib.Path(given.trainer).read_bytes()).hexdigest()}"


def main():
    given = read_arguments()
    missing = missing_gpu() if given.device == "cuda" else None
    if missing is not None:
        print(f"bench:gpu: error: there is no NVIDIA GPU here ({missing}). Run it on a machine with one", file=sys.stderr)
        return 4
    ends = time.monotonic() + 60 * given.minutes if given.minutes is not None else None
    shape = dict(REAL if given.device == "cuda" else REHEARSAL)
    shape |= {name: chosen for name in ("batches", "precisions") if (chosen := getattr(given, name)) is not None}
    folders = [given.out] + ([given.report.resolve()] if given.report is not None else [])
    try:
        about = {"model": shape["model"], "size": shape["size"], "steps": shape["steps"], "device": given.device, "ours": identity(given)}
        about |= gpu_identity() if given.device == "cuda" else {}
        rows = Rows(folders, about, versions(None))
        rows.open(given.go_on)
        left_out = Comparison(given, shape, rows, ends).run()
    except (Failed, OSError) as failure:
        print(f"bench:gpu: error: {failure}", file=sys.stderr)
        return 1
    rows.finish([f"{program}, {precision}, batch {batch}" for precision, batch, program in left_out],
                go_on_command(sys.argv[1:]) if left_out else None)
    print(markdown(rows.report))
    return 1 if left_out or any("failure" in row for row in rows.report["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
