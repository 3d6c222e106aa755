"""Proves the CUDA back end on a machine with a GPU, from the source tree alone and without a network.

Needs nvcc 13, g++ 11 or newer, and cuDNN 9 and cuBLAS 13 with their headers (PyTorch's wheels have them). Builds
libtrainer_cuda.so and a small program without oneDNN and MPI, runs every part, goes on after one that failed, and
writes gpu-proof.json and gpu-proof.md. With PyTorch (of --torch, else of this Python) its steps are repeated there.
`--device cpu` rehearses everything on a machine without a GPU but the device. What cannot be shown on this machine
says why, and is not a failure.
"""

import argparse
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import time

import recordings
from builder import Builder
from report import markdown, versions
from tools import ROOT, Failed, NotHere, architectures, call, find_tools

PARTS = ["devices", "ops", "collectives", "jpeg-decoder", "networks", "precisions", "optimizers", "repeats", "recorded", "resume", "two-processes", "out-of-memory",
         "batch-that-fits", "memory-growth", "speed"]
TORCH_STEPS = {"cuda": ["resnet50", 224, 32, 100, 10], "cpu": ["resnet18", 32, 4, 10, 3]}  # model, pixels, batch, classes, steps


class Proof:
    def __init__(self, out, device):
        self.out, self.device, self.parts, self.tools, self.builder = out, device, [], None, None

    def part(self, name, body):
        """Runs one part and notes how it went; returns what it gives, or None after a failure."""
        started = time.time()
        entry = {"part": name, "ok": False, "seconds": 0.0}
        result = None
        try:
            result = body(entry)
            entry["ok"] = True
        except NotHere as reason:
            entry["why_not"] = str(reason)
        except Failed as failure:
            entry["failure"] = str(failure)
        except Exception as failure:  # noqa: BLE001 - a part that breaks must not keep the others from running
            entry["failure"] = f"{type(failure).__name__}: {failure}"
        entry["seconds"] = round(time.time() - started, 1)
        self.parts.append(entry)
        print(f"{'ok       ' if entry['ok'] else 'not shown' if 'why_not' in entry else 'FAILED   '} {name} ({entry['seconds']} s)", flush=True)
        why = entry.get("failure", entry.get("why_not"))
        if why is not None:
            print("          " + why.replace("\n", "\n          "), flush=True)
        return result

    def holds(self):
        return all(part["ok"] or "why_not" in part for part in self.parts)

    def run_part(self, name, before=()):
        def body(entry):
            command = [*before, str(self.out / "proof"), name, self.device]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=self.builder.environment())
            fields = [line.split("\t") for line in done.stdout.splitlines()]
            entry["results"] = [dict(zip(("what", "quantity", "error", "bound", "verdict"), f[1:])) for f in fields if f[0] == "result"]
            entry["figures"] = {f[1]: f[2] for f in fields if f[0] == "figure"}
            wrong = [r for r in entry["results"] if r["verdict"] != "ok"]
            not_here = [f[1] for f in fields if f[0] == "not here"]
            if done.returncode == 0 and not_here:
                raise NotHere(not_here[0])
            if done.returncode != 0 or wrong:
                errors = [f[1] for f in fields if f[0] == "error"]
                listed = [f"{r['what']}, {r['quantity']}: {r['error']} (bound {r['bound']})" for r in wrong]
                raise Failed("\n".join(errors + listed) or f"ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")

        label = name if not before else f"{name} under {pathlib.Path(before[0]).name}"
        self.part(label, body)

    def beside_torch(self, python):
        """Our steps, repeated by PyTorch: from its float64 we are at most twice as far as its own fp32."""

        def body(entry):
            try:
                call([python, "-c", "import torch, torchvision"])
            except Failed as failure:
                last = str(failure).splitlines()[-1]
                raise NotHere(f"PyTorch with torchvision is not in {python} ({last})") from failure
            folder = self.out / "steps"
            folder.mkdir(exist_ok=True)
            model, *numbers = TORCH_STEPS[self.device]
            call([self.out / "proof", "steps", self.device, folder, model, *numbers], env=self.builder.environment())
            said = json.loads(call([python, ROOT / "scripts/gpu/torch_steps.py", folder, model, self.device]))
            entry["figures"] = {"PyTorch": said["torch"], "steps": f"{said['steps']} of {model}, loss {said['loss'][0]:.4f} to {said['loss'][-1]:.4f}"}
            entry["results"] = [
                {"what": f"{model} beside PyTorch in float64", "quantity": row["quantity"], "error": f"{row['ours']:.3g}",
                 "bound": f"{2 * row['theirs']:.3g}", "verdict": "ok" if row["ours"] <= 2 * row["theirs"] else "wrong"}
                for row in said["rows"]
            ]
            wrong = [f"{r['quantity']}: {r['error']} (bound {r['bound']})" for r in entry["results"] if r["verdict"] != "ok"]
            if wrong:
                raise Failed("\n".join(wrong))

        self.part("PyTorch", body)

    def sanitized(self):
        sanitizer = shutil.which("compute-sanitizer")
        if self.device == "cpu" or sanitizer is None:
            why = "it watches a GPU" if self.device == "cpu" else "compute-sanitizer was not found on PATH"

            def nothing(_entry):
                raise NotHere(why)

            self.part("ops under compute-sanitizer", nothing)
        else:
            self.run_part("ops", (sanitizer, "--error-exitcode", "9"))

    def record(self):
        def body(entry):
            if self.device == "cpu":
                raise NotHere("there is no GPU to ask")
            load = {"command": [self.out / "proof", "bench", self.device, "resnet50", 224, 64, "bf16", 300], "env": self.builder.environment()}
            entry["figures"] = {"samples of NVML": str(recordings.record(self.out / "recorded", load))}

        self.part("recordings of nvidia-smi and NVML", body)

        def properties(entry):
            if self.device == "cpu":
                raise NotHere("there is no GPU to ask")
            found = recordings.cudnn_properties(self.tools["cudnn"] / "libcudnn.so.9")
            (self.out / "recorded").mkdir(exist_ok=True)
            file = self.out / "recorded" / f"sm_{found['deviceVer'] // 10}.json"
            file.write_text(json.dumps(found, indent=2) + "\n")
            entry["figures"] = {file.name: "to take the place of the file of that name in native/tests/cuda/gpus"}

        self.part("recording of the GPU's properties", properties)


