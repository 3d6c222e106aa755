# What this node is, said before anything is copied to it.


def has_library(name):
    import ctypes

    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


def glibc_version():
    """That of the glibc that runs here, or "" where the C library is another one. platform.libc_ver()
    will not do: before Python 3.8 it tells what Python's own file asks for, such as 2.9."""
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
    except (ValueError, OSError):  # no such name, or not two words
        return ""
    return version if name == "glibc" else ""


def kills_user_processes():
    """logind's KillUserProcesses, unless this user lingers."""
    user = os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    if os.path.exists("/var/lib/systemd/linger/" + user) and user:
        return False
    if not os.path.isdir("/run/systemd/system"):
        return False
    setting = None
    places = ["/etc/systemd/logind.conf"]
    for folder in ("/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"):
        if os.path.isdir(folder):
            places += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".conf"))
    for place in places:
        try:
            with open(place) as file:
                for line in file:
                    key, _, value = line.partition("=")
                    if key.strip() == "KillUserProcesses":
                        setting = value.strip().lower()
        except OSError:
            pass
    return setting in ("yes", "true", "1", "on")


def writable_problem(workdir):
    """None, or why programs cannot be put below `workdir` and run there."""
    import subprocess

    probe = os.path.join(workdir, ".probe-" + identity())  # of no other node's process
    try:
        try:
            with open(probe, "w") as file:
                file.write("#!/bin/sh\nexit 0\n")
                file.flush()
                os.fsync(file.fileno())
            os.chmod(probe, 0o700)
        except OSError as error:
            return "cannot be written: " + reason(error)
        try:
            if subprocess.call([probe], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) != 0:
                return "cannot run programs"
        except OSError as error:
            return "cannot run programs (mounted noexec?): " + reason(error)
    finally:
        try:
            os.unlink(probe)
        except OSError:
            pass
    return None


def workdir_problem(workdir, programs):
    """(None, None), or why nothing can be run below `workdir`, and what to do where that is
    special."""
    try:
        found = find_stranger(workdir)
        if not found:
            make_private(workdir)
            found = next(filter(None, map(find_stranger, [workdir] + programs)), None)
    except OSError as error:
        return "cannot be made: " + reason(error), None
    if found:
        return "is not yours alone: " + found[0], found[1]
    return writable_problem(workdir), None


def probe(params):
    import platform

    home = os.path.expanduser("~")
    workdir = expand(params["workdir"])
    builds = params.get("cudaNodes", [])
    names = [params["node"]] + [build["node"] for build in builds]
    nodes = [os.path.join(workdir, "node", name) for name in names]
    runtime = os.path.join(workdir, "runtime", params["runtime"])
    programs = [os.path.join(node, "bin", name) for node in nodes for name in ("agent", "trainer")]
    problem, hint = workdir_problem(workdir, programs + [runtime])
    info = {
        "python": list(sys.version_info[:3]),
        "machine": platform.machine(),
        "system": platform.system(),
        "glibc": glibc_version(),
        "home": home,
        "uid": os.getuid(),
        "workdir": workdir,
        "problem": problem,
        "problemHint": hint,
        "libgomp": has_library("libgomp.so.1"),
        "driver": driver_version(),
        "gpus": nvidia_gpus(),
        "killsUserProcesses": kills_user_processes(),
        "cores": len(os.sched_getaffinity(0)),
    }
    if problem is None:
        disk = os.statvfs(workdir)
        info["free"] = disk.f_bavail * disk.f_frsize
        info["inodesFree"] = disk.f_favail if disk.f_files > 0 else 1 << 40
        token = os.path.join(workdir, ".shared-" + params["token"])
        if params.get("leaveToken"):
            with open(token, "w"):
                pass
        info["sharesToken"] = os.path.exists(token)
        hashed = None if params.get("hashAll") else ("bin/agent",)
        info["nodeDir"] = nodes[0]
        info["runtimeDir"] = runtime
        info["hasNode"] = programs_problem(nodes[0], params["files"], hashed) is None
        info["cudaNodes"] = [
            {"dir": node, "has": programs_problem(node, build["files"], hashed) is None} for node, build in zip(nodes[1:], builds)
        ]
        info["hasRuntime"] = runtime_problem(runtime) is None
    return info


def forget_token(params):
    try:
        os.unlink(os.path.join(expand(params["workdir"]), ".shared-" + params["token"]))
    except FileNotFoundError:
        pass
    return {}
