"""Our training step on a GPU beside PyTorch's, eager and torch.compile (max-autotune), by turns in one run.

For each precision and batch: images/s, the GPU's memory, and seconds from a process's start to the end of its first
step. `--trainer` is the built trainer, else native/proof is built from the source tree (as scripts/gpu/proof.py does) and
measured, which needs nvcc, g++, cuDNN and cuBLAS. With `--trainer` and `--data SHARDS`, real images too, beside
synthetic ones, decoded on the CPU and by nvJPEG. Writes bench-gpu.json and bench-gpu.md. `--device cpu` rehearses it with tiny networks; its figures
mean nothing. Exit 4 without a GPU, 1 when something failed.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
from builder import Builder  # noqa: E402
from report import versions  # noqa: E402
from tools import ROOT, Failed, architectures, call, find_tools  # noqa: E402

AIMS = {32: ("PyTorch eager", 1.5), 64: ("best", 1.3), 256: ("best", 1.3)}
REAL = {"model": "resnet50", "size": 224, "batches": [32, 64, 256], "precisions": ["bf16", "fp16"], "steps": 50}
REHEARSAL = {"model": "resnet18", "size": 32, "batches": [2], "precisions": ["bf16"], "steps": 1}
MODES = ["eager", "compile"]


class MemoryWatch:
    """The GPU's memory while something runs, over what was taken before: MiB, looked at ten times a second."""

    def __init__(self, device):
        self.watched, self.peak, self.ended = device == "cuda", 0, threading.Event()

    @staticmethod
    def used():
        return int(call(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]).splitlines()[0])

    def __enter__(self):
        if self.watched:
            self.before = self.used()
            self.thread = threading.Thread(target=self.look)
            self.thread.start()
        return self

    def look(self):
        while not self.ended.wait(0.1):
            self.peak = max(self.peak, self.used() - self.before)

    def __exit__(self, *_):
        self.ended.set()
        if self.watched:
            self.thread.join()


def measure(command, device, env):
    began = time.time()
    with MemoryWatch(device) as watch:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=540, env=env)
    if done.returncode != 0:
        raise Failed(f"ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-1500:]}")
    said = json.loads(done.stdout.strip().splitlines()[-1])
    return {"images_per_sec": said["images_per_sec"], "step_ms": said["step_ms"], "memory_mib": watch.peak,
            "start_seconds": said["first_step_at"] - began}


class Ours:
    def __init__(self, given, shape):
        self.device, self.trainer, self.shape, self.env = given.device, given.trainer, shape, None
        if self.trainer is not None:
            return
        builder = Builder(given.out, find_tools(), architectures(given.device))
        self.program, self.env = given.out / "proof", builder.environment()
        if not builder.fresh():
            builder.library()
            builder.reference()
            builder.program()

    def command(self, batch, precision, data="synthetic:1000x224", jpeg_decoder="cpu"):
        model, size, steps = (self.shape[name] for name in ("model", "size", "steps"))
        if self.trainer is None:
            return [self.program, "bench", self.device, model, size, batch, precision, steps]
        return [self.trainer, "bench", "step", "--comm", "none", "--device", self.device, "--model", model, "--image-size", size,
                "--batch-size", batch, "--precision", precision, "--steps", steps, "--warmup", "5", "--data", data, "--jpeg-decoder", jpeg_decoder]


def torch_command(python, mode, shape, device, batch, precision):
    return [python, ROOT / "scripts/bench/torch_step.py", "--mode", mode, "--device", device, "--model", shape["model"], "--image-size",
            shape["size"], "--batch-size", batch, "--precision", precision, "--steps", shape["steps"], "--warmup", 6]


def compare(given, shape):
    """Rows: one a precision, batch and program, each its figures or why there are none."""
    ours, rows = Ours(given, shape), []
    for precision in shape["precisions"]:
        for batch in shape["batches"]:
            programs = {"trainyard": ours.command(batch, precision)}
            if given.trainer is not None and given.data is not None:
                programs["trainyard, real images"] = ours.command(batch, precision, given.data)
                if given.device == "cuda":
                    programs["trainyard, real images by nvJPEG"] = ours.command(batch, precision, given.data, "nvjpeg")
            for mode in given.modes:
                programs[f"PyTorch {mode}"] = torch_command(given.torch, mode, shape, given.device, batch, precision)
            for program, command in programs.items():
                row = {"precision": precision, "batch": batch, "program": program}
                try:
                    row |= measure(command, given.device, ours.env if program.startswith("trainyard") else None)
                except (Failed, subprocess.TimeoutExpired, OSError) as failure:
                    row["failure"] = str(failure)
                rows.append(row)
                print(line_of(row), flush=True)
    return rows


