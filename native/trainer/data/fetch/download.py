#!/usr/bin/env python3
"""Downloads one file for `trainer prep`: http, https and s3, resumed where it broke off, never half-made.

A JSON object on stdin says what: url, to (the file), and optionally sha256, endpoint (of S3), budget (seconds without
a new byte until it gives up) and timeout (seconds of silence until a connection counts as broken). JSON lines on stdout
say how it goes: progress, note, and at the end done or error. Secrets come from the environment and from files that
only the user can read, never from the command line. Python 3.6 or newer, nothing else.
"""
import calendar
import email.utils
import errno
import http.client
import json
import os
import random
import re
import socket
import ssl
import sys
import time
import urllib.error
import urllib.request

from common import CHUNK, Again, Failure, Passing, megabytes, say
from part import Part, sha256_of
from places import Redirects, S3Place, WebPlace

PASSING = (408, 425, 429, 500, 502, 503, 504)


class Download:
    def __init__(self, order, env, say=say):
        """`say` takes what it says of how it goes, as `common.say` does."""
        self.say = say
        self.to = order["to"]
        self.sha256 = (order.get("sha256") or "").lower()
        self.budget = float(order.get("budget", 300))
        self.timeout = float(order.get("timeout", 60))
        url = order["url"]
        self.place = S3Place(url, order.get("endpoint"), env) if url.startswith("s3://") else WebPlace(url, env)
        self.opener = urllib.request.build_opener(Redirects(self.place.follows))
        self.part = Part(self.to, url)
        self.said = 0.0
        self.asker = os.getppid()
        self.moved = time.monotonic()  # when the last byte came

    def run(self):
        tries = 0
        while True:
            before = self.part.done
            try:
                if self.attempt():
                    return
            except Again:
                tries += 1
                if tries < 20:
                    continue
                raise Failure("%s changes all the time" % self.place.shown, "Try later")
            except Passing as trouble:
                tries = 1 if self.part.done > before else tries + 1
                self.wait(tries, trouble)

    def wait(self, tries, trouble):
        left = self.moved + self.budget - time.monotonic()
        pause = pause_before(tries, trouble)
        if pause > left:
            have = "%s are in %s. " % (megabytes(self.part.done), self.part.path) if self.part.done else ""
            what = "%s could not be read for %d s: %s" % (self.place.shown, round(self.budget), trouble)
            raise Failure(what, have + "Run the same once more to go on, or raise --retry-seconds")
        self.say("note", text="%s: %s; trying again in %.1f s" % (self.place.shown, trouble, pause))
        sleep_while_asked(self.asker, pause)

    def attempt(self):
        """One request. True when the file is there."""
        part = self.part
        if part.done and part.done == part.state.get("total"):
            return self.finish()
        if part.done and part.validator() is None:
            part.start_anew({})  # nothing says that what follows would belong to it
        headers = {"Accept-Encoding": "identity", "User-Agent": "trainyard"}
        whole = {} if part.done else self.whole()
        if part.done:
            headers.update({"Range": "bytes=%d-" % part.done, "If-Range": part.validator()})
        elif whole.get("etag"):
            headers["If-None-Match"] = whole["etag"]
        try:
            response = self.opener.open(self.place.request(headers), timeout=self.timeout)
        except urllib.error.HTTPError as error:
            return self.refused(error)
        except urllib.error.URLError as error:
            unreachable(self.place, error.reason)
        except (OSError, http.client.HTTPException) as error:
            unreachable(self.place, error)
        with response:
            total = self.begin(response)
            self.need_space(total)
            self.copy(response, total)
        if total is None:
            part.note(dict(part.state, total=part.done))
        return self.finish()

    def whole(self):
        """What is known of the file if it is there already, of an earlier time."""
        if not os.path.exists(self.to):
            return {}
        state = self.part.read(self.part.kept) or self.part.unfinished()
        if not state:
            what = "%s is there, but not from %s" % (self.to, self.place.shown)
            raise Failure(what, "Move it away, or name it with --from")
        return state

    def begin(self, response):
        """Looks at what the answer is a part of. Returns the whole file's size, or None where it is not said."""
        part, headers = self.part, response.headers
        state = {"etag": headers.get("ETag"), "modified": headers.get("Last-Modified")}
        if response.status == 206:
            span = re.match(r"bytes (\d+)-\d+/(\d+)$", headers.get("Content-Range") or "")
            changed = any(state[key] and part.state.get(key) and state[key] != part.state[key] for key in state)
            if not span or int(span.group(1)) != part.done or changed:
                part.start_anew({})
                raise Again()
            return int(span.group(2))
        if part.done:
            self.say("note", text="%s cannot go on at %s; starting anew" % (self.place.shown, megabytes(part.done)))
        length = headers.get("Content-Length")
        state["total"] = int(length) if length and length.isdigit() else None
        part.start_anew(state)
        return state["total"]

    def copy(self, response, total):
        part = self.part
        while True:
            try:
                piece = response.read(CHUNK)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise Passing("the connection broke at %s (%s)" % (megabytes(part.done), error or type(error).__name__))
            if not piece:
                break
            try:
                part.add(piece)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise
                self.full(total, error.strerror)
            self.moved = time.monotonic()
            if self.moved - self.said > 0.25:
                self.said = self.moved
                self.say("progress", done=part.done, total=total)
        if total is not None and part.done != total:
            raise Passing("the connection broke at %s of %s" % (megabytes(part.done), megabytes(total)))

    def need_space(self, total):
        if total is None:
            return
        disk = os.statvfs(os.path.dirname(self.to) or ".")
        if disk.f_bavail * disk.f_frsize < total - self.part.done:
            self.full(total, "%s are free" % megabytes(disk.f_bavail * disk.f_frsize))

    def full(self, total, why):
        need = "more space" if total is None else "%s more" % megabytes(total - self.part.done)
        folder = os.path.dirname(self.to) or "."
        what = "the disk is full: %s needs %s in %s (%s)" % (self.place.shown, need, folder, why)
        have = "; %s are kept there to go on from" % megabytes(self.part.done) if self.part.done else ""
        raise Failure(what, "Free disk space, or name another folder with --download-dir" + have)

    def finish(self):
        part = self.part
        self.say("progress", done=part.done, total=part.done)
        found = part.digest() if self.sha256 else ""
        if found != self.sha256:
            part.drop()
            what = "%s has SHA-256 %s and not %s" % (self.place.shown, found, self.sha256)
            raise Failure(what, "Check the sum and the address; what was downloaded is removed")
        part.finish()
        self.say("done", bytes=part.done, path=self.to)
        return True

    def unchanged(self):
        """The server says that the file here is still the one there."""
        self.part.drop()
        found = sha256_of(self.to) if self.sha256 else ""
        if found != self.sha256:
            what = "%s has SHA-256 %s and not %s" % (self.to, found, self.sha256)
            raise Failure(what, "Remove it, or correct the sum")
        self.say("done", bytes=os.path.getsize(self.to), path=self.to)
        return True

    def refused(self, error):
        code, headers, part = error.code, error.headers, self.part
        if code == 304:
            return self.unchanged()
        if code == 416 and part.done:
            size = re.match(r"bytes \*/(\d+)$", headers.get("Content-Range") or "")
            if size and int(size.group(1)) == part.done:
                return self.finish()
            part.start_anew({})
            raise Again()
        body = ""
        try:
            body = error.read(8192).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            pass  # only the reason is lost
        self.place.judge(code, headers, body)
        if code in PASSING:
            raise Passing("HTTP %d %s" % (code, error.reason), retry_after(headers))
        if code in (404, 410):
            raise Failure("there is no file at %s (HTTP %d)" % (self.place.shown, code), "Check the address")
        raise Failure("%s answers HTTP %d %s" % (self.place.shown, code, error.reason), "Check the address")


