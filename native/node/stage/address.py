# Downloads what an address holds into a folder of this node, from which it is staged
# (docs/contracts/staging.md). The downloader's programs are in the request. They run as a process of
# their own, since they write their own lines to standard output.

RUN_PROGRAMS = """import json, sys, types
given = json.loads(sys.stdin.readline())
for name, text in given["programs"]:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name + ".py", "exec"), module.__dict__)
module.main(given["order"])
"""


def amount_text(told):
    done, total = told["done"] / 1e6, told["total"]
    return "%.1f MB" % done if total is None else "%.1f of %.1f MB" % (done, total / 1e6)


def from_address(params):
    """Where the files are then, how many, and how many of them had to be got."""
    import subprocess
    import time

    folder = expand(params["to"])
    make_private(os.path.dirname(folder))
    order = {"url": params["url"], "to": folder}
    argv = [sys.executable, "-I", "-c", RUN_PROGRAMS]
    child = subprocess.Popen(argv, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    done, noise = None, ""
    with beats_of(folder):
        try:
            child.stdin.write(json.dumps({"programs": params["programs"], "order": order}).encode() + b"\n")
            child.stdin.close()
            for raw in child.stdout:
                line = raw.decode("utf-8", "replace").strip()
                if not line.startswith("{"):
                    noise = line or noise
                    continue
                told = json.loads(line)
                if told["kind"] == "progress":
                    progress("downloading %s: %s" % (params["url"], amount_text(told)))
                elif told["kind"] == "note":
                    progress(told["text"])
                elif told["kind"] == "error":
                    raise Refused(told["what"], told["to_do"])
                else:
                    done = told
            if done is not None and done["got"]:
                time.sleep(YOUNG / 1e9 + 0.1)  # a listing takes younger files for files that may change
        finally:
            child.stdout.close()  # its next line ends it, where it still works
            code = child.wait()
    if done is None:
        raise Refused("the download of %s ended with exit %d: %s" % (params["url"], code, noise), REPORT)
    return {"folder": done["folder"], "files": done["files"], "got": done["got"], "bytes": done["bytes"]}
