"""Proves the CUDA back end on a machine with a GPU, from the source tree alone and without a network.

Needs nvcc 13, g++ 11 or newer, and cuDNN 9 and cuBLAS 13 with their headers (PyTorch's wheels have them). Builds
libtrainer_cuda.so and a small program without oneDNN and MPI, runs every part, goes on after one that failed, and
writes gpu-proof.json and gpu-proof.md. `--device cpu` rehearses everything on a machine without a GPU but the device.
"""

import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import sysconfig
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NATIVE = ROOT / "native"
CUDA = NATIVE / "trainer/ops/cuda"
KERNELS = ["elementwise", "batch_norm", "pooling", "softmax", "update"]
PARTS = ["devices", "ops", "networks", "precisions", "optimizers", "repeats", "out-of-memory", "batch-that-fits", "speed"]


class Failed(Exception):
    """A part that did not hold, with what to show of it."""


def call(command, timeout=300, env=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, env=env)
    if done.returncode != 0:
        text = (done.stdout + done.stderr).strip()
        raise Failed(f"{pathlib.Path(str(command[0])).name} ended with {done.returncode}:\n{text[-4000:]}")
    return done.stdout


def first_folder(what, candidates, wanted):
    for folder in candidates:
        if folder and glob.glob(str(pathlib.Path(folder) / wanted)):
            return pathlib.Path(folder)
    raise Failed(f"{what} was not found: looked for {wanted} in {', '.join(str(c) for c in candidates if c)}")


def find_tools():
    """nvcc, g++, and the include and library folders of cuBLAS and cuDNN."""
    fetched = ROOT / "build/cuda/cu13"
    on_path = shutil.which("nvcc")
    nvcc = next((c for c in [on_path, "/usr/local/cuda/bin/nvcc", fetched / "bin/nvcc"] if c and os.path.exists(c)), None)
    if nvcc is None:
        raise Failed("nvcc was not found on PATH, in /usr/local/cuda or in build/cuda")
    if shutil.which("g++") is None:
        raise Failed("g++ was not found on PATH")
    toolkit = pathlib.Path(nvcc).resolve().parent.parent
    packages = {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}
    packages |= {path for path in sys.path if path.endswith("site-packages")}
    wheels = [pathlib.Path(p) / "nvidia" for p in sorted(packages)] + [ROOT / "build/cuda"]
    blas = [toolkit, toolkit / "targets/x86_64-linux"] + [w / "cu13" for w in wheels]
    dnn = [w / "cudnn" for w in wheels] + [toolkit, "/usr", "/usr/local"]
    libraries = ["lib", "lib64", "lib/x86_64-linux-gnu"]
    return {
        "nvcc": str(nvcc),
        "includes": [
            first_folder("cuBLAS's header", [b / "include" for b in blas], "cublas_v2.h"),
            first_folder("cuDNN's header", [pathlib.Path(d) / "include" for d in dnn], "cudnn.h"),
            first_folder("CUDA's header", [b / "include" for b in blas], "cuda_runtime_api.h"),
        ],
        "cublas": first_folder("cuBLAS", [b / l for b in blas for l in libraries], "libcublas.so.13"),
        "cudnn": first_folder("cuDNN", [pathlib.Path(d) / l for d in dnn for l in libraries], "libcudnn.so.9"),
        "cudart": first_folder("CUDA's runtime", [b / l for b in blas for l in libraries], "libcudart_static.a"),
    }


