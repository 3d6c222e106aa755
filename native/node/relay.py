# Files from node to node, without keys or programs of SSH's: one node offers what it has received, on a port of the profile's range, to
# those who prove that they hold the key that the client gave to both. Every piece carries a HMAC-SHA256 (RFC 2104) under a key of that
# connection and its number; the bytes themselves are not encrypted, like those of the ranks.

GREETING = b"trainyard-offer-1\n"
PROOF = 32
PATIENCE = 20  # seconds without a byte
LONG = 120  # seconds that another node may take to get the files itself
# docs/contracts/cluster.md, Strangers at a port.
MOST_STRANGERS = 64
MOST_OF_ONE_ADDRESS = 16
HANDSHAKE = 5  # seconds, all of it
CROWD = 8  # strangers, from which on each new one is taken after a pause
PAUSE = 0.02  # seconds


def proof(key, *parts):
    import hmac

    code = hmac.new(key, digestmod="sha256")
    for part in parts:
        code.update(part)
    return code.digest()


def is_proof(given, key, *parts):
    import hmac

    return hmac.compare_digest(given, proof(key, *parts))


def receive_exactly(connection, view, until=None):
    """`until`: a time of time.monotonic; where it is left out only silence ends the waiting."""
    while view:
        if until is not None:
            connection.settimeout(max(0.001, until - now()))
        try:
            count = connection.recv_into(view)
        except OSError as error:
            raise Refused("the node that offers the files was lost: %s" % error, "Try again", "direct")
        if count == 0:
            raise Refused(CUT_SHORT, "Try again", "direct")
        view = view[count:]


def receive_bytes(connection, count, until=None):
    data = bytearray(count)
    receive_exactly(connection, memoryview(data), until)
    return bytes(data)


def now():
    import time

    return time.monotonic()


class FrameWriter:
    """Gathers what is written into pieces of up to CHUNK bytes; an empty piece says that all was sent."""

    def __init__(self, connection, key):
        self.connection = connection
        self.key = key
        self.number = 0
        self.held = []
        self.length = 0
        self.sent = 0  # bytes

    def write(self, data):
        if self.length + len(data) > CHUNK:
            self.flush()
        self.held.append(data)
        self.length += len(data)

    def flush(self):
        if self.length > 0:
            self.send(b"".join(self.held))
        self.held = []
        self.length = 0

    def finish(self):
        self.flush()
        self.send(b"")

    def send(self, data):
        tag = proof(self.key, self.number.to_bytes(8, "big"), data)
        self.sent += 4 + PROOF + len(data)
        self.connection.sendall(len(data).to_bytes(4, "big") + tag)
        self.connection.sendall(data)
        self.number += 1


class FrameReader:
    """A source of an Archive."""

    def __init__(self, connection, key):
        self.connection = connection
        self.key = key
        self.number = 0

    def __call__(self, buffer):
        head = receive_bytes(self.connection, 4 + PROOF)
        length = int.from_bytes(head[:4], "big")
        if length > len(buffer):
            raise Refused("the other node sent something else than was agreed", "Try again", "direct")
        piece = memoryview(buffer)[:length]
        receive_exactly(self.connection, piece)
        if not is_proof(head[4:], self.key, self.number.to_bytes(8, "big"), piece):
            raise Refused("what the other node sent was changed on its way", "Check the network between the nodes", "direct")
        self.number += 1
        return length


def challenge(connection, key):
    """The side that offers. Returns the connection's own key, or None when the other does not hold ours."""
    until = now() + HANDSHAKE
    ours = os.urandom(PROOF)
    connection.sendall(GREETING + ours)
    theirs = receive_bytes(connection, PROOF, until)
    if not is_proof(receive_bytes(connection, PROOF, until), key, b"fetch", ours, theirs):
        return None
    connection.settimeout(PATIENCE)
    connection.sendall(proof(key, b"offer", ours, theirs))
    return proof(key, b"frames", ours, theirs)


