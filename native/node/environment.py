# The Python environment of an own program, with the packages that a requirements file names
# (docs/contracts/nodes.md). One node decides on their versions; the other nodes take the same.

ENVIRONMENTS = "the packages"
RECORD = "trainyard-packages.txt"  # below an environment: what it was made of, written last
SIGN = "trainyard-python "
# Its file, its version, its flag (t: without a global lock), and what markers of requirements ask
# for.
ASK_PYTHON = """
import json, os, platform, sys
kept = sys.implementation.version
full = ".".join(map(str, kept[:3])) + ("" if kept[3] == "final" else kept[3][0] + str(kept[4]))
markers = {
    "implementation_name": sys.implementation.name, "implementation_version": full, "os_name": os.name,
    "platform_machine": platform.machine(), "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(), "platform_system": platform.system(), "platform_version": platform.version(),
    "python_full_version": platform.python_version(), "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform,
}
print(%r + json.dumps({"python": sys.executable, "version": list(sys.version_info[:3]), "flags": sys.abiflags, "markers": markers}))
""" % SIGN
LEAST_FREE = 200000000
# What pip says where it reaches no package index.
NO_INDEX = (
    "NewConnectionError", "ConnectTimeout", "ReadTimeout", "ConnectionReset", "RemoteDisconnected", "Connection aborted",
    "Max retries", "ProxyError", "SSLError", "name resolution",
)
PACKAGE = "^[A-Za-z0-9][A-Za-z0-9._-]*(==| @ )"


def after_prologue(params):
    """What stands before a program that is to run as the ranks do: with the profile's variables and
    as its prologue leaves a shell."""
    words = ["env"] + ["%s=%s" % pair for pair in sorted(params["env"].items())] if params.get("env") else []
    if not params.get("prologue"):
        return words
    return words + ["bash", "-l", "-c", 'eval "$1" || exit; shift; exec "$@"', "trainyard", params["prologue"]]


def environment_python(params):
    """The program's Python: `python3` as the profile's prologue leaves PATH."""
    try:
        with beats_of("python3"):
            argv = after_prologue(params) + ["python3", "-c", ASK_PYTHON]
            code, said = command(argv, seconds=TRY_SECONDS)
    except FileNotFoundError as error:
        raise Refused(reason(error), "Install it on this node")
    found = [line[len(SIGN):] for line in said if line.startswith(SIGN)]
    if code != 0 or not found:
        what = "after the prologue python3" if params.get("prologue") else "python3"
        raise Refused(
            "%s could not be asked for its version: %s" % (what, (said or ["it said nothing"])[-1]),
            "Correct the prologue of the profile" if params.get("prologue") else "Look at the Python of this node",
        )
    return json.loads(found[-1])


def is_made(folder):
    return os.path.isfile(os.path.join(folder, RECORD))


def check_python(folder, version):
    """Refused where the environment is for a Python that this node does not have. Another node that
    sees this disk may need it as it is."""
    python = os.path.join(folder, "bin", "python3")
    if os.path.exists(python):
        code, said = command([python, "-Ic", "import sys; print('%d.%d' % sys.version_info[:2])"])
        if code == 0 and said[-1:] == ["%d.%d" % tuple(version[:2])]:
            return
    raise Refused(
        "%s is for %s, which is not that Python on this node" % (folder, os.path.realpath(python)),
        "Have the same Python at the same path on all nodes that see this disk, or remove that folder where no run uses it",
    )


def pip_error(said):
    """What of pip's words says most."""
    errors = [text.strip() for text in said if text.lstrip().startswith(("ERROR", "error"))]
    telling = [text for text in errors if "ResolutionImpossible" not in text and "subprocess-exited-with-error" not in text]
    best = (telling or errors or said or ["it said nothing"])[-1].strip()
    return (said[-1].strip() if best == "ERROR: Exception:" else best) + conflict_of(said)


def conflict_of(said):
    """Who asks for what, where versions cannot be had together."""
    begin = next((at for at, text in enumerate(said) if text.startswith("The conflict is caused by")), None)
    if begin is None:
        return ""
    lines = [text.strip() for text in said[begin + 1 :]]
    end = lines.index("") if "" in lines else len(lines)
    return ": " + "; ".join(lines[:end])


def pip_refusal(what, said):
    text = "\n".join(said)
    remedy = None
    if "No space left" in text:
        hint = 'Free some disk space on this node, or set "workdir" in the profile to a disk that has it'
    elif any(sign in text for sign in NO_INDEX):
        hint = "Check the names, the network of this node and the package index that pip is set to"
        remedy = "wheels"
    else:
        hint = "Correct the requirements file, or install what pip misses on this node"
    return Refused("pip could not install %s: %s" % (what, pip_error(said)), hint, remedy)


