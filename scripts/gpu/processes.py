"""Programs run under a time limit, and what a part of the proof can end with."""

import dataclasses
import os
import pathlib
import signal
import subprocess
import time


class Failed(Exception):
    """Something that did not hold, with what to show of it."""


class TimeLimit(Failed):
    """A program that was stopped at its time limit."""


class NotHere(Exception):
    """Something that cannot be shown on this machine, and why."""


class Limit:
    """What is left of a time limit, in seconds."""

    def __init__(self, seconds):
        self.seconds, self.ends = seconds, time.monotonic() + seconds

    def left(self):
        return max(0.0, self.ends - time.monotonic())


@dataclasses.dataclass
class Ended:
    """How a program ended. code: None where it was stopped at its time limit."""

    code: int | None
    out: str
    err: str


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all of them have ended


def rest_of(process):
    """What a killed process had printed. One that left its group, or that hangs in the GPU's driver, may hold its
    outputs open: then only what came until now."""
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired as late:
        return tuple(part.decode(errors="replace") if isinstance(part, bytes) else part or "" for part in (late.stdout, late.stderr))


def run(command, seconds, env=None):
    """Runs a command in a process group of its own, which is killed when `seconds` are over."""
    words = [str(word) for word in command]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               env=env, start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        kill_group(process)
        return Ended(None, *rest_of(process))
    except BaseException:
        kill_group(process)
        process.wait()
        raise
    return Ended(process.returncode, out, err)


def call(command, seconds=300, env=None, name=None):
    """What a command printed. Throws Failed with its complaint, and TimeLimit. name: what errors call it."""
    name = name or pathlib.Path(str(command[0])).name
    ended = run(command, seconds, env)
    text = (ended.out + ended.err).strip()[-4000:]
    if ended.code is None:
        raise TimeLimit(f"{name} was stopped after {seconds:.0f} s:\n{text}")
    if ended.code != 0:
        raise Failed(f"{name} ended with {ended.code}:\n{text}")
    return ended.out


def write_whole(path, text):
    """Whoever reads `path`, at any time, finds all of the old text or all of the new one."""
    beside = path.with_name(path.name + ".partial")
    beside.write_text(text)
    beside.replace(path)