def respond(connection, key):
    """The side that fetches. Returns the connection's own key."""
    other = "another program answered on the port of the node that offers the files"
    until = now() + PATIENCE
    if receive_bytes(connection, len(GREETING), until) != GREETING:
        raise Refused(other, "Choose another portRange in the profile", "direct")
    theirs = receive_bytes(connection, PROOF, until)
    ours = os.urandom(PROOF)
    connection.sendall(ours + proof(key, b"fetch", theirs, ours))
    if not is_proof(receive_bytes(connection, PROOF, until), key, b"offer", theirs, ours):
        raise Refused(other, "Choose another portRange in the profile", "direct")
    connection.settimeout(PATIENCE)
    return proof(key, b"frames", theirs, ours)


def listen(address, first, last):
    """On the address by which the nodes reach this one, where it is its own; else, as behind a forwarded port, or for None, on all."""
    import errno
    import socket

    for host in (address, None):
        for port in range(first, last + 1):
            try:
                places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            except OSError:
                break  # a name that is not known here
            family, kind, protocol, _, place = places[0]
            listener = socket.socket(family, kind, protocol)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # past connections do not block a port
            try:
                listener.bind(place)
                listener.listen(64)
                return listener, port
            except OSError as error:
                listener.close()
                if error.errno == errno.EADDRNOTAVAIL:
                    break
    raise Refused("no port from %d to %d is free" % (first, last), "Choose another portRange in the profile", "direct")


def reach(host, port):
    import socket

    try:
        connection = socket.create_connection((host, port), timeout=5)
    except OSError as error:
        raise Refused("port %d of %s cannot be reached from here: %s" % (port, host, error), "Open it between the nodes", "direct")
    connection.settimeout(PATIENCE)
    return connection


class Strangers:
    """Connections of those who have not proved yet that they hold the key. Where too many wait, the
    oldest one goes."""

    def __init__(self):
        import threading

        self.lock = threading.Lock()
        self.waiting = []  # (connection, address), the oldest first

    def add(self, connection, address):
        with self.lock:
            same = [one for one in self.waiting if one[1] == address]
            if len(same) >= MOST_OF_ONE_ADDRESS:
                self.put_out(same[0])
            elif len(self.waiting) >= MOST_STRANGERS:
                self.put_out(self.waiting[0])
            self.waiting.append((connection, address))
            return len(self.waiting)

    def put_out(self, one):
        import socket

        self.waiting.remove(one)
        try:
            one[0].shutdown(socket.SHUT_RDWR)  # its thread meets the end, and closes it
        except OSError:
            pass  # it is gone already

    def remove(self, connection):
        with self.lock:
            self.waiting = [one for one in self.waiting if one[0] is not connection]


def accept_all(listener, handle):
    """Calls `handle` with every connection, for as long as this process lives, each on a thread of
    its own. The second argument is a function to call once the connection is no stranger's."""
    import threading
    import time

    strangers = Strangers()

    def accept():
        while True:
            try:
                connection, place = listener.accept()
            except OSError:
                time.sleep(0.1)  # it went before it was taken, or this process has no descriptor left
                continue
            if strangers.add(connection, place[0]) > CROWD:
                time.sleep(PAUSE)
            try:
                threading.Thread(target=serve, args=(connection,), daemon=True).start()
            except RuntimeError:  # the system gives no more threads
                strangers.remove(connection)
                connection.close()

    def serve(connection):
        try:
            connection.settimeout(HANDSHAKE)
            handle(connection, lambda: strangers.remove(connection))
        except (OSError, Refused):
            pass  # the other side says what it missed, and to whom it matters
        finally:
            strangers.remove(connection)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()


def offer_to_all(params, give):
    """The port at which `give` answers every node that has the key, from now to the end of this
    process. It gets what the node asks, as a
    source of frames, and where it writes its answers."""
    key = bytes.fromhex(params["key"])

    def handle(connection, is_known):
        own = challenge(connection, key)
        if own is not None:
            is_known()
            connection.settimeout(LONG)
            give(FrameReader(connection, proof(own, b"asks")), FrameWriter(connection, own))

    listener, port = listen(params["address"], params["firstPort"], params["lastPort"])
    accept_all(listener, handle)
    return {"port": port}
