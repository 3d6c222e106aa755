"""Files that compilers make, which are made again only where their command or what they are made of has changed."""

import hashlib
import json
import os
import pathlib

from processes import call, write_whole


class Maker:
    def __init__(self, launcher=()):
        """launcher: words in front of each compiler's command line, such as ccache."""
        self.launcher, self.digests = [*launcher], {}

    def digest(self, path):
        """Of a file, read once; None where there is none."""
        path = str(path)
        if path not in self.digests:
            try:
                self.digests[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
            except OSError:
                self.digests[path] = None
        return self.digests[path]

    def compile(self, command, target, limit):
        """An object file; the compiler says which headers it read."""
        headers = pathlib.Path(f"{target}.d")

        def read():
            rule = headers.read_text().replace("\\\n", " ")
            return [os.path.abspath(word) for word in rule.partition(":")[2].split()]

        self.make([*command, "-MMD", "-MF", headers], target, read, limit, self.launcher)

    def link(self, command, target, inputs, limit):
        self.make(command, target, lambda: inputs, limit)

    def make(self, command, target, inputs, limit, launcher=()):
        words, stamp = [str(word) for word in command], pathlib.Path(f"{target}.made")
        if self.fresh(words, target, stamp):
            return
        stamp.unlink(missing_ok=True)
        call([*launcher, *words], limit.left(), name=pathlib.Path(words[0]).name)
        self.digests.pop(str(target), None)
        write_whole(stamp, json.dumps({"command": words, "inputs": {str(file): self.digest(file) for file in inputs()}}))

    def fresh(self, words, target, stamp):
        try:
            made = json.loads(stamp.read_text())
        except (OSError, ValueError):
            return False
        return target.exists() and made["command"] == words and all(
            digest is not None and digest == self.digest(file) for file, digest in made["inputs"].items())
