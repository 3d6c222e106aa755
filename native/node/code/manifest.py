# The user's code, by content (docs/contracts/code.md): blobs in `<workdir>/code`, and a folder of links for each run. A snapshot is a
# manifest, whose SHA-256 is its name. This file has the manifest.
import re


def hash_of(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()


HASH = re.compile(r"[0-9a-f]{64}\Z")
# An absolute path, one with an empty part, `.` or `..`, or with a zero byte.
LEADS_OUT = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)|\0")


def is_hash(text):
    return isinstance(text, str) and HASH.match(text) is not None


def boot_time():
    with open("/proc/stat") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("btime ")), 0)


class Manifest:
    """`files`: [path, whether it is a program, size, SHA-256]; `links`: [path, target]. Blobs are numbered as `files` first has them."""

    def __init__(self, data):
        self.data = data
        value = json.loads(data.decode())
        self.files = value["files"]
        self.links = value["links"]
        self.blobs = list({blob_name(file): file[2] for file in self.files}.items())
        self.folders = self.folders_of([entry[0] for entry in self.files + self.links])
        if not all(is_hash(file[3]) for file in self.files):
            raise Refused("the list of the code's files is damaged", REPORT)

    def folders_of(self, paths):
        found = set()
        for path in paths:
            if LEADS_OUT.search(path):
                raise Refused("%s leads out of the code folder" % path, REPORT)
            above = path.rpartition("/")[0]
            while above and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return sorted(found)


def blob_name(file):
    return file[3] + ("x" if file[1] else "")
