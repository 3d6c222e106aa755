# Connections from this node, all of them over one channel, for sites whose sshd forbids forwarding.
# The client speaks in frames on stdin, and is answered in frames on stdout
# (docs/contracts/cluster.md).

OPEN, OPENED, DATA, END, CREDIT, CLOSED = range(1, 7)
WINDOW = 1 << 20  # bytes of a connection that may be under way in each direction
PIECE = 1 << 16
CONNECT_PATIENCE = 15  # seconds


def connected(place):
    import socket

    if "path" in place:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(place["path"])
        except OSError:
            connection.close()
            raise
        return connection
    connection = socket.create_connection((place["host"], place["port"]), timeout=CONNECT_PATIENCE)
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


class Carried:
    """One connection. A thread reads from it, another writes to it; `end_one` counts them out."""

    def __init__(self, send, forget):
        import queue
        import threading

        self.send = send  # of a kind and bytes
        self.forget = forget
        self.connection = None
        self.credit = WINDOW
        self.changed = threading.Condition()
        self.waiting = queue.Queue()  # at most WINDOW bytes: the client keeps to its credit
        self.gone = False
        self.ended = 0

    def run(self, place):
        import threading

        try:
            connection = connected(place)
        except OSError as error:
            self.say_closed(error)
            self.forget()
            return
        with self.changed:
            self.connection = connection
            if self.gone:  # the client left while it was connected
                connection.close()
                self.forget()
                return
        self.send(OPENED, b"")
        threading.Thread(target=self.write_all, daemon=True).start()
        self.read_all()

    def read_all(self):
        try:
            while True:
                with self.changed:
                    while self.credit == 0 and not self.gone:
                        self.changed.wait()
                    room = min(self.credit, PIECE)
                data = self.connection.recv(room) if not self.gone else b""
                if not data:
                    break
                with self.changed:
                    self.credit -= len(data)
                self.send(DATA, data)
            if not self.gone:
                self.send(END, b"")
        except OSError as error:
            self.fail(error)
        self.end_one()

    def write_all(self):
        import socket

        try:
            for data in iter(self.waiting.get, None):
                self.connection.sendall(data)
                self.send(CREDIT, len(data).to_bytes(4, "big"))
            self.connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            self.fail(error)
        self.end_one()

    def allow(self, count):
        with self.changed:
            self.credit += count
            self.changed.notify_all()

    def fail(self, error):
        if not self.gone:
            self.say_closed(error)
            self.close()

    def say_closed(self, error):
        import errno

        said = {"code": errno.errorcode.get(error.errno, ""), "text": error.strerror or str(error)}
        self.send(CLOSED, json.dumps(said).encode())

    def close(self):
        """Wakes both threads, which then end."""
        import socket

        with self.changed:
            self.gone = True
            self.changed.notify_all()
            connection = self.connection
        self.waiting.put(None)
        if connection is not None:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended by itself

    def end_one(self):
        with self.changed:
            self.ended += 1
            if self.ended < 2:
                return
        self.connection.close()
        self.forget()


def take_exactly(count):
    """This program ends with the channel."""
    data = b""
    while len(data) < count:
        part = os.read(0, count - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


def send_frame(kind, number, data):
    frame = bytes((kind,)) + number.to_bytes(4, "big") + len(data).to_bytes(4, "big") + data
    with SAYING:
        try:
            while frame:
                frame = frame[os.write(1, frame):]
        except OSError:
            os._exit(0)  # the client is gone


def open_one(carried, number, place):
    import threading

    one = Carried(lambda kind, data: send_frame(kind, number, data), lambda: carried.pop(number, None))
    carried[number] = one
    try:
        threading.Thread(target=one.run, args=(place,), daemon=True).start()
    except RuntimeError as error:  # the node allows no more threads
        carried.pop(number, None)
        said = {"code": "EAGAIN", "text": str(error)}
        send_frame(CLOSED, number, json.dumps(said).encode())


def forward(_params):
    """Never returns: the channel belongs to the connections from here on."""
    carried = {}
    while True:
        head = take_exactly(9)
        kind, number, length = head[0], int.from_bytes(head[1:5], "big"), int.from_bytes(head[5:], "big")
        data = take_exactly(length)
        one = carried.get(number)
        if kind == OPEN:
            open_one(carried, number, json.loads(data.decode()))
        elif one is None:
            pass  # it ended meanwhile
        elif kind == DATA:
            one.waiting.put(data)
        elif kind == END:
            one.waiting.put(None)
        elif kind == CREDIT:
            one.allow(int.from_bytes(data, "big"))
        elif kind == CLOSED:
            one.close()
