# What a node lacks comes in one stream without names or sizes, since the manifest has both. The stream comes from the client or from
# another node, and goes on to other nodes.

KEPT = 128 << 20  # bytes of a stream that are kept for other nodes
PASSED_ON = 256 << 10  # bytes of a write to the next node; a read of the channel gives at most 32 KiB


class ChannelStream:
    """Bytes that the client sends, and a copy of them for other nodes."""

    def __init__(self, size, shared):
        self.left = size
        self.shared = shared
        self.chunk = memoryview(bytearray(CHUNK))
        self.rest = self.chunk[:0]

    def some(self, most):
        if not self.rest:
            count = os.readv(0, [self.chunk[: min(self.left, CHUNK)]])
            if count == 0:
                raise Refused(CUT_SHORT, "Try again")
            self.left -= count
            self.rest = self.chunk[:count]
            self.shared.add(self.rest)
        part = self.rest[:most]
        self.rest = self.rest[len(part):]
        return part


class FrameStream:
    """Bytes of another node."""

    def __init__(self, reader):
        self.reader = reader
        self.chunk = memoryview(bytearray(CHUNK))
        self.rest = self.chunk[:0]

    def some(self, most):
        if not self.rest:
            count = self.reader(self.chunk)
            if count == 0:
                raise Refused(CUT_SHORT, "Try again", "direct")
            self.rest = self.chunk[:count]
        part = self.rest[:most]
        self.rest = self.rest[len(part):]
        return part


class Shared:
    """What a node is being sent. Others that lack the same get it as it comes."""

    def __init__(self, ranges, size):
        import threading

        self.ranges = ranges
        self.size = size
        self.chunks = []
        self.waiting = 0  # bytes that nobody was told of
        self.left = size
        self.is_over = size == 0
        self.is_broken = False
        self.changed = threading.Condition()

    def add(self, chunk):
        if self.size > KEPT:
            return
        self.waiting += len(chunk)
        self.left -= len(chunk)
        with self.changed:
            self.chunks.append(bytes(chunk))
            if self.waiting >= PASSED_ON or self.left == 0:
                self.waiting = 0
                self.changed.notify_all()

    def end(self, is_broken):
        with self.changed:
            self.is_over = True
            self.is_broken = is_broken
            self.changed.notify_all()

    def until_over(self):
        with self.changed:
            self.changed.wait_for(lambda: self.is_over)
        if self.is_broken:
            raise Refused(CUT_SHORT, "Try again", "direct")

    def follow(self, out):
        sent = left = 0
        left = self.size
        while left > 0:
            with self.changed:
                self.changed.wait_for(lambda: len(self.chunks) > sent or self.is_broken)
                chunks = self.chunks[sent:]
            if not chunks:
                raise Refused(CUT_SHORT, "Try again", "direct")
            sent += len(chunks)
            for chunk in chunks:
                out.write(chunk)
                left -= len(chunk)
            out.flush()


def message_bytes(reader):
    data = bytearray()
    buffer = bytearray(CHUNK)
    while True:
        count = reader(buffer)
        if count == 0:
            return data
        data += buffer[:count]


def message_of(reader):
    buffer = bytearray(CHUNK)
    return json.loads(bytes(buffer[: reader(buffer)]).decode())
