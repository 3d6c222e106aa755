"""Builds libtrainer_cuda.so, the reference and native/proof with nvcc and g++ alone."""

import concurrent.futures
import os

from tools import CUDA, NATIVE, call

KERNELS = sorted(source.stem for source in (CUDA / "kernels").glob("*.cu"))


class Builder:
    def __init__(self, out, tools, targets):
        self.out, self.tools, self.targets = out, tools, targets
        self.flags = ["-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra", f"-I{NATIVE}", '-DTRAINYARD_CUDA_ABI="gpu-proof"']
        self.flags += ['-DTRAINYARD_CUDA_TARGETS="' + " ".join(f"sm_{t}" for t in targets) + '"']
        self.flags += [f'-DTRAINYARD_PROOF_JPEGS="{NATIVE / "proof/jpegs"}"']
        self.system = [word for folder in tools["includes"] for word in ("-isystem", str(folder))]

    def fresh(self):
        """Whether everything was built after the sources were last changed, for these GPUs."""
        made = [self.out / name for name in ("libtrainer_cuda.so", "libreference.so", "proof")]
        told = self.out / "targets.txt"
        if not all(file.exists() for file in made) or not told.exists() or told.read_text() != " ".join(self.targets):
            return False
        oldest = min(file.stat().st_mtime for file in made)
        return all(source.stat().st_mtime < oldest for source in NATIVE.rglob("*") if source.is_file())

    def environment(self):
        """In which programs find libtrainer_cuda.so as it was built here, and NVIDIA's libraries."""
        folders = [self.tools["cublas"], self.tools["cudnn"], *self.tools["nvrtc"], *self.tools["nccl"], *self.tools["nvjpeg"]]
        own = {"TRAINYARD_CUDA_LIBRARY": str(self.out / "libtrainer_cuda.so"), "TRAINYARD_NVIDIA_LIBRARIES": ":".join(map(str, folders))}
        return os.environ | own

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
        own = [*sorted(CUDA.glob("*.cpp")), *(NATIVE / f"tests/ops/{name}.cpp" for name in ("host_cuda", "host_each", "host_collectives")),
               NATIVE / "proof/reference.cpp", NATIVE / "trainer/tensor/tensor_desc.cpp",
               NATIVE / "trainer/base/aligned_memory.cpp", NATIVE / "common/error.cpp"]
        objects = self.compile_all("reference", own, "-fvisibility=hidden", "-ffp-contract=off")
        target = self.out / "libreference.so"
        call(["g++", "-shared", "-o", target, *objects])
        return target

    def program(self):
        own = [*sorted(p for p in (NATIVE / "proof").glob("*.cpp") if p.name != "reference.cpp"), NATIVE / "common/error.cpp", *(NATIVE / f"trainer/base/{name}.cpp" for name in ("random", "parallel", "aligned_memory", "spare_memory")),
               NATIVE / "trainer/ops/cuda_library.cpp", NATIVE / "trainer/ops/elf_file.cpp", *sorted((NATIVE / "trainer/ops/selftest").glob("*.cpp")),
               *sorted((NATIVE / "trainer/tensor").glob("*.cpp")), *sorted((NATIVE / "trainer/layers").glob("*.cpp")),
               *sorted(p for p in (NATIVE / "trainer/models").glob("*.cpp") if p.name not in ("make_network.cpp", "processor.cpp", "precision_check.cpp"))]
        target = self.out / "proof"
        (self.out / "targets.txt").write_text(" ".join(self.targets))
        call(["g++", "-o", target, *self.compile_all("program", own), self.out / "libreference.so", "-Wl,-rpath,$ORIGIN",
              "-ldl", "-lgomp"])
        return target
