# Signs of life while a request works for long. A client gives a node up that says nothing for 30 s
# (src/core/setup/bootstrap.ts), so a sign must mean something: that the disk which the request
# works on still answers.

BEAT = 5  # seconds between two signs


class Beats:
    """Looks at a disk every few seconds by `look`, and says a sign of life each time that this returns. To be used in `with`."""

    def __init__(self, look):
        import threading

        self.look = look
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with SAYING:  # no sign may follow the answer, also where the look hangs until then
            self.ended.set()

    def run(self):
        while not self.ended.wait(BEAT):
            try:
                self.look()
            except OSError:
                return  # the request meets it too, and says so
            with SAYING:
                if self.ended.is_set():
                    return
                try:
                    write_line({"beat": True})
                except OSError:
                    return  # the client is gone


def beats_of(path):
    """Of the disk that `path` is on, or will be."""
    folder = os.path.abspath(os.path.expanduser(path))

    def look():
        at = folder
        while not os.path.lexists(at):
            at = os.path.dirname(at)
        os.statvfs(at)

    return Beats(look)


class Patience:
    """A sign of life at most every few seconds, from a loop that has just gone on."""

    def __init__(self):
        import time

        self.now = time.monotonic
        self.last = self.now()

    def went_on(self):
        if self.now() - self.last >= BEAT:
            self.last = self.now()
            say({"beat": True})
