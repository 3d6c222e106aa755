"""Compilers and libraries on this machine, and commands run with what they said when they fail."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NATIVE = ROOT / "native"
CUDA = NATIVE / "trainer/ops/cuda"


class Failed(Exception):
    """Something that did not hold, with what to show of it."""


class NotHere(Exception):
    """Something that cannot be shown on this machine, and why."""


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
    # Without NCCL's header the library is built for one GPU alone.
    nccl = [w / "nccl" for w in wheels if (w / "nccl/include/nccl.h").exists()][:1]
    # And without nvJPEG's it decodes no images.
    jpeg = [b for b in blas if (b / "include/nvjpeg.h").exists()][:1]
    libraries = ["lib", "lib64", "lib/x86_64-linux-gnu"]
    return {
        "nvcc": str(nvcc),
        "includes": [
            first_folder("cuBLAS's header", [b / "include" for b in blas], "cublas_v2.h"),
            first_folder("cuDNN's header", [pathlib.Path(d) / "include" for d in dnn], "cudnn.h"),
            first_folder("CUDA's header", [b / "include" for b in blas], "cuda_runtime_api.h"),
            *(n / "include" for n in nccl + jpeg),
        ],
        "nccl": [n / "lib" for n in nccl],
        "nvjpeg": [b / l for b in blas for l in libraries if (b / l / "libnvjpeg.so.13").exists()][:1],
        # cuDNN compiles kernels with it; without it, it takes others.
        "nvrtc": [b / l for b in blas for l in libraries if (b / l / "libnvrtc.so.13").exists()][:1],
        "cublas": first_folder("cuBLAS", [b / l for b in blas for l in libraries], "libcublas.so.13"),
        "cudnn": first_folder("cuDNN", [pathlib.Path(d) / l for d in dnn for l in libraries], "libcudnn.so.9"),
        "cudart": first_folder("CUDA's runtime", [b / l for b in blas for l in libraries], "libcudart_static.a"),
    }


def architectures(device):
    if device == "cpu":
        return ["80", "90"]
    text = call(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    return sorted({line.strip().replace(".", "") for line in text.splitlines() if line.strip()})
