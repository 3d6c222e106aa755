#!/usr/bin/env python3
"""Puts one file of `trainer prep` into a bucket of S3, or says whether an object is there.

A JSON object on stdin says what: url, and optionally file (what is put there; without one it is only asked), endpoint,
budget (seconds without success until it gives up) and timeout (seconds of silence until a connection counts as broken).
JSON lines on stdout say how it goes: note, and at the end done (`there`: whether the object is there) or error. Secrets
come from the environment and from files that only the user can read. Python 3.6 or newer, nothing else.

An object is there whole or not at all, and the server compares its SHA-256 (PutObject of the Amazon S3 API Reference).
"""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

from common import Again, Failure, Passing, say
from download import PASSING, pause_before, retry_after, sleep_while_asked, unreachable
from part import sha256_of
from places import Redirects, S3Place

MOST = 5 * 10**9  # bytes of an object that one request makes
FAR = 8 * 2**20  # bytes that no buffer on the way holds: a request that sent as many was getting somewhere
TRIES = 20


class Upload:
    def __init__(self, order, env):
        self.path = order.get("file")
        self.budget = float(order.get("budget", 300))
        self.timeout = float(order.get("timeout", 60))
        self.place = S3Place(order["url"], order.get("endpoint"), env)
        self.place.deed = "read" if self.path is None else "written"
        self.opener = urllib.request.build_opener(Redirects(self.place.follows))
        self.sum = None if self.path is None else sha256_of(self.path)
        self.asker = os.getppid()
        self.moved = time.monotonic()  # when bytes were last seen to be taken
        if self.path is not None and os.path.getsize(self.path) > MOST:
            raise Failure("%s has more than 5 GB, the most of an object" % self.path, "Raise --shards", 2)

    def run(self):
        """Whether the object is there now."""
        tries = 0
        while True:
            tries += 1
            try:
                return self.attempt()
            except Again:
                if tries >= TRIES:
                    raise Failure("%s changes all the time" % self.place.shown, "Try later")
            except Passing as trouble:
                self.wait(tries, trouble)

    def wait(self, tries, trouble):
        pause = pause_before(tries, trouble)
        left = self.moved + self.budget - time.monotonic()
        if pause > left or tries >= TRIES:
            what = "%s could not be %s for %d s: %s" % (
                self.place.shown, self.place.deed, round(self.budget - left), trouble)
            raise Failure(what, "Run the same once more, or raise --retry-seconds")
        say("note", text="%s: %s; trying again in %.1f s" % (self.place.shown, trouble, pause))
        sleep_while_asked(self.asker, pause)

    def attempt(self):
        headers = {"User-Agent": "trainyard"}
        if self.path is None:
            return self.send(self.place.request(headers, "HEAD"))
        headers.update({"Content-Length": str(os.path.getsize(self.path)), "Content-Type": "application/octet-stream"})
        with open(self.path, "rb") as body:
            try:
                return self.send(self.place.request(headers, "PUT", body, self.sum))
            finally:
                if body.tell() >= FAR:
                    self.moved = time.monotonic()

    def send(self, request):
        try:
            self.opener.open(request, timeout=self.timeout).close()
            return True
        except urllib.error.HTTPError as error:
            return self.refused(error)
        except urllib.error.URLError as error:
            unreachable(self.place, error.reason)
        except (OSError, http.client.HTTPException) as error:
            unreachable(self.place, error)

    def refused(self, error):
        """False for an object that is asked after and is not there."""
        if error.code == 404 and self.path is None:
            return False
        body = ""
        try:
            body = error.read(8192).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            pass  # only the reason is lost
        if error.code in PASSING or "<Code>RequestTimeout</Code>" in body:
            raise Passing("HTTP %d %s" % (error.code, error.reason), retry_after(error.headers))
        self.place.judge(error.code, error.headers, body)
        raise Failure("%s answers HTTP %d %s" % (self.place.shown, error.code, error.reason), "Check the address")


def main():
    order = json.load(sys.stdin)
    try:
        say("done", there=Upload(order, os.environ).run())
        return 0
    except Failure as failure:
        say("error", message=str(failure), code=failure.code)
        return failure.code
    except OSError as error:
        say("error", message="%s: %s. Check the disk" % (error.filename or order.get("file"), error.strerror), code=3)
        return 3


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(130)  # nobody listens any more
