"""Compilers, libraries and GPUs of this machine."""

import glob
import os
import pathlib
import shutil
import sys
import sysconfig

from processes import Failed, call

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NATIVE = ROOT / "native"
CUDA = NATIVE / "trainer/ops/cuda"


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
        "cupti": [f for b in blas for f in [b / "extras/CUPTI/lib64", *(b / l for l in libraries)] if (f / "libcupti.so.13").exists()][:1],
        "cublas": first_folder("cuBLAS", [b / l for b in blas for l in libraries], "libcublas.so.13"),
        "cudnn": first_folder("cuDNN", [pathlib.Path(d) / l for d in dnn for l in libraries], "libcudnn.so.9"),
        "cudart": first_folder("CUDA's runtime", [b / l for b in blas for l in libraries], "libcudart_static.a"),
    }


def missing_gpu():
    """Why no GPU can be used here; None where there is one."""
    try:
        return None if "GPU" in call(["nvidia-smi", "-L"], 60) else "nvidia-smi -L lists none"
    except (Failed, OSError) as failure:
        return str(failure)


def gpu_identity():
    """Names, drivers and compute capabilities of this machine's GPUs: figures of two of them do not belong together.
    Nothing where there is none."""
    if missing_gpu() is not None:
        return {}
    text = call(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"], 60)
    return {"gpu": "; ".join(sorted({line.strip() for line in text.splitlines() if line.strip()}))}


def architectures(device):
    """The compute capabilities to build for, as nvcc writes them: of this machine's GPUs."""
    if device == "cpu":
        return ["80", "90"]
    text = call(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    return sorted({line.strip().replace(".", "") for line in text.splitlines() if line.strip()})
