"""Downloads what an address holds into a folder.

An address is s3://BUCKET/PREFIX, which stands for all objects below it, or that of one file of http or https. main()
takes the order: url, to (the folder), and optionally endpoint (of S3), budget and timeout as in download.py. The files
are then in TO/files. TO/work has the same files as hard links, named by a hash of their names, and what is known of
each. So the next download gets only what has changed. Secrets are read as download.py reads them.
"""
import concurrent.futures
import fcntl
import hashlib
import http.client
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from common import Again, Failure, Passing, megabytes, say
from download import PASSING, Download, pause_before, retry_after, unreachable
from places import Redirects, S3Listing, S3Place

AT_ONCE = 8  # downloads beside each other
SAID_EVERY = 0.5  # seconds


class Entry:
    """One file: its name below the folder, its address, and of an object also bytes and ETag."""

    def __init__(self, name, url, size=None, etag=None):
        self.name, self.url, self.size, self.etag = name, url, size, etag
        self.kept = hashlib.sha256(name.encode()).hexdigest()


def assert_inside(name, shown):
    if "\0" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
        raise Failure("%s leads out of the folder" % shown, "Rename that object")


def page_of(listing, opener, budget, timeout):
    """One answer of the server, tried again for `budget` seconds. Bytes."""
    begun, tries, changes = time.monotonic(), 0, 0
    while True:
        try:
            request = listing.request({"User-Agent": "trainyard"})
            with opener.open(request, timeout=timeout) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            body = error.read(8192).decode("utf-8", "replace")
            try:
                listing.judge(error.code, error.headers, body)
            except Again:
                changes += 1
                if changes < 5:
                    continue
                raise Failure("%s lies elsewhere" % listing.shown, "Set AWS_REGION")
            if error.code not in PASSING:
                raise Failure("%s answers HTTP %d" % (listing.shown, error.code), "Check the address")
            trouble = Passing("HTTP %d %s" % (error.code, error.reason), retry_after(error.headers))
        except (OSError, http.client.HTTPException) as error:
            try:
                unreachable(listing, getattr(error, "reason", error))
            except Passing as passing:
                trouble = passing
        tries += 1
        pause = pause_before(tries, trouble)
        if time.monotonic() + pause > begun + budget:
            raise Failure("%s could not be read for %d s: %s" % (listing.shown, round(budget), trouble), "Try again")
        say("note", text="%s: %s; trying again in %.1f s" % (listing.shown, trouble, pause))
        time.sleep(pause)


def objects(url, endpoint, env, budget, timeout):
    """Entries of all objects below an S3 address, or the one object of that name."""
    bucket, _, prefix = url[len("s3://"):].partition("/")
    prefix = prefix.rstrip("/")
    if not bucket:
        raise Failure("'%s' names no bucket" % url, "Write it like s3://bucket/folder", 2)
    listing = S3Listing(bucket, prefix, endpoint, env)
    opener = urllib.request.build_opener(Redirects(False))
    below, itself = [], []
    more = True
    while more:
        found, more = listing.page(page_of(listing, opener, budget, timeout))
        for key, size, etag in found:
            address = "s3://%s/%s" % (bucket, key)
            if prefix and key == prefix:
                itself.append(Entry(os.path.basename(key), address, size, etag))
            elif (key.startswith(prefix + "/") or not prefix) and not key.endswith("/"):
                name = key[len(prefix) + 1:] if prefix else key
                assert_inside(name, address)
                below.append(Entry(name, address, size, etag))
        say("note", text="%s: %d objects so far" % (listing.shown, len(below)))
    return below or itself


def entries_of(order, env):
    url = order["url"]
    if url.startswith("s3://"):
        found = objects(url, order.get("endpoint"), env, float(order.get("budget", 300)), float(order.get("timeout", 60)))
        if not found:
            raise Failure("there is no object below %s" % url, "Check bucket and name")
        return found
    name = urllib.parse.unquote(os.path.basename(urllib.parse.urlsplit(url).path))
    if not name or "/" in name or name in (".", ".."):
        raise Failure("'%s' names no file" % url, "Write it like https://host/folder/file.tar", 2)
    return [Entry(name, url)]