def architectures(device):
    if device == "cpu":
        return ["80", "90"]
    text = call(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    return sorted({line.strip().replace(".", "") for line in text.splitlines() if line.strip()})


class Builder:
    def __init__(self, out, tools, targets):
        self.out, self.tools, self.targets = out, tools, targets
        self.flags = ["-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra", f"-I{NATIVE}", '-DTRAINYARD_CUDA_ABI="gpu-proof"']
        self.flags += ['-DTRAINYARD_CUDA_TARGETS="' + " ".join(f"sm_{t}" for t in targets) + '"']
        self.system = [word for folder in tools["includes"] for word in ("-isystem", str(folder))]

    def compile_all(self, name, sources, *more):
        folder = self.out / name
        folder.mkdir(parents=True, exist_ok=True)
        jobs = [(source, folder / (str(source.relative_to(NATIVE)).replace("/", "_") + ".o")) for source in sources]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda job: call(["g++", *self.flags, *self.system, *more, "-c", job[0], "-o", job[1]]), jobs))
        return [target for _, target in jobs]

    def kernels(self):
        folder = self.out / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        code = [w for t in self.targets for w in ("-gencode", f"arch=compute_{t},code=sm_{t}")]

        def one(name):
            target = folder / f"{name}.o"
            call([self.tools["nvcc"], "-std=c++20", "-O3", "-fmad=false", "--Werror", "all-warnings", *code, "-Xcompiler",
                  "-fPIC,-fvisibility=hidden", f"-I{NATIVE}", "-c", CUDA / "kernels" / f"{name}.cu", "-o", target])
            return target

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(one, KERNELS))

    def library(self):
        own = [*sorted(CUDA.glob("*.cpp")), *sorted((CUDA / "library").glob("*.cpp")), NATIVE / "trainer/tensor/tensor_desc.cpp"]
        objects = self.compile_all("library", own, "-fvisibility=hidden") + self.kernels()
        target = self.out / "libtrainer_cuda.so"
        call(["g++", "-shared", "-o", target, *objects, f"-Wl,--version-script={CUDA / 'library/exports.map'}",
              self.tools["cublas"] / "libcublas.so.13", self.tools["cudnn"] / "libcudnn.so.9",
              self.tools["cudart"] / "libcudart_static.a", "-Wl,--allow-shlib-undefined", "-ldl", "-lpthread", "-lrt"])
        return target

    def reference(self):
        own = [*sorted(CUDA.glob("*.cpp")), NATIVE / "tests/ops/host_cuda.cpp", NATIVE / "tests/ops/host_each.cpp",
               NATIVE / "proof/reference.cpp", NATIVE / "trainer/tensor/tensor_desc.cpp",
               NATIVE / "trainer/tensor/aligned_memory.cpp", NATIVE / "common/error.cpp"]
        objects = self.compile_all("reference", own, "-fvisibility=hidden", "-ffp-contract=off")
        target = self.out / "libreference.so"
        call(["g++", "-shared", "-o", target, *objects])
        return target

    def program(self):
        own = [NATIVE / "proof/proof.cpp", NATIVE / "common/error.cpp", *(NATIVE / f"trainer/base/{name}.cpp" for name in ("random", "parallel")),
               NATIVE / "trainer/ops/cuda_library.cpp", NATIVE / "trainer/ops/elf_file.cpp", *sorted((NATIVE / "trainer/ops/selftest").glob("*.cpp")),
               *sorted((NATIVE / "trainer/tensor").glob("*.cpp")), *sorted((NATIVE / "trainer/layers").glob("*.cpp")),
               *sorted(p for p in (NATIVE / "trainer/models").glob("*.cpp") if p.name not in ("registry.cpp", "processor.cpp", "precision_check.cpp"))]
        target = self.out / "proof"
        call(["g++", "-o", target, *self.compile_all("program", own), self.out / "libreference.so", "-Wl,-rpath,$ORIGIN",
              "-ldl", "-lgomp"])
        return target


