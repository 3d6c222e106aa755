# The runtime: a Python environment with MPICH, oneDNN and TensorBoard.

PIP = ["-m", "pip"]
WANTED = ("bin/python", "bin/mpiexec", "lib/libmpi.so.12", "lib/libdnnl.so.3")


def runtime_problem(folder):
    for name in WANTED:
        try:
            if os.stat(os.path.join(folder, name)).st_size == 0:  # as after a loss of power
                return name
        except (FileNotFoundError, NotADirectoryError):
            return name
    return None


def clean_environment():
    dropped = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIREMENT", "PIP_ROOT")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    kept["PIP_USER"] = "0"  # a pip.conf may say `user = true`, and pip believes this first
    return kept


def command(argv, each_line=None, most=40, seconds=None, **variables):
    """Runs a program to its end: its exit code, and the last lines, `most` at most, of what it
    said. With `seconds` it is killed after so long with its process group, and the code is None."""
    import subprocess

    process = subprocess.Popen(
        argv,
        env=dict(clean_environment(), **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=seconds is not None,
    )
    kept = []

    def read():
        for raw in process.stdout:
            kept.append(raw.decode("utf-8", "replace").rstrip())
            del kept[:-most]
            if each_line:
                each_line(kept[-1])

    if seconds is None:
        try:
            read()
        except BaseException:
            process.kill()  # nobody listens any more, and its folder is about to go
            process.wait()
            raise
        return process.wait(), kept
    return end_within(seconds, process, read), list(kept)


def end_within(seconds, process, read):
    """Its exit code, or None. One that is killed is not waited for: what hangs in the kernel, as in
    a call of a driver, ends late or never."""
    import subprocess
    import threading
    import time

    until = time.monotonic() + seconds
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(seconds)
    try:
        return process.wait(max(0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None


def pip_in(wheels, pinned):
    """pip in its own wheel, which Python can run, or None. Refused where the wheel is not the one
    of the line `pinned`."""
    import re

    names = [name for name in os.listdir(wheels) if name.startswith("pip-") and name.endswith(".whl")]
    hashes = re.findall("--hash=sha256:([0-9a-f]{64})", pinned)
    for name in names:  # the requirements of a user may bring another one
        if digest_of(os.path.join(wheels, name)) in hashes:
            return os.path.join(wheels, name, "pip")
    if names:
        raise Refused("%s is not the pip that was pinned" % names[0], "Look at the node that it came from, or at this node's disk")
    return None


# As `python -m venv`, which starts pip to install pip: 8 s on a slow core. Its wheels need no more
# than to be unpacked. Exits with 1 where this Python has no such wheel, or keeps packages in
# another folder.
MAKE_WITH_PIP = """
import os, sys, venv, zipfile
import ensurepip, sysconfig

target = sys.argv[1]
projects = ["pip"] + (["setuptools"] if sys.version_info < (3, 12) else [])


def wheels_in(place):
    names = sorted(os.listdir(place), reverse=True) if place and os.path.isdir(place) else []
    found = [[name for name in names if name.startswith(one + "-") and name.endswith(".whl")] for one in projects]
    return [os.path.join(place, names[0]) for names in found] if all(found) else []


# Distributions may keep the wheels elsewhere (WHEEL_PKG_DIR, Python 3.10 and newer).
own = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
wheels = wheels_in(sysconfig.get_config_var("WHEEL_PKG_DIR")) or wheels_in(own)
if not wheels:
    sys.exit(1)
venv.EnvBuilder(clear=True, symlinks=True).create(target)
packages = os.path.join(target, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
if not os.path.isdir(packages):
    sys.exit(1)
for wheel in wheels:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
for name in ("pip", "pip3"):
    path = os.path.join(target, "bin", name)
    with open(path, "w") as file:
        file.write('#!/bin/sh\\nexec "${0%/*}/python" -m pip "$@"\\n')
    os.chmod(path, 0o755)
"""


def make_with_pip(target, python, before):
    # Python itself says what is wrong where the first one fails.
    if command(before + [python, "-I", "-c", MAKE_WITH_PIP, target])[0] == 0:
        return 0, []
    return command(before + [python, "-m", "venv", "--clear", target])


def make_environment(target, wheels, pinned, python=sys.executable, before=()):
    """By `python`, with the words `before` it. Returns the environment's own Python, and how its
    pip is called."""
    before = list(before)
    code, said = make_with_pip(target, python, before)
    if code == 0:
        return os.path.join(target, "bin", "python"), PIP
    if wheels is None or not any("ensurepip" in line or "venv" in line for line in said):
        raise Refused(
            "%s cannot make environments: %s" % (python, said[-1] if said else "it said nothing"),
            "Install its venv module on this node, on Debian and Ubuntu python3-venv, or ask its administrator to",
            "wheels",
        )
    import shutil

    # No ensurepip here: an environment without pip, filled by pip run from its own wheel.
    shutil.rmtree(target, ignore_errors=True)
    code, said = command(before + [python, "-m", "venv", "--without-pip", target])
    pip = pip_in(wheels, pinned)
    if code != 0 or pip is None:
        raise Refused("%s cannot make environments" % python, "Install its venv module on this node")
    return os.path.join(target, "bin", "python"), [pip]


def relocate(old, new):
    """Scripts of an environment name its own absolute path."""
    folder = os.path.join(old, "bin")
    for path in [os.path.join(folder, name) for name in os.listdir(folder)] + [os.path.join(old, "pyvenv.cfg")]:
        info = os.lstat(path)
        if not stat.S_ISREG(info.st_mode) or info.st_size > 1000000:
            continue
        with open(path, "rb") as file:
            data = file.read()
        if b"\0" in data or old.encode() not in data:
            continue
        with open(path, "wb") as file:
            file.write(data.replace(old.encode(), new.encode()))


def pip_hint(said):
    text = "\n".join(said)
    if "No space left" in text:
        return "Free some disk space on this node"
    if "HASHES" in text or "hash" in text:
        return "A package is not the one that was pinned: check the package index that pip uses on this node"
    return "Check the network of this node and the package index that pip is set to"


def require_space(what, target, needed):
    disk = os.statvfs(os.path.dirname(target))
    free = disk.f_bavail * disk.f_frsize
    if free < needed:
        raise Refused(
            "%s: %d MB are needed in %s, and %d MB are free" % (what, needed // 1000000, os.path.dirname(target), free // 1000000),
            'Free some space, or set "workdir" in the profile to a disk that has it',
        )


def tell_of_pip(text):
    """The lines of pip that say how far it is."""
    if text.startswith(("Collecting", "Downloading", "Building wheel", "Installing collected")):
        progress(text.split(" (from ")[0][:100])


def pip_install(pip, what, folder, params, wheels, more):
    """From `wheels`, a folder, where one is given, else from where pip is set to."""
    import shutil

    requirements = os.path.join(folder, "requirements.txt")
    with open(requirements, "w") as file:
        file.write(params["requirements"])
    line = pip + ["install", "--no-input", "--disable-pip-version-check", "--no-compile", "--require-hashes"] + more
    line += ["-r", requirements]
    if wheels:
        line += ["--no-index", "--find-links", wheels]
    else:
        line += ["--retries", "1", "--timeout", "10"]

    # pip downloads and unpacks into TMPDIR: here, since the space was looked at here.
    temporary = os.path.join(folder, ".tmp")
    os.mkdir(temporary, 0o700)
    code, said = command(line, tell_of_pip, TMPDIR=temporary)
    shutil.rmtree(temporary, ignore_errors=True)
    if code != 0:
        errors = [text for text in said if text.lstrip().startswith(("ERROR", "error"))]
        told = (errors or said or ["it said nothing"])[-1].strip()
        raise Refused("pip could not install %s: %s" % (what, told), pip_hint(said), "wheels")


def make_by_pip(what, params, fill, is_whole):
    """The folder `dir` where it does not stand yet. `fill` is given a folder, and that of the wheels or None."""
    target = expand(params["dir"])
    wheels = expand(params["wheels"]) if params.get("wheels") else None

    def fill_checked(folder):
        require_space(what, target, params["neededBytes"])
        fill(folder, wheels)

    return {"made": make_once(target, what, is_whole, fill_checked)}


def runtime(params):
    def fill(folder, wheels):
        progress("making a Python environment")
        python, pip = make_environment(folder, wheels, params.get("pip", ""))
        progress("installing MPICH, oneDNN and TensorBoard")
        pip_install([python] + pip, "the runtime", folder, params, wheels, [])
        missing = runtime_problem(folder)
        if missing:
            raise Refused("the runtime was made without " + missing, "Report this")
        relocate(folder, expand(params["dir"]))

    return make_by_pip("the runtime", params, fill, lambda folder: runtime_problem(folder) is None)