def unreachable(place, reason):
    """Raises what an error of the network means: Failure where another try would not mend it, else Passing."""
    if isinstance(reason, Failure):
        raise reason
    if isinstance(reason, ssl.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(reason):
        to_do = "Check the address; for a certificate of your own set SSL_CERT_FILE"
        raise Failure("the certificate of %s cannot be verified (%s)" % (place.shown, reason), to_do)
    if isinstance(reason, socket.gaierror) and reason.errno == socket.EAI_NONAME:
        what = "nobody knows the host of %s" % place.shown
        raise Failure(what, "Check the address, and this machine's network")
    if isinstance(reason, http.client.InvalidURL):
        raise Failure("'%s' is no address" % place.shown, "Correct it", 2)
    raise Passing(str(reason) or type(reason).__name__)


def sleep_while_asked(asker, seconds):
    """Sleeps, and raises KeyboardInterrupt where the process `asker` is our parent no more: nobody waits for us."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.getppid() != asker:
            raise KeyboardInterrupt
        time.sleep(0.2)


def pause_before(tries, trouble):
    """Seconds until the next request, after `tries` that failed, the last one with `trouble`."""
    return max(min(30.0, 0.5 * 2 ** min(tries - 1, 10)) * random.uniform(0.75, 1.25), trouble.wait)


def retry_after(headers):
    """Seconds, or a date."""
    text = headers.get("Retry-After") or ""
    if text.isdigit():
        return int(text)
    date = email.utils.parsedate(text)
    return max(0, calendar.timegm(date) - time.time()) if date else 0


def main():
    order = json.load(sys.stdin)
    try:
        Download(order, os.environ).run()
        return 0
    except Failure as failure:
        say("error", message=str(failure), code=failure.code)
        return failure.code
    except OSError as error:
        where = error.filename or order["to"]
        say("error", message="%s: %s. Check the folder and its disk" % (where, error.strerror), code=3)
        return 3


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(130)  # nobody listens any more; what is there is kept
