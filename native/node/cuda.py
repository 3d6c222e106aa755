# NVIDIA's libraries for a node that has a GPU: those that stand on it already, and the wheels of those that do not.

# For each CUDA, by the wheel that brings them: its folder below `nvidia`, and the libraries, each
# after what it needs. A star stands for a number of the version, and all such files count. cuDNN
# compiles kernels with NVRTC, which opens its builtins by name.
NVIDIA = {
    13: {
        "nvidia-cublas": ("cu13", ("libcublasLt.so.13", "libcublas.so.13")),
        "nvidia-cuda-nvrtc": ("cu13", ("libnvrtc.so.13", "libnvrtc-builtins.so.13.*")),
        "nvidia-cudnn-cu13": ("cudnn", ("libcudnn.so.9",)),
        "nvidia-nccl-cu13": ("nccl", ("libnccl.so.2",)),
        "nvidia-nvjpeg": ("cu13", ("libnvjpeg.so.13",)),
    },
    12: {
        "nvidia-cublas-cu12": ("cublas", ("libcublasLt.so.12", "libcublas.so.12")),
        "nvidia-cuda-nvrtc-cu12": ("cuda_nvrtc", ("libnvrtc.so.12", "libnvrtc-builtins.so.12.*")),
        "nvidia-cudnn-cu12": ("cudnn", ("libcudnn.so.9",)),
        "nvidia-nccl-cu12": ("nccl", ("libnccl.so.2",)),
        "nvidia-nvjpeg-cu12": ("nvjpeg", ("libnvjpeg.so.12",)),
    },
}
MOST_LOOKED_AT = 4  # of one library; the others come from the wheel

# In a process of its own, for a library that is cut short ends who loads it. Each counts 10000 * major + 100 * minor + patch.
# NCCL says of which CUDA it is in a text that it has ("+cuda12.9"); one for an older CUDA than is asked for does too.
ASK_VERSION = """
import ctypes, sys
cuda = int(sys.argv.pop(1))
loaded = [ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) for path in sys.argv[1:]]
if sys.argv[1].endswith("libnccl.so.2"):
    import mmap, re
    with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        made = re.search(rb"\\+cuda([0-9]+)[.]", whole)
        cuda = max(cuda, int(made.group(1))) if made else cuda  # one for an older CUDA runs too
    number = ctypes.c_int()
    if loaded[0].ncclGetVersion(ctypes.byref(number)) != 0:
        sys.exit(1)
    value = number.value
elif "/libnvjpeg.so." in sys.argv[1]:
    parts = [ctypes.c_int() for _ in range(3)]
    for name, part in enumerate(parts):  # MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
        if loaded[0].nvjpegGetProperty(name, ctypes.byref(part)) != 0:
            sys.exit(1)
    value = 10000 * parts[0].value + 100 * parts[1].value + parts[2].value
elif "/libnvrtc.so." in sys.argv[1]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    if loaded[0].nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) != 0:
        sys.exit(1)
    builtins = "/libnvrtc-builtins.so.%d.%d" % (major.value, minor.value)
    if not any(path.endswith(builtins) for path in sys.argv):
        sys.exit(1)
    value = 10000 * major.value + 100 * minor.value
else:
    ask = loaded[0].cudnnGetVersion if sys.argv[1].endswith("libcudnn.so.9") else loaded[0].cublasLtGetVersion
    ask.restype = ctypes.c_size_t
    value = ask()
    if sys.argv[1].endswith("libcudnn.so.9"):
        loaded[0].cudnnGetCudartVersion.restype = ctypes.c_size_t
        cuda = loaded[0].cudnnGetCudartVersion() // 1000
print(value // 10000, value // 100 % 100, value % 100, cuda)
"""