class Proof:
    def __init__(self, out, device):
        self.out, self.device, self.parts = out, device, []

    def part(self, name, body):
        """Runs one part and notes how it went; returns what it gives, or None after a failure."""
        started = time.time()
        entry = {"part": name, "ok": False, "seconds": 0.0}
        result = None
        try:
            result = body(entry)
            entry["ok"] = True
        except Failed as failure:
            entry["failure"] = str(failure)
        except Exception as failure:  # noqa: BLE001 - a part that breaks must not keep the others from running
            entry["failure"] = f"{type(failure).__name__}: {failure}"
        entry["seconds"] = round(time.time() - started, 1)
        self.parts.append(entry)
        print(f"{'ok    ' if entry['ok'] else 'FAILED'} {name} ({entry['seconds']} s)", flush=True)
        if not entry["ok"]:
            print("       " + entry["failure"].replace("\n", "\n       "), flush=True)
        return result

    def environment(self, tools):
        env = dict(os.environ)
        env["TRAINYARD_CUDA_LIBRARY"] = str(self.out / "libtrainer_cuda.so")
        env["TRAINYARD_NVIDIA_LIBRARIES"] = f"{tools['cublas']}:{tools['cudnn']}"
        return env

    def run_part(self, name, tools, before=()):
        def body(entry):
            command = [*before, str(self.out / "proof"), name, self.device]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=self.environment(tools))
            fields = [line.split("\t") for line in done.stdout.splitlines()]
            entry["results"] = [dict(zip(("what", "quantity", "error", "bound", "verdict"), f[1:])) for f in fields if f[0] == "result"]
            entry["figures"] = {f[1]: f[2] for f in fields if f[0] == "figure"}
            wrong = [r for r in entry["results"] if r["verdict"] != "ok"]
            if done.returncode != 0 or wrong:
                errors = [f[1] for f in fields if f[0] == "error"]
                listed = [f"{r['what']}, {r['quantity']}: {r['error']} (bound {r['bound']})" for r in wrong]
                raise Failed("\n".join(errors + listed) or f"ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")

        label = name if not before else f"{name} under {pathlib.Path(before[0]).name}"
        self.part(label, body)


def versions(tools):
    found = {"python": platform.python_version(), "system": platform.platform()}
    queries = {"nvcc": [tools["nvcc"] if tools else "nvcc", "--version"], "g++": ["g++", "--version"],
               "gpu": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,uuid", "--format=csv,noheader"]}
    for name, command in queries.items():
        try:
            lines = [line for line in call(command).splitlines() if line.strip()]
            found[name] = (lines[-1] if name == "nvcc" else lines[0]).strip()
        except (Failed, OSError) as failure:
            found[name] = f"not found ({type(failure).__name__})"
    return found


def markdown(report):
    lines = [f"# GPU proof, {report['date']}", "", f"Device: {report['device']}", ""]
    lines += ["| | |", "|---|---|"] + [f"| {name} | {text} |" for name, text in report["versions"].items()] + [""]
    lines += ["| part | outcome | seconds | results | largest error / bound |", "|---|---|---|---|---|"]
    for part in report["parts"]:
        results = part.get("results", [])
        shares = [float(r["error"]) / float(r["bound"]) for r in results if float(r["bound"]) > 0]
        largest = f"{max(shares):.2g}" if shares else ""
        lines.append(f"| {part['part']} | {'ok' if part['ok'] else '**failed**'} | {part['seconds']} | {len(results) or ''} | {largest} |")
    figures = [(part["part"], name, text) for part in report["parts"] for name, text in part.get("figures", {}).items()]
    lines += ["", "| part | figure | |", "|---|---|---|"] + [f"| {p} | {name} | {text} |" for p, name, text in figures]
    failures = [(p["part"], p["failure"]) for p in report["parts"] if not p["ok"]]
    for name, text in failures:
        lines += ["", f"## {name} failed", "```", text, "```"]
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build/gpu-proof")
    given = arguments.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    proof = Proof(out, given.device)
    tools = proof.part("find compilers and libraries", lambda entry: find_tools())
    if tools:
        targets = proof.part("ask for the GPU's capability", lambda entry: architectures(given.device)) or ["80", "90"]
        builder = Builder(out, tools, targets)
        proof.part("build libtrainer_cuda.so", lambda entry: builder.library())
        built = proof.part("build the reference", lambda entry: builder.reference())
        built = built and proof.part("build the program", lambda entry: builder.program())
        if built:
            for name in PARTS:
                proof.run_part(name, tools)
            sanitizer = shutil.which("compute-sanitizer")
            if sanitizer and given.device == "cuda":
                proof.run_part("ops", tools, (sanitizer, "--error-exitcode", "9"))
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "device": given.device,
              "versions": versions(tools), "ok": all(part["ok"] for part in proof.parts), "parts": proof.parts}
    (out / "gpu-proof.json").write_text(json.dumps(report, indent=1) + "\n")
    (out / "gpu-proof.md").write_text(markdown(report))
    print(f"{'everything holds' if report['ok'] else 'not everything holds'}: {out / 'gpu-proof.md'}")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