class Pip:
    """pip of a new environment in `folder`, for the requirements of a request."""

    def __init__(self, folder, params, wheels):
        self.before = after_prologue(params)
        python, pip = make_environment(folder, wheels, params.get("pip", ""), params["python"], self.before)
        self.words = self.before + [python, "-I"] + pip
        self.params = params
        self.source = ["--no-index", "--find-links", wheels] if wheels else ["--retries", "2", "--timeout", "20"]
        self.temporary = os.path.join(folder, ".tmp")

    def __enter__(self):
        os.mkdir(self.temporary, 0o700)
        return self

    def __exit__(self, *_):
        import shutil

        shutil.rmtree(self.temporary, ignore_errors=True)

    def install(self, flags):
        """The exit code, and what pip said."""
        line = self.words + ["install", "--no-input", "--disable-pip-version-check"] + flags + self.source
        for flag, name in (("-r", "requirements"), ("-c", "constraints")):
            if self.params.get(name):
                path = os.path.join(self.temporary, name + ".txt")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(self.params[name])
                line += [flag, path]

        return command(line, tell_of_pip, most=200, TMPDIR=self.temporary)

    def make(self, flags):
        code, said = self.install(flags)
        if code != 0:
            raise pip_refusal(self.params["what"], said)

    def decide(self):
        """Which packages the requirements come to, each with its version, by name. pip itself is
        none of them."""
        report = os.path.join(self.temporary, "report.json")
        alone = no_deps(self.params)
        code, said = self.install(["--dry-run", "--ignore-installed", "--report", report] + alone)
        if code == 2 and any("no such option" in text for text in said):
            # Before pip 22.2. What Python brings of itself is nothing that was asked for.
            brought = self.frozen()
            self.make(alone)
            return [line for line in self.frozen() if line not in brought]
        if code != 0:
            raise pip_refusal(self.params["what"], said)
        with open(report, encoding="utf-8") as file:
            found = [line_of(one) for one in json.load(file)["install"]]
        return sorted((line for line in found if not is_pip(line)), key=str.lower)

    def frozen(self):
        import re

        code, said = command(self.words + ["freeze", "--all", "--disable-pip-version-check"], most=100000)
        if code != 0:
            raise Refused("pip could not list the packages: %s" % pip_error(said), REPORT)
        return [line for line in said if re.match(PACKAGE, line) and not is_pip(line)]


def no_deps(params):
    """For pip where all that the packages need is among them: versions that were decided on, and
    those of a lock file."""
    return ["--no-deps"] if params.get("isWhole") else []


def is_pip(line):
    """Or what Debian's old pip names beside it, which no index has."""
    return line.startswith(("pip==", "pip @")) or line in ("pkg-resources==0.0.0", "pkg_resources==0.0.0")


def line_of(found):
    """One package of pip's report, as `pip freeze` has it."""
    name = found["metadata"]["name"]
    if not found.get("is_direct"):
        return "%s==%s" % (name, found["metadata"]["version"])
    info = found["download_info"]
    vcs = info.get("vcs_info")
    url = "%s+%s@%s" % (vcs["vcs"], info["url"], vcs["commit_id"]) if vcs else info["url"]
    digest = info.get("archive_info", {}).get("hashes", {}).get("sha256")
    parts = ["sha256=" + digest] if digest else []
    parts += ["subdirectory=" + info["subdirectory"]] if info.get("subdirectory") else []
    return "%s @ %s" % (name, url) + ("#" + "&".join(parts) if parts else "")


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def name_of(lines, params):
    """The folder's name: of what it consists, with which hashes, and for which Python."""
    import hashlib

    text = "\n".join(lines) + "\n" + (params["requirements"] if params.get("hashed") else "")
    return "%s-%s" % (hashlib.sha256(text.encode()).hexdigest()[:16], python_name(params))


def python_name(params):
    return "py%d.%d%s" % (params["version"][0], params["version"][1], params["flags"])


def remove_killed(folder):
    """What makers that are known to be gone left half made in it, whatever they made."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if name.startswith(".") and ".partial-" in name:
            remove_dead_partials(os.path.join(folder, name[1:].partition(".partial-")[0]))


def wheels_of(params):
    return expand(params["wheels"]) if params.get("wheels") else None


def environment_lock(params):
    """Which versions these requirements come to here, decided once. `key` stands for the
    requirements. Answers their lines, and the name of the folder for an environment of them."""
    target = os.path.join(expand(params["dir"]), "locks", "%s-%s" % (params["key"], python_name(params)))

    def lock_of(folder):
        return os.path.join(folder, "packages.txt")

    def fill(folder):
        import shutil

        require_space(ENVIRONMENTS, target, LEAST_FREE)
        remove_killed(os.path.dirname(target))
        progress("finding the versions of the packages")
        scratch = os.path.join(folder, "environment")
        with Pip(scratch, params, wheels_of(params)) as pip:
            lines = params["options"] + pip.decide()
        shutil.rmtree(scratch)
        write_lines(lock_of(folder), lines)

    made = make_once(target, ENVIRONMENTS, lambda folder: os.path.isfile(lock_of(folder)), fill)
    with open(lock_of(target), encoding="utf-8") as file:
        lines = file.read().splitlines()
    return {"made": made, "name": name_of(lines, params), "lines": lines}


def environment(params):
    """An environment of versions that were decided on, where it does not stand yet."""
    target = expand(params["dir"])

    def fill(folder):
        if params.get("isThere"):
            raise Refused(
                "%s is not there any more, and the hashes of these packages are in their requirements file alone" % target,
                "Name the requirements file once more",
            )
        remove_killed(os.path.dirname(target))
        require_space(ENVIRONMENTS, target, LEAST_FREE)
        progress("making a Python environment")
        with Pip(folder, params, wheels_of(params)) as pip:
            pip.make(no_deps(params))
        relocate(folder, target)
        write_lines(os.path.join(folder, RECORD), params["lines"])

    made = make_once(target, ENVIRONMENTS, is_made, fill)
    check_python(target, params["version"])
    return {"made": made}


ENVIRONMENT_OPERATIONS = {"python": environment_python, "lock": environment_lock, "make": environment}
