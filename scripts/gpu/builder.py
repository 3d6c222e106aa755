"""Builds libtrainer_cuda.so, the reference and native/proof with nvcc and g++ alone."""

import concurrent.futures
import hashlib
import json
import os

from made import Maker
from processes import Limit, run, write_whole
from tools import CUDA, NATIVE

KERNELS = sorted((CUDA / "kernels").rglob("*.cu"))
LIBRARY = sorted((CUDA / "library").rglob("*.cpp"))
OPS = sorted(set(CUDA.rglob("*.cpp")) - set(LIBRARY))
# The folder of kernels with instructions of Hopper's own, which later GPUs do not have.
HOPPER_FOLDER = "pointwise"
# Sources that say for what the library was built.
IDENTIFIED = ("device_backend", "library")
PRODUCTS = ("libtrainer_cuda.so", "libreference.so", "proof")
JPEGS = NATIVE / "proof/jpegs"


def sources_digest():
    """Of the native source tree, without what Python compiled there: two trees with the same one are the same."""
    digest = hashlib.sha256()
    for file in sorted(path for path in NATIVE.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.relative_to(NATIVE)}\t{content}\n".encode())
    return digest.hexdigest()


class Builder:
    """Files whose sources and commands have not changed are not made again."""

    def __init__(self, out, tools, targets, launcher=()):
        self.out, self.tools, self.targets = out, tools, targets
        self.limit, self.maker = Limit(3600), Maker(launcher)
        self.flags = ["-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra", f"-I{NATIVE}", '-DTRAINYARD_CUDA_ABI="gpu-proof"']
        self.identifiers = [f'-DTRAINYARD_CUDA_KERNELS="{sources_digest()[:12]}"']
        self.identifiers += ['-DTRAINYARD_CUDA_TARGETS="' + " ".join(f"sm_{t}" for t in targets) + '"']
        self.system = [word for folder in tools["includes"] for word in ("-isystem", str(folder))]

    def identity(self):
        return {"sources": sources_digest(), "targets": self.targets}

    def fresh(self):
        """Whether everything was made of the sources as they are, for these GPUs, and starts here. It may have been
        made on another machine."""
        try:
            built = json.loads((self.out / "built.json").read_text())
        except (OSError, ValueError):
            return False
        return built == self.identity() and all((self.out / name).exists() for name in PRODUCTS) and self.starts()

    def starts(self):
        try:
            return "usage: proof" in run([self.out / "proof"], 60, self.environment()).out
        except OSError:
            return False

    def build(self, limit):
        """All of it, in a Limit. Returns the seconds that each product took."""
        self.limit = limit
        identity = self.identity()
        (self.out / "built.json").unlink(missing_ok=True)
        took = {}
        for make in (self.library, self.reference, self.program):
            before = limit.left()
            product = make()
            took[product.name] = f"{before - limit.left():.1f} s"
        write_whole(self.out / "built.json", json.dumps(identity, indent=1) + "\n")
        return took

    def environment(self):
        """In which programs find libtrainer_cuda.so as it was built here, NVIDIA's libraries, and the JPEGs; native/proof
        ends when the thread that started it does."""
        folders = [self.tools["cublas"], self.tools["cudnn"], *self.tools["nvrtc"], *self.tools["nccl"], *self.tools["nvjpeg"], *self.tools["cupti"]]
        own = {"TRAINYARD_CUDA_LIBRARY": str(self.out / "libtrainer_cuda.so"), "TRAINYARD_NVIDIA_LIBRARIES": ":".join(map(str, folders))}
        return os.environ | own | {"TRAINYARD_PROOF_SAMPLES": str(JPEGS), "TRAINYARD_PROOF_TIED": "1"}

    def each(self, make, items):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                return list(pool.map(make, items))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def compile_all(self, name, sources, *more):
        folder = self.out / name
        folder.mkdir(parents=True, exist_ok=True)

        def one(source):
            target = folder / (str(source.relative_to(NATIVE)).replace("/", "_") + ".o")
            # Only where they are used, so that another kernel does not compile everything anew.
            own = self.identifiers if source.stem in IDENTIFIED else []
            self.maker.compile(["g++", *self.flags, *own, *self.system, *more, "-c", source, "-o", target], target, self.limit)
            return target

        return self.each(one, sources)

    def kernels(self):
        folder = self.out / "kernels"
        folder.mkdir(parents=True, exist_ok=True)

        def code(source):
            targets = ["90a"] if source.parent.name == HOPPER_FOLDER else self.targets
            return [w for t in targets for w in ("-gencode", f"arch=compute_{t},code=sm_{t}")]

        def one(source):
            target = folder / f"{source.stem}.o"
            self.maker.compile([self.tools["nvcc"], "-std=c++20", "-O3", "-fmad=false", "--Werror", "all-warnings", *code(source), "-Xcompiler",
                                "-fPIC,-fvisibility=hidden", f"-I{NATIVE}", "-c", source, "-o", target], target, self.limit)
            return target

        return self.each(one, KERNELS)

    def library(self):
        own = [*OPS, *LIBRARY, NATIVE / "trainer/tensor/tensor_desc.cpp"]
        objects = self.compile_all("library", own, "-fvisibility=hidden") + self.kernels()
        target, exports = self.out / "libtrainer_cuda.so", CUDA / "library/exports.map"
        self.maker.link(["g++", "-shared", "-o", target, *objects, f"-Wl,--version-script={exports}",
                         self.tools["cublas"] / "libcublas.so.13", self.tools["cudnn"] / "libcudnn.so.9",
                         self.tools["cudart"] / "libcudart_static.a", "-Wl,--allow-shlib-undefined", "-ldl", "-lpthread", "-lrt"],
                        target, [*objects, exports], self.limit)
        return target

    def reference(self):
        own = [*OPS, *(NATIVE / f"tests/ops/host/{name}.cpp" for name in ("host_cuda", "host_each", "host_collectives", "host_pixels", "host_pointwise")),
               NATIVE / "proof/reference.cpp", NATIVE / "trainer/tensor/tensor_desc.cpp",
               NATIVE / "trainer/base/aligned_memory.cpp", NATIVE / "common/error.cpp"]
        objects = self.compile_all("reference", own, "-fvisibility=hidden", "-ffp-contract=off")
        target = self.out / "libreference.so"
        self.maker.link(["g++", "-shared", "-o", target, *objects], target, objects, self.limit)
        return target

    def program(self):
        own = [*sorted(p for p in (NATIVE / "proof").glob("*.cpp") if p.name != "reference.cpp"), NATIVE / "common/error.cpp",
               *(NATIVE / f"trainer/base/{name}.cpp" for name in ("random", "parallel", "aligned_memory", "spare_memory")),
               NATIVE / "trainer/ops/cuda_library.cpp", NATIVE / "trainer/ops/elf_file.cpp", *sorted((NATIVE / "trainer/ops/selftest").glob("*.cpp")),
               *sorted((NATIVE / "trainer/ops/plans").glob("*.cpp")), NATIVE / "common/files.cpp",
               *sorted((NATIVE / "trainer/tensor").glob("*.cpp")), *sorted((NATIVE / "trainer/layers").rglob("*.cpp")),
               *sorted(p for p in (NATIVE / "trainer/models").rglob("*.cpp") if p.name not in ("make_network.cpp", "processor.cpp", "precision_check.cpp"))]
        objects = self.compile_all("program", own)
        target, library = self.out / "proof", self.out / "libreference.so"
        self.maker.link(["g++", "-o", target, *objects, library, "-Wl,-rpath,$ORIGIN", "-ldl", "-lgomp"], target, [*objects, library], self.limit)
        return target