def build(proof):
    """Whether everything that the parts need is there."""
    proof.tools = proof.part("find compilers and libraries", lambda entry: find_tools())
    if proof.tools is None:
        return False
    targets = proof.part("ask for the GPU's capability", lambda entry: architectures(proof.device)) or ["80", "90"]
    proof.builder = builder = Builder(proof.out, proof.tools, targets)
    proof.part("build libtrainer_cuda.so", lambda entry: builder.library())
    built = proof.part("build the reference", lambda entry: builder.reference())
    return bool(built and proof.part("build the program", lambda entry: builder.program()))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build/gpu-proof")
    arguments.add_argument("--torch", default=sys.executable, help="a Python with PyTorch and torchvision")
    given = arguments.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    proof = Proof(out, given.device)
    if build(proof):
        for name in PARTS:
            proof.run_part(name)
        proof.beside_torch(given.torch)
        proof.record()
        proof.sanitized()
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "device": given.device,
              "versions": versions(proof.tools), "ok": proof.holds(), "parts": proof.parts}
    (out / "gpu-proof.json").write_text(json.dumps(report, indent=1) + "\n")
    (out / "gpu-proof.md").write_text(markdown(report))
    print(f"{'everything holds' if report['ok'] else 'not everything holds'}: {out / 'gpu-proof.md'}")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
