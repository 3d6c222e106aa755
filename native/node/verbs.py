# Looking, trying, cleaning up, and becoming another program; and the loop over requests.


REPORT = "Report this with the log"
TRY_SECONDS = 120  # a driver takes its time with the first program on a node of many GPUs


def try_program(params):
    """Runs a short program and tells how it ended and what it said: the trainer's help is whole.
    The code is None where it has not begun, or has not ended within `seconds`."""
    argv = params["argv"]
    seconds = params.get("seconds", TRY_SECONDS)
    try:
        with beats_of(argv[0]):
            code, said = command(argv, most=1000, seconds=seconds)
    except OSError as error:
        return {"code": None, "output": reason(error)}
    if code is None:
        what = "%s did not end within %d s, and was killed: a driver or a disk of this node may hang"
        said.append(what % (program_of(argv), seconds))
    return {"code": code, "output": "\n".join(said)[-64000:]}


def program_of(argv):
    """The program itself, also behind `env` and its variables."""
    if argv[0] != "env":
        return argv[0]
    return next((word for word in argv[1:] if "=" not in word), argv[0])


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
    patience = Patience()
    for given in params["paths"]:
        patience.went_on()
        path = os.path.expanduser(given)
        try:
            answers.append("folder" if stat.S_ISDIR(os.stat(path).st_mode) else "file")
        except FileNotFoundError:
            answers.append("shards" if has_shards(path) else "missing")
        except OSError as error:
            answers.append(reason(error))
    return {"found": answers}


def list_folder(params):
    """What is in a folder: the names of its folders, links to folders too, and how many other entries. At most `most` names."""
    folders = []
    others = 0
    patience = Patience()
    with os.scandir(os.path.expanduser(params["path"])) as entries:
        for entry in entries:
            patience.went_on()
            try:
                is_folder = entry.is_dir()
            except OSError:
                is_folder = False
            if not is_folder:
                others += 1
            elif len(folders) < params["most"]:
                folders.append(entry.name)
    return {"folders": sorted(folders), "others": others}


def clean(params):
    """Removes the programs and the runtime; `all` also the runs; where there is `only`, these
    folders alone. Nothing else is touched, and nothing while a run is under way."""
    import shutil

    workdir = expand(params["workdir"])
    refuse_while_used(workdir)
    removed = []
    names = PROGRAM_FOLDERS + NOTE_FOLDERS + (("runs",) if params.get("all") else ())
    for name in params.get("only") or names:
        path = os.path.join(workdir, name)
        if os.path.isdir(path) and not os.path.islink(path):
            with beats_of(path):
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


def later(part, name):
    """An operation of a part that is compiled when it is first used: most channels never use one."""

    def operation(params):
        known = part + "_OPERATIONS"
        if known not in globals():
            exec(compile(LATER[part], part.lower(), "exec"), globals())
        return globals()[known][name](params)

    return operation


def staged(name):
    return later("STAGE", name)


def checked(name):
    return later("CHECK", name)


def of_environment(name):
    return later("ENVIRONMENT", name)


def of_files(name):
    return later("FILES", name)


def operations(copies):
    code = Code()
    return {
        "code-place": code.place,
        "code-take": code.take,
        "code-blobs": code.blobs,
        "code-offer": code.offer,
        "code-fetch": code.fetch,
        "code-note": code_note,
        "code-drop": code_drop,
        "stage-list": staged("list"),
        "stage-offer": staged("offer"),
        "stage-plan": staged("plan"),
        "stage-get": staged("get"),
        "stage-sent": staged("sent"),
        "stage-address": staged("address"),
        "probe": probe,
        "forget": forget_token,
        "install": install,
        "runtime": runtime,
        "cuda-look": cuda_look,
        "cuda": cuda,
        "environment-python": of_environment("python"),
        "environment-lock": of_environment("lock"),
        "environment": of_environment("make"),
        "try": try_program,
        "look": look,
        "list": list_folder,
        "unpack": copies.unpack,
        "offer": copies.offer,
        "fetch": copies.fetch,
        "files-look": of_files("look"),
        "files-sums": of_files("sums"),
        "facts": checked("facts"),
        "clock": checked("clock"),
        "ring": checked("ring"),
        "hear": checked("hear"),
        "stream": checked("stream"),
        "read-rate": checked("read-rate"),
        "forward": forward,
        "clean": clean,
        "slurm-submit": slurm_submit,
        "slurm-queue": slurm_queue,
        "slurm-ended": slurm_ended,
        "slurm-cancel": slurm_cancel,
        "slurm-keep-out": slurm_keep_out,
        "slurm-signal": slurm_signal,
        "slurm-partitions": slurm_partitions,
        "slurm-drivers": slurm_drivers,
        "serve": serve,
        "run": run,
    }


def answer(known, request):
    """One line, whatever happens: a program that ends without one leaves its client with a lost channel and no reason."""
    op = request.get("op") if isinstance(request, dict) else None
    try:
        if op not in known:
            raise Refused("%r is nothing that it can do" % (op,), REPORT)
        say({"result": known[op](request.get("params", {}))})
    except Refused as error:
        say({"error": {"what": error.what, "hint": error.hint, "remedy": error.remedy}})
    except OSError as error:
        say({"error": {"what": reason(error), "hint": hint_of(error, request)}})
    except Exception as error:
        say({"error": {"what": "%s failed: %s" % (op, defect(error)), "hint": REPORT}})


def hint_of(error, request):
    """The path may have been the user's own, and does not exist."""
    if isinstance(error, FileNotFoundError) and request.get("op") in ("list", "stage-list", "run"):
        given = [one for one in request.get("params", {}).values() if isinstance(one, str)]
        if any(os.path.normpath(os.path.expanduser(one)) == error.filename for one in given):
            return "Name a path that exists on this node"
    return "Check this node's disk and permissions"


def defect(error):
    """What went wrong in this program, and in which line of it."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return "%s: %s (%s, line %s of the set-up program)" % (type(error).__name__, error, frame[2], frame[1])


def request_of(line):
    try:
        return json.loads(line.decode())
    except ValueError:
        return None


def main():
    copies = Copies()
    known = operations(copies)
    try:
        while True:
            answer(known, request_of(read_line()))
    finally:
        copies.close()


main()