class Folder:
    def __init__(self, order, env):
        self.order, self.env = order, env
        self.files, self.work = (os.path.join(order["to"], name) for name in ("files", "work"))
        for path in (self.files, self.work):
            os.makedirs(path, mode=0o700, exist_ok=True)
        self.lock = open(os.path.join(order["to"], "lock"), "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure("%s is being filled already" % order["to"], "Wait for the other one")
        self.guard = threading.Lock()
        self.done = {}  # bytes by name of what is under way or was got
        self.said = 0.0

    def run(self):
        entries = entries_of(self.order, self.env)
        lacking = [entry for entry in entries if not self.is_here(entry)]
        self.need_space(lacking)
        self.remove_others(entries)
        self.total = sum(entry.size or 0 for entry in lacking)
        pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
        for future in concurrent.futures.as_completed([pool.submit(self.get, entry) for entry in lacking]):
            future.result()  # raises its error at once: the process then ends, and nobody waits for the others
        pool.shutdown()
        for entry in entries:
            self.place(entry)
        say("done", folder=self.files, files=len(entries), got=len(lacking), bytes=sum(self.done.values()))

    def kept(self, entry):
        return os.path.join(self.work, entry.kept)

    def is_here(self, entry):
        """Of an object, by its ETag and size. A file of the web is asked about."""
        if entry.etag is None:
            return False
        try:
            with open(self.kept(entry) + ".json") as file:
                state = json.load(file)
            size = os.path.getsize(self.kept(entry))
        except (OSError, ValueError):
            return False
        return state.get("url") == entry.url and state.get("etag") == entry.etag and size == entry.size

    def need_space(self, lacking):
        partly = sum(self.part_size(entry) for entry in lacking)
        needed = sum(entry.size or 0 for entry in lacking) - partly
        disk = os.statvfs(self.work)
        free = disk.f_bavail * disk.f_frsize
        if free < needed:
            what = "the disk is full: %s needs %s more in %s" % (self.order["url"], megabytes(needed), self.work)
            raise Failure("%s (%s are free)" % (what, megabytes(free)), "Free disk space there")

    def part_size(self, entry):
        try:
            return min(entry.size or 0, os.path.getsize(self.kept(entry) + ".part"))
        except OSError:
            return 0

    def remove_others(self, entries):
        """What an earlier time got and the address no longer has."""
        known = {entry.kept for entry in entries}
        for name in os.listdir(self.work):
            if name.split(".")[0] not in known:
                os.unlink(os.path.join(self.work, name))
        wanted = {os.path.join(self.files, entry.name) for entry in entries}
        for folder, folders, names in os.walk(self.files, topdown=False):
            for name in names:
                if os.path.join(folder, name) not in wanted:
                    os.unlink(os.path.join(folder, name))
            for name in folders:
                try:
                    os.rmdir(os.path.join(folder, name))
                except OSError:
                    pass  # something of it is still wanted

    def get(self, entry):
        order = {key: self.order[key] for key in ("endpoint", "budget", "timeout") if key in self.order}
        if entry.etag is not None and os.path.exists(self.kept(entry)):
            self.forget(entry)

        def said(kind, **fields):
            if kind == "note":
                with self.guard:
                    say(kind, **fields)
            elif kind == "progress":
                self.went_on(entry, fields["done"])

        Download(dict(order, url=entry.url, to=self.kept(entry)), self.env, said).run()
        self.went_on(entry, os.path.getsize(self.kept(entry)))

    def forget(self, entry):
        """An object that has another ETag now: what is known of the old one is no reason not to ask."""
        for path in (self.kept(entry), self.kept(entry) + ".json"):
            if os.path.exists(path):
                os.unlink(path)

    def went_on(self, entry, done):
        with self.guard:
            self.done[entry.name] = done
            now = time.monotonic()
            if now - self.said < SAID_EVERY:
                return
            self.said = now
            say("progress", done=sum(self.done.values()), total=self.total or None, files=len(self.done))

    def place(self, entry):
        """Its name in TO/files, which changes nothing where it has it."""
        path = os.path.join(self.files, entry.name)
        if os.path.exists(path) and os.path.samefile(path, self.kept(entry)):
            return
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise Failure("%s is a file and a folder in one" % entry.url, "Rename one of the objects")
        if os.path.isdir(path):
            raise Failure("%s is a file and a folder in one" % entry.url, "Rename one of the objects")
        os.link(self.kept(entry), path + ".trainyard-new")
        os.rename(path + ".trainyard-new", path)


def main(order):
    """The process's exit code is the error's. What is there is kept, to go on from."""
    try:
        Folder(order, os.environ).run()
        code = 0
    except Failure as failure:
        say("error", what=failure.what, to_do=failure.to_do)
        code = failure.code
    except OSError as error:
        say("error", what="%s: %s" % (error.filename or order["to"], error.strerror), to_do="Check the folder and its disk")
        code = 3
    except (KeyboardInterrupt, BrokenPipeError):
        code = 130  # nobody listens any more
    sys.stdout.flush()
    os._exit(code)  # downloads beside the one that failed are not waited for
