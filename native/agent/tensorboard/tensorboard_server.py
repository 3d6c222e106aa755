"""Serves TensorBoard on a private Unix socket, and ends when nobody has asked for a while.

TensorBoard itself listens on TCP only and knows no authentication, so on a shared machine anybody could read a run. A
socket in a folder of mode 0700 is reached by its owner alone. Prints one JSON line once it listens.
"""

import argparse
import errno
import json
import os
import signal
import socket
import socketserver
import stat
import sys
import threading
import time


class Refused(Exception):
    """Why it cannot serve: one line for people."""


class IdleClock:
    """When the last request was under way; thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._open = 0
        self._last = time.monotonic()

    def begin(self):
        with self._lock:
            self._open += 1

    def end(self):
        with self._lock:
            self._open -= 1
            self._last = time.monotonic()

    def idle_seconds(self):
        with self._lock:
            return 0.0 if self._open else time.monotonic() - self._last


def counted(application, clock):
    """The WSGI application, telling the clock of each request."""

    def answer(environ, start_response):
        clock.begin()
        try:
            return application(environ, start_response)
        finally:
            clock.end()

    return answer


def check_private_folder(path):
    """Makes the socket's folder, or refuses one that somebody else could enter."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise Refused(f"{path} is not a folder. Remove it")
    if found.st_uid != os.geteuid():
        raise Refused(f"{path} belongs to another user. Set XDG_RUNTIME_DIR to a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(f"{path} can be entered by others. Run: chmod 700 {path}")


def is_served(path):
    """Whether somebody accepts connections on the socket."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.settimeout(5)
    try:
        probe.connect(path)
        return True
    except socket.timeout:
        return True
    except OSError as error:
        if error.errno in (errno.ECONNREFUSED, errno.ENOENT):
            return False
        raise Refused(f"{path}: {error.strerror}. Remove it") from error
    finally:
        probe.close()


def listen(path):
    """A listening socket at the path; a stale one there is replaced."""
    if len(path.encode()) > 107:
        raise Refused(f"{path} is too long for a socket. Set XDG_RUNTIME_DIR to a shorter folder")
    check_private_folder(os.path.dirname(path))
    if is_served(path):
        raise Refused(f"somebody serves on {path} already. Use that one")
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refused(f"{path} is not a socket. Remove it")
        os.unlink(path)
    except FileNotFoundError:
        pass
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(64)
    return listener


def make_server_class(listener, clock):
    """A server for TensorBoard's `server_class`: werkzeug's handler over our listener, one thread a connection."""
    from tensorboard import program
    from werkzeug.serving import WSGIRequestHandler

    class Handler(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"  # a page of TensorBoard asks dozens of times
        timeout = 120  # of a connection kept open for nothing

        def address_string(self):
            return "unix"

        def log_request(self, code="-", size="-"):
            pass  # the log is for what goes wrong

    class UnixServer(socketserver.ThreadingMixIn, socketserver.BaseServer, program.TensorBoardServer):
        daemon_threads = True
        multithread = True
        multiprocess = False
        passthrough_errors = False
        ssl_context = None

        def __init__(self, wsgi_app, flags):
            del flags
            socketserver.BaseServer.__init__(self, listener.getsockname(), Handler)
            self.socket = listener
            self.app = counted(wsgi_app, clock)
            self.server_name, self.server_port = "localhost", 80
            self.host, self.port = "localhost", 80
            self._server_version = "TensorBoard"

        def fileno(self):
            return self.socket.fileno()

        def get_request(self):
            connection, _ = self.socket.accept()
            return connection, ("unix", 0)

        def shutdown_request(self, request):
            try:
                request.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the client hung up first
            request.close()

        def log(self, kind, message, *details):
            print(f"{kind}: {message % details if details else message}", file=sys.stderr, flush=True)

        def handle_error(self, request, client_address):
            kind = sys.exc_info()[0]
            if not issubclass(kind, (BrokenPipeError, ConnectionResetError, TimeoutError)):
                super().handle_error(request, client_address)

        def serve_forever(self):
            socketserver.BaseServer.serve_forever(self, poll_interval=0.5)

        def get_url(self):
            return "http://localhost/"

    return UnixServer


def end_when_idle(clock, seconds, path):
    """Waits for `seconds` without a request, then ends the process. 0: never."""
    while seconds > 0:
        time.sleep(min(1.0, seconds / 4))
        if clock.idle_seconds() >= seconds:
            print(f"no request for {seconds:g} s: ending", file=sys.stderr, flush=True)
            leave(path)


def leave(path):
    """Removes the socket and ends, whatever other threads do."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    sys.stderr.flush()
    os._exit(0)


def further_folder(run):
    """The further folder of event files that the run's record names, as the agent follows it; None
    where the record names none."""
    try:
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            record = json.load(file)
        named, start = record.get("logdir") or "", record.get("cwd") or run
        if not named or record.get("code"):
            return None  # below the run's folder, where its code lies, or none
        folder = os.path.realpath(os.path.join(os.path.expanduser(start), os.path.expanduser(named)))
    except (OSError, ValueError, AttributeError, TypeError):
        return None  # a folder without a readable record is served as it is
    return None if os.path.commonpath([folder, os.path.realpath(run)]) == os.path.realpath(run) else folder


def folders_to_show(run):
    """TensorBoard's flags. The runs below the further folder are shown as `logdir/...`."""
    further = further_folder(run)
    if further is None:
        return ["--logdir", run]
    if any(sign in run + further for sign in ",:"):
        print(f"tensorboard: note: {further} is not shown, since TensorBoard takes no comma or colon in a path", file=sys.stderr, flush=True)
        return ["--logdir", run]
    return ["--logdir_spec", f"{run},logdir:{further}"]


def serve(logdir, path, idle):
    """Serves until idle or ended by a signal."""
    try:
        from tensorboard import default, program, version
    except ImportError as error:
        raise Refused(f"TensorBoard is not installed beside {sys.executable} ({error}). Prepare this node's runtime again") from error

    clock = IdleClock()
    listener = listen(path)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: leave(path))
    try:
        board = program.TensorBoard(plugins=default.get_plugins(), server_class=make_server_class(listener, clock))
        # load_fast would start TensorBoard's data server, which listens on TCP for anybody on the machine.
        board.configure(argv=["tensorboard", *folders_to_show(logdir), "--load_fast", "false", "--reload_interval", "3"])
        board.launch()
    except Exception:
        os.unlink(path)
        raise
    ready = {"listening": path, "pid": os.getpid(), "logdir": logdir, "tensorboard": version.VERSION}
    print(json.dumps(ready), flush=True)
    end_when_idle(clock, idle, path)
    while True:
        signal.pause()


def main():
    parser = argparse.ArgumentParser(description="TensorBoard on a private Unix socket")
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--socket", required=True, help="a path in a folder that only you can enter")
    parser.add_argument("--idle", type=float, default=3600.0, help="seconds without a request after which it ends; 0: never")
    options = parser.parse_args()
    try:
        serve(os.path.abspath(options.logdir), os.path.abspath(options.socket), options.idle)
    except Refused as error:
        print(f"tensorboard: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