def line_of(row):
    if "failure" in row:
        return f"| {row['precision']} | {row['batch']} | {row['program']} | failed: {row['failure'].splitlines()[-1]} | | | |"
    return (f"| {row['precision']} | {row['batch']} | {row['program']} | {row['images_per_sec']:.0f} | {row['step_ms']:.2f} | "
            f"{row['memory_mib']} | {row['start_seconds']:.1f} |")


def ratios(rows):
    """Ours over PyTorch's, for each precision and batch, beside the aim."""
    lines = []
    for precision, batch in dict.fromkeys((row["precision"], row["batch"]) for row in rows):
        rates = {row["program"]: row["images_per_sec"] for row in rows
                 if (row["precision"], row["batch"]) == (precision, batch) and "failure" not in row}
        theirs = {name: rate for name, rate in rates.items() if name.startswith("PyTorch")}
        if "trainyard" not in rates or not theirs:
            continue
        beside, aim = AIMS.get(batch, ("best", 1.3))
        peer = max(theirs.values()) if beside == "best" else theirs.get(beside)
        if peer is not None:
            lines.append(f"| {precision} | {batch} | {beside if beside != 'best' else 'the better of both'} | {rates['trainyard'] / peer:.2f} | {aim} |")
        for program in ("trainyard, real images", "trainyard, real images by nvJPEG"):
            if program in rates:
                beside = "ours on synthetic images" + (", real ones by nvJPEG" if program.endswith("nvJPEG") else "")
                lines.append(f"| {precision} | {batch} | {beside} | {rates[program] / rates['trainyard']:.2f} | 0.95 |")
    return lines


def markdown(report):
    lines = [f"# Training steps on a GPU, {report['date']}", "", f"Model: {report['model']}; device: {report['device']}.", ""]
    lines += ["| | |", "|---|---|"] + [f"| {name} | {text} |" for name, text in report["versions"].items()] + [""]
    lines += ["| precision | batch | program | images/s | ms a step | MiB of GPU memory | seconds to the first step |", "|---|---|---|---|---|---|---|"]
    lines += [line_of(row) for row in report["rows"]] + [""]
    lines += ["| precision | batch | ours beside | times as fast | aim |", "|---|---|---|---|---|"] + ratios(report["rows"])
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build/gpu-proof")
    arguments.add_argument("--torch", default=sys.executable, help="a Python with PyTorch and torchvision")
    arguments.add_argument("--trainer", help="the built trainer (default: a program made from the source tree)")
    arguments.add_argument("--batches", type=int, nargs="+", help="images a step (default: 32 64 256)")
    arguments.add_argument("--precisions", nargs="+", choices=["fp32", "tf32", "bf16", "fp16"], help="default: bf16 fp16")
    arguments.add_argument("--modes", nargs="*", choices=MODES, default=MODES, help="of PyTorch; compiling takes minutes for each row")
    arguments.add_argument("--data", help="TFRecord shards of images for the rows of real ones; needs --trainer")
    given = arguments.parse_args()
    if given.data is not None and given.trainer is None:
        arguments.error("--data needs --trainer: the program made from the source tree reads no images")
    given.out = given.out.resolve()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.device == "cuda":
        try:
            call(["nvidia-smi", "-L"])
        except (Failed, OSError) as failure:
            print(f"bench:gpu: error: there is no NVIDIA GPU here ({failure}). Run it on a machine with one", file=sys.stderr)
            return 4
    shape = dict(REAL if given.device == "cuda" else REHEARSAL)
    shape |= {name: chosen for name in ("batches", "precisions") if (chosen := getattr(given, name)) is not None}
    try:
        rows = compare(given, shape)
    except Failed as failure:
        print(f"bench:gpu: error: {failure}", file=sys.stderr)
        return 1
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "model": shape["model"],
              "device": given.device, "versions": versions(None), "rows": rows}
    (given.out / "bench-gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    text = markdown(report)
    (given.out / "bench-gpu.md").write_text(text)
    print(text)
    return 1 if any("failure" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
