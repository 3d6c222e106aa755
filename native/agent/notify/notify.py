"""Sends one message about a run: to a program of the user's, to an address, or both.

The supervisor starts it, detached: notify.py RUN_FOLDER, with the notice as JSON in
TRAINYARD_NOTICE. What to start and where to send stands in run.json (docs/contracts/notify.md).
Nothing that happens here reaches the run. What failed becomes a line in logs/notify.log, which is
standard error, and one in events.jsonl.
"""

import http.client
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

COMMAND_SECONDS = 30
ANSWER_SECONDS = 10
PAUSES = (1, 3, 9)  # seconds between the tries of a webhook
MOST_SECONDS = 60  # for everything: after that this process ends
MOST_ADDRESS = 8192  # bytes of the file that holds it
MOST_TEXT = 1500  # characters: Discord takes 2000
# Another try may help: too early, or too many requests.
WORTH_ANOTHER_TRY = {408, 425, 429}


class Failed(Exception):
    """What could not be told, and what to do."""


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def duration(seconds):
    """`8 s`, `4 min`, `3 h 10 min`, `2 d 3 h`, by the rules of src/core/base/duration.ts."""
    seconds = max(0, round(seconds))
    minutes = round(seconds / 60)
    hours = round(minutes / 60)
    if seconds < 60:
        return f"{seconds} s"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 9 * 60:
        return two_units(minutes // 60, "h", minutes % 60, "min")
    return f"{hours} h" if hours < 24 else two_units(hours // 24, "d", hours % 24, "h")


def two_units(large, of_large, small, of_small):
    return f"{large} {of_large}" + (f" {small} {of_small}" if small else "")


def sentence(notice, name, profile):
    """One line for people: `resnet20 on lab failed: rank 1 was killed by signal 9`."""
    kind = notice.get("kind")
    reason = notice.get("reason")
    because = f": {reason}" if reason else ""
    if kind == "finished":
        said = f"finished after {duration(notice.get('seconds', 0))}"
    elif kind in ("failed", "stopped"):
        said = kind + because
    elif kind == "restarting":
        left = notice.get("restarts_left", 0)
        said = f"is started again ({left} more {'restart' if left == 1 else 'restarts'} allowed){because}"
    elif kind == "stalled":
        said = f"stands still: nothing came for {duration(notice.get('seconds', 0))}"
    else:
        spent = f"{notice.get('cost', 0):.2f} of {notice.get('amount', 0):.2f} {notice.get('currency', '')}"
        stops = ", and stops after a checkpoint" if notice.get("stops") and notice.get("spent") else ""
        said = f"has spent {spent} of its budget{stops}"
    text = " ".join(f"{name} on {profile} {said}".split())
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def message_of(folder, run, notice):
    about = read_json(os.path.join(folder, "about.json")) or run.get("about") or {}
    identity = str(run.get("id") or os.path.basename(folder))
    profile = run.get("profile") or {}
    name = about.get("name") or identity
    message = {
        "run": identity,
        "name": str(name),
        "profile": str(profile.get("name", "")),
        "folder": folder,
        **notice,
    }
    message["text"] = sentence(notice, message["name"], message["profile"])
    return message


def run_command(argv, message, folder):
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRAINYARD_")}
    facts = {
        "KIND": message.get("kind"),
        "RUN": message["run"],
        "NAME": message["name"],
        "PROFILE": message["profile"],
        "FOLDER": folder,
        "STATUS": message.get("status"),
        "REASON": message.get("reason"),
        "EXIT_CODE": message.get("exit_code"),
        "GENERATION": message.get("generation"),
        "TEXT": message["text"],
    }
    for name, value in facts.items():
        env["TRAINYARD_" + name] = "" if value is None else str(value).replace("\0", "")
    words = [os.path.expanduser(argv[0]), *argv[1:]]
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=sys.stderr,
            stderr=sys.stderr,
            cwd=folder,
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Failed(f"{argv[0]} cannot be started: {why}. Correct `notify` of the profile") from error
    try:
        child.communicate((json.dumps(message) + "\n").encode(), timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired as error:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise Failed(f"{argv[0]} had not ended after {COMMAND_SECONDS} s, and was killed") from error
    if child.returncode != 0:
        how = f"exit code {child.returncode}" if child.returncode > 0 else f"signal {-child.returncode}"
        raise Failed(f"{argv[0]} ended with {how}. What it said is in logs/notify.log")


def address_in(path):
    """The first word of a file that nobody else can read: who knows the address can write there."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            state = os.fstat(file.fileno())
            if state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) & 0o077:
                raise Failed(f"others can read {path}, which has the address. Give it to you alone: chmod 600")
            lines = file.read(MOST_ADDRESS).split()
    except OSError as error:
        raise Failed(f"{path}, which has the address, cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Failed(f"{path} is no text. Write the address into it") from error
    if not lines or not lines[0].startswith(("https://", "http://")):
        raise Failed(f"{path} has no address. Its first word must begin with https://")
    return lines[0]


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """An address that leads elsewhere is said to be one, rather than given the message."""

    def redirect_request(self, *_):
        return None


def post(address, body):
    """Why it failed, and whether another try may fare better. The address is a secret: no text of
    an error that may quote it is kept."""
    headers = {"Content-Type": "application/json", "User-Agent": "trainyard"}
    try:
        request = urllib.request.Request(address, data=body, headers=headers, method="POST")
        opener = urllib.request.build_opener(NoRedirects)
        with opener.open(request, timeout=ANSWER_SECONDS):
            return None
    except urllib.error.HTTPError as error:
        error.close()
        return f"it answered {error.code}", error.code >= 500 or error.code in WORTH_ANOTHER_TRY
    except TimeoutError:
        return f"no answer within {ANSWER_SECONDS} s", True
    except urllib.error.URLError as error:
        reason = error.reason
        if isinstance(reason, TimeoutError):
            return f"no answer within {ANSWER_SECONDS} s", True
        if isinstance(reason, OSError) and reason.strerror:
            return reason.strerror, True
        return f"it was not reached ({type(reason).__name__})", True
    except (OSError, http.client.HTTPException) as error:
        invalid = isinstance(error, http.client.InvalidURL)
        return "the address is none" if invalid else f"no answer ({type(error).__name__})", not invalid
    except ValueError:
        return "the address is none", False


def escaped(text):
    """Slack and Teams would take a name such as <!channel> for a call to everybody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def send(path, message):
    address = address_in(path)
    body = {
        **message,
        "text": escaped(message["text"]),
        "content": message["text"],
        "allowed_mentions": {"parse": []},  # the same for Discord
    }
    data = json.dumps(body).encode()
    for tries, pause in enumerate((*PAUSES, None), start=1):
        failure = post(address, data)
        if failure is None:
            return
        why, again = failure
        if not again or pause is None:
            times = "" if tries == 1 else f", {tries} times"
            raise Failed(f"the address in {path}: {why}{times}. Correct the file, or try it with curl")
        time.sleep(pause)


def say_failed(folder, notice, what, reason):
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {notice.get('kind')}: {reason}", file=sys.stderr, flush=True)
    line = {
        "time": time.time(),
        "kind": "notify_failed",
        "generation": notice.get("generation", 1),
        "what": what,
        "of": str(notice.get("kind")),
        "reason": reason,
    }
    try:  # the file of a run that was deleted meanwhile is not made anew
        events = os.open(os.path.join(folder, "events.jsonl"), os.O_WRONLY | os.O_APPEND)
        try:
            os.write(events, (json.dumps(line) + "\n").encode())
        finally:
            os.close(events)
    except OSError as error:
        print(f"events.jsonl was not written: {error.strerror}", file=sys.stderr, flush=True)


def main():
    folder = sys.argv[1]
    notice = json.loads(os.environ["TRAINYARD_NOTICE"])
    run = read_json(os.path.join(folder, "run.json"))
    wish = run.get("notify") or {}
    message = message_of(folder, run, notice)
    ways = []
    if wish.get("command"):
        ways.append(("command", lambda: run_command(wish["command"], message, folder)))
    if wish.get("webhookFile"):
        ways.append(("webhook", lambda: send(wish["webhookFile"], message)))

    def go(what, way):
        try:
            way()
        except Failed as error:
            say_failed(folder, notice, what, str(error))
        except Exception as error:  # a defect of ours; its text may quote the address
            say_failed(folder, notice, what, f"it failed: {type(error).__name__}")

    threads = {what: threading.Thread(target=go, args=(what, way), daemon=True) for what, way in ways}
    for thread in threads.values():
        thread.start()
    deadline = time.monotonic() + MOST_SECONDS
    for what, thread in threads.items():
        thread.join(max(0, deadline - time.monotonic()))
        if thread.is_alive():
            say_failed(folder, notice, what, f"it had not ended after {MOST_SECONDS} s")
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