def linker_folders(release):
    """Of what the system's linker knows."""
    import subprocess

    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            said = subprocess.check_output([program, "-p"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            continue
        lines = [line.partition(" => ")[2].strip() for line in said.decode("utf-8", "replace").splitlines()]
        names = [name for _, group in NVIDIA[release].values() for name in group]
        return [os.path.dirname(path) for path in lines if os.path.basename(path) in names]
    return []


def nvidia_folders(release):
    """Where they may be, what the user names first."""
    import glob

    given = [os.environ.get(name, "") for name in ("TRAINYARD_NVIDIA_LIBRARIES", "LD_LIBRARY_PATH")]
    folders = [folder for text in given for folder in text.split(":") if folder]
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    homes += ["/usr/local/cuda"] + sorted(glob.glob("/usr/local/cuda-%d*" % release), reverse=True)
    folders += [os.path.join(home, "lib64") for home in homes]
    roots = [os.environ[name] for name in ("CONDA_PREFIX", "VIRTUAL_ENV") if os.environ.get(name)]
    for conda in ("~/miniconda3", "~/anaconda3", "~/miniforge3", "~/mambaforge", "/opt/conda"):
        conda = os.path.expanduser(conda)
        roots += [conda] + sorted(glob.glob(os.path.join(conda, "envs", "*")))
    folders += [os.path.join(root, "lib") for root in roots]
    roots += [os.path.expanduser("~/.local"), "/usr/local", "/usr"]
    for root in roots:
        for part, _ in NVIDIA[release].values():
            folders += glob.glob(os.path.join(root, "lib", "python3*", "*-packages", "nvidia", part, "lib"))
    folders += linker_folders(release) + ["/usr/lib/x86_64-linux-gnu", "/usr/lib64"]
    real = [os.path.realpath(folder) for folder in folders if os.path.isabs(folder)]
    return [folder for index, folder in enumerate(real) if folder not in real[:index] and ":" not in folder]


def version_of(paths, release):
    """[major, minor, patch, CUDA's major], or None where they cannot be loaded."""
    import subprocess

    try:
        said = subprocess.check_output(
            [sys.executable, "-ISc", ASK_VERSION, str(release)] + paths, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20
        )
        return [int(word) for word in said.split()]
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def stranger_of(paths):
    """Why one of these libraries is not loaded: what another user could change; or None."""
    for path in paths:
        stranger = find_stranger(path) or find_stranger(os.path.realpath(path))
        if stranger:
            return stranger[0]
    return None


def files_of(folder, names):
    """The paths of these libraries there, or nothing where one is missing."""
    import glob

    groups = [sorted(glob.glob(os.path.join(glob.escape(folder), name))) for name in names]
    groups = [[path for path in group if os.path.isfile(path)] for group in groups]
    return [path for group in groups for path in group] if all(groups) else []


def cuda_look(params):
    """What of them stands on this node, in which version; and what is left alone, and why. For CUDA `release`.
    `folders`: these alone are looked at."""
    release = params["release"]
    found = []
    left = []
    patience = Patience()
    folders = params.get("folders") or nvidia_folders(release)
    for package, (_, names) in NVIDIA[release].items():
        having = [(folder, files_of(folder, names)) for folder in folders]
        for folder, paths in [one for one in having if one[1]][:MOST_LOOKED_AT]:
            patience.went_on()
            why = stranger_of(paths)
            if why:
                left.append({"package": package, "why": why})
                continue
            version = version_of(paths, release)
            if version is not None:
                found.append({"package": package, "folder": folder, "version": version[:3], "cuda": version[3]})
    return {"found": found, "left": left}


def cuda(params):
    """The wheels of `requirements` in a folder of their own, by the runtime's Python."""

    def fill(folder, wheels):
        python = os.path.join(expand(params["runtime"]), "bin", "python")
        pip = wheels and pip_in(wheels, params.get("pip", ""))
        more = ["--no-deps", "--target", os.path.join(folder, "lib")]
        pip_install([python] + ([pip] if pip else PIP), "NVIDIA's libraries", folder, params, wheels, more)

    return make_by_pip("NVIDIA's libraries", params, fill, os.path.isdir)
