# The Python environment of an own program, with the packages that a requirements file names
# (docs/contracts/nodes.md). One node decides on their versions; the other nodes take the same.

ENVIRONMENTS = "the packages"
RECORD = "trainyard-packages.txt"  # below an environment: what it was made of, written last
SIGN = "trainyard-python "
ASK_PYTHON = "import json, sys; print(%r + json.dumps([sys.executable, list(sys.version_info[:3])]))" % SIGN
LEAST_FREE = 200000000
# What pip says where it reaches no package index.
NO_INDEX = ("NewConnectionError", "ConnectTimeout", "Max retries", "ProxyError", "SSLError", "name resolution")


def environment_python(params):
    """The program's Python: `python3` as the profile's prologue leaves PATH. Its file and its
    version."""
    prologue = params.get("prologue") or ""
    argv = ["python3", "-c", ASK_PYTHON]
    if prologue:
        argv = ["bash", "-l", "-c", 'eval "$1" || exit; exec python3 -c "$2"', "trainyard", prologue, ASK_PYTHON]
    try:
        with beats_of("python3"):
            code, said = command(argv, seconds=TRY_SECONDS)
    except FileNotFoundError as error:
        raise Refused(reason(error), "Install it on this node")
    found = [line[len(SIGN):] for line in said if line.startswith(SIGN)]
    if code != 0 or not found:
        after = "after the prologue " if prologue else ""
        raise Refused("%spython3 could not be asked for its version: %s" % (after, (said or ["it said nothing"])[-1]), "Correct the prologue of the profile" if prologue else "Look at the Python of this node")
    executable, version = json.loads(found[-1])
    return {"python": executable, "version": version}


def site_packages(folder, version):
    return os.path.join(folder, "lib", "python%d.%d" % tuple(version[:2]), "site-packages")


def environment_is_whole(version):
    def is_whole(folder):
        return (
            os.path.isfile(os.path.join(folder, RECORD))
            and os.path.exists(os.path.join(folder, "bin", "python3"))  # not a link to a Python that is gone
            and os.path.isdir(site_packages(folder, version))
        )

    return is_whole


def pip_error(said):
    """What of pip's words says most."""
    errors = [text.strip() for text in said if text.lstrip().startswith(("ERROR", "error"))]
    telling = [text for text in errors if "ResolutionImpossible" not in text and "subprocess-exited-with-error" not in text]
    return (telling or errors or said or ["it said nothing"])[-1].strip() + conflict_of(said)


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
    if "No space left" in text:
        hint = 'Free some disk space on this node, or set "workdir" in the profile to a disk that has it'
    elif any(sign in text for sign in NO_INDEX):
        return Refused("pip could not install %s: %s" % (what, pip_error(said)), "Check the names, the network of this node and the package index that pip is set to", "wheels")
    else:
        hint = "Correct the requirements file, or install what pip misses on this node"
    return Refused("pip could not install %s: %s" % (what, pip_error(said)), hint)


def fill_environment(folder, params, wheels):
    """An environment with these requirements. Returns how its pip is called."""
    import shutil

    progress("making a Python environment")
    python, pip = make_environment(folder, wheels, params.get("pip", ""), params["python"])
    temporary = os.path.join(folder, ".tmp")
    os.mkdir(temporary, 0o700)
    line = [python] + pip + ["install", "--no-input", "--disable-pip-version-check"]
    line += ["--no-deps"] if params.get("isWhole") else []  # what they need is among them
    for flag, name in (("-r", "requirements"), ("-c", "constraints")):
        if params.get(name):
            path = os.path.join(temporary, name + ".txt")
            with open(path, "w") as file:
                file.write(params[name])
            line += [flag, path]
    line += ["--no-index", "--find-links", wheels] if wheels else ["--retries", "1", "--timeout", "15"]

    def tell(text):
        if text.startswith(("Collecting", "Downloading", "Building wheel", "Installing collected")):
            progress(text.split(" (from ")[0][:100])

    code, said = command(line, tell, most=200, TMPDIR=temporary)
    shutil.rmtree(temporary, ignore_errors=True)
    if code != 0:
        raise pip_refusal(params["what"], said)
    return [python] + pip


def packages_of(pip):
    """NAME==VERSION of each package but pip itself, as `pip freeze` has them."""
    code, said = command(pip + ["freeze", "--all", "--disable-pip-version-check"], most=100000)
    if code != 0:
        raise Refused("pip could not list the packages: %s" % pip_error(said), REPORT)
    return [line for line in said if line and not line.startswith(("#", "WARNING", "pip==", "pip @"))]


def write_record(folder, lines):
    with open(os.path.join(folder, RECORD), "w") as file:
        file.write("\n".join(lines) + "\n")


def name_of(lines, version):
    """The folder's name: of what it consists, and for which Python."""
    import hashlib

    text = "\n".join(lines) + "\n"
    return "%s-py%d.%d" % (hashlib.sha256(text.encode()).hexdigest()[:16], version[0], version[1])


def wheels_of(params):
    return expand(params["wheels"]) if params.get("wheels") else None


def environment_lock(params):
    """Which versions these requirements come to here, decided once. `key` stands for the
    requirements. Their packages are then in the folder `name` of the answer, below `dir`."""
    root = expand(params["dir"])
    version = params["version"]
    target = os.path.join(root, "locks", "%s-py%d.%d" % (params["key"], version[0], version[1]))
    lock = os.path.join(target, "packages.txt")

    def fill(folder):
        require_space(ENVIRONMENTS, target, LEAST_FREE)
        made = os.path.join(folder, "environment")
        lines = params["options"] + packages_of(fill_environment(made, params, wheels_of(params)))
        home = os.path.join(root, name_of(lines, version))
        relocate(made, home)
        write_record(made, lines)
        with open(os.path.join(folder, "packages.txt"), "w") as file:
            file.write("\n".join(lines) + "\n")
        flush(folder)
        try:
            os.rename(made, home)
        except OSError:
            pass  # another run's requirements came to the same: `environment` looks whether it is whole

    def is_whole(folder):
        return os.path.isfile(os.path.join(folder, "packages.txt"))

    made = make_once(target, ENVIRONMENTS, is_whole, fill)
    with open(lock) as file:
        lines = file.read().splitlines()
    return {"made": made, "name": name_of(lines, version), "lines": lines}


def environment(params):
    """An environment of versions that were decided on, where it does not stand yet."""
    target = expand(params["dir"])
    version = params["version"]

    def fill(folder):
        require_space(ENVIRONMENTS, target, LEAST_FREE)
        fill_environment(folder, params, wheels_of(params))
        relocate(folder, target)
        write_record(folder, params["lines"])

    return {"made": make_once(target, ENVIRONMENTS, environment_is_whole(version), fill)}


ENVIRONMENT_OPERATIONS = {"python": environment_python, "lock": environment_lock, "make": environment}
