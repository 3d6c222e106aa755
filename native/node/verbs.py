# Looking, trying, unpacking, cleaning up, and becoming another program; and the loop over requests.


def try_program(params):
    """Runs a short program and tells how it ended and what it said."""
    try:
        code, said = command(params["argv"])
    except OSError as error:
        return {"code": None, "output": reason(error)}
    return {"code": code, "output": "\n".join(said)[-8000:]}


def has_shards(path):
    """Whether files beside it are TFRecord shards named like it: FOLDER/validation for FOLDER/validation-00000-of-00008."""
    try:
        beside = os.listdir(os.path.dirname(path))
    except OSError:
        return False
    name = os.path.basename(path)
    shards = [other for other in beside if "-of-" in other or other.endswith((".tfrecord", ".tfrecords", ".tfrec"))]
    return any(name in other for other in shards)


def look(params):
    """What stands at each path: folder, file, shards (TFRecord files of that name), missing, or why it cannot be told."""
    answers = []
    for given in params["paths"]:
        path = os.path.expanduser(given)
        try:
            answers.append("folder" if stat.S_ISDIR(os.stat(path).st_mode) else "file")
        except FileNotFoundError:
            answers.append("shards" if has_shards(path) else "missing")
        except OSError as error:
            answers.append(reason(error))
    return {"found": answers}


def unpack(params):
    """A tar archive up to the end of input, below a folder and never outside of it; `as` renames its one file."""
    target = expand(params["to"])
    make_private(target)
    count = 0
    made = set()
    archive = Archive()
    for member in archive:
        path = os.path.normpath(os.path.join(target, member.name))
        inside = path == target or path.startswith(target.rstrip(os.sep) + os.sep)
        if params.get("as"):
            path = os.path.join(target, params["as"])
        if not inside or not (member.is_file() or member.is_folder()):
            raise Refused("the archive holds %s, which is no plain file of it" % member.name, "Report this")
        if member.is_folder():
            os.makedirs(path, exist_ok=True)
            continue
        folder = os.path.dirname(path)
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        receive(archive, member, path)
        count += 1
    return {"files": count}


def receive(archive, member, path):
    """A file of an archive, which appears whole or not at all."""
    temporary = "%s.partial-%d" % (path, os.getpid())
    try:
        output = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            archive.copy(member, output)
            os.fchmod(output, member.mode)
        finally:
            os.close(output)
        os.rename(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def clean(params):
    """Removes the programs and the runtime; `all` also the runs. Nothing else is touched."""
    import shutil

    workdir = expand(params["workdir"])
    removed = []
    for name in ("node", "runtime") + (("runs",) if params.get("all") else ()):
        path = os.path.join(workdir, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
            removed.append(path)
    try:
        os.rmdir(workdir)
        removed.append(workdir)
    except OSError:
        pass  # something of the user's own is in it
    return {"removed": removed}


def become(argv, env=None, cwd=None):
    for name, value in (env or {}).items():
        os.environ[name] = value
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and that would be inherited
    try:
        if cwd:
            os.chdir(os.path.expanduser(cwd))
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write("%s cannot be started: %s\n" % (argv[0], error.strerror))
        sys.stderr.flush()
        os._exit(127)


def serve(params):
    become([params["agent"], "serve"])


def run(params):
    os.umask(USERS_UMASK)
    become(params["argv"], params.get("env"), params.get("cwd"))


OPERATIONS = {
    "probe": probe,
    "forget": forget_token,
    "install": install,
    "runtime": runtime,
    "try": try_program,
    "look": look,
    "unpack": unpack,
    "clean": clean,
    "serve": serve,
    "run": run,
}


def main():
    while True:
        request = json.loads(read_line().decode())
        try:
            say({"result": OPERATIONS[request["op"]](request.get("params", {}))})
        except Refused as error:
            say({"error": {"what": error.what, "hint": error.hint, "remedy": error.remedy}})
        except OSError as error:
            say({"error": {"what": reason(error), "hint": "Check this node's disk and permissions"}})


main()
