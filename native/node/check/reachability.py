# Whether every node reaches every other one, as the nodes of a run must. For the time of a check each
# node opens a port of the profile's range, and answers those who prove that they hold its key (the
# proof of an offer). Each node tries the ports of all others. A connection then carries more than
# fits one packet in both directions, since a network may lose large packets only.

FULL = bytes(20000)  # more than two jumbo frames
FULL_PATIENCE = 2  # seconds for these
CONNECT_PATIENCE = 2  # seconds, and that twice: one try may be lost on a busy node
HEARING_PATIENCE = 9  # seconds, all of it
STREAM_PATIENCE = 20  # seconds for one chunk of a stream: 256 KiB, so 0.1 Mbit/s
AT_ONCE = 16  # connections that one node makes


def ring(params):
    """Answers who holds the key, for as long as this process lives. On all interfaces."""
    key = bytes.fromhex(params["key"])
    seconds = params.get("streams")  # where rates are wanted: for so long each way
    listener, port = listen(None, params["firstPort"], params["lastPort"])

    def answer_one(connection, known):
        if challenge(connection, key) is None:
            return
        known()
        if seconds is not None:
            take_stream(connection)
            send_stream(connection, seconds)
            return
        connection.settimeout(FULL_PATIENCE)
        try:
            receive_exactly(connection, memoryview(bytearray(len(FULL))))
        except Refused:
            connection.sendall(b"l")  # lost; this is small
            return
        connection.sendall(b"r")  # a packet of its own: full-size ones may be lost
        connection.sendall(FULL)

    accept_all(listener, answer_one)
    # The third word is the address at which this connection came in.
    return {"port": port, "reachedAt": (os.environ.get("SSH_CONNECTION", "").split() + [None] * 3)[2]}


def exchange(connection, key):
    """What is wrong with the connection to the other side: None, a peer without the key, or full-size
    packets that are lost in one direction."""
    connection.settimeout(CONNECT_PATIENCE)
    until = now() + CONNECT_PATIENCE
    if receive_bytes(connection, len(GREETING), until) != GREETING:
        return "stranger"
    theirs = receive_bytes(connection, PROOF, until)
    ours = os.urandom(PROOF)
    connection.sendall(ours + proof(key, b"fetch", theirs, ours))
    if not is_proof(receive_bytes(connection, PROOF, until), key, b"offer", theirs, ours):
        return "stranger"
    connection.settimeout(FULL_PATIENCE)
    connection.sendall(FULL)
    try:
        if receive_bytes(connection, 1, now() + FULL_PATIENCE + 1) != b"r":
            return "full-there"
    except Refused:
        return "full-there"
    try:
        receive_exactly(connection, memoryview(bytearray(len(FULL))), now() + FULL_PATIENCE)
    except Refused:
        return "full-back"
    return None


def hear_one(peer, until):
    """{"problem"}: None where all is well; else what is wrong, with the text of the system's error."""
    import socket
    import time

    cut = None
    silent = 0
    while now() < until:
        try:
            connection = socket.create_connection((peer["host"], peer["port"]), timeout=min(CONNECT_PATIENCE, max(0.1, until - now())))
        except OSError as error:
            silent += 1
            if isinstance(error, socket.timeout) and silent < 2:
                continue
            return {"problem": "unreached", "said": error.strerror or str(error)}
        try:
            return {"problem": exchange(connection, bytes.fromhex(peer["key"])), "said": None}
        except (OSError, Refused) as error:
            cut = error  # the other side had too many strangers, or the network cut it: once more
            time.sleep(0.1)
        finally:
            connection.close()
    return {"problem": "cut", "said": None if cut is None else getattr(cut, "what", str(cut))}


def hear(params):
    """Tries the ports of all peers, `first` the first one, so that not all nodes begin with the same."""
    import threading

    peers = params["peers"]
    count = len(peers)
    order = [(params["first"] + step) % count for step in range(count)]
    found = [{"problem": "cut", "said": None} for _ in peers]
    lock = threading.Lock()
    until = now() + HEARING_PATIENCE

    def work():
        while True:
            with lock:
                if not order:
                    return
                at = order.pop(0)
            found[at] = hear_one(peers[at], until)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(AT_ONCE, count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.1, until + 1 - now()))
    return {"heard": list(found)}


def send_stream(connection, seconds):
    """Sends for so long; the other side tells by what it received how fast that was: bytes and seconds."""
    data = bytes(1 << 18)
    until = now() + seconds
    connection.settimeout(STREAM_PATIENCE)
    while now() < until:
        connection.sendall(b"\1" + data)
    connection.sendall(b"\0" + data)
    told = json.loads(receive_bytes(connection, 64).decode())
    return told["bytes"] / max(told["seconds"], 1e-6)


def take_stream(connection):
    """The first chunk starts the watch, since a connection is slow at first."""
    chunk = bytearray(1 + (1 << 18))
    connection.settimeout(STREAM_PATIENCE)
    taken = 0
    began = None
    more = True
    while more:
        receive_exactly(connection, memoryview(chunk))
        more = chunk[0] == 1
        if began is None:
            began = now()
        else:
            taken += len(chunk)
    told = {"bytes": taken, "seconds": now() - began}
    connection.sendall(json.dumps(told).encode().ljust(64))
    return taken / max(told["seconds"], 1e-6)


def stream(params):
    """Bytes a second to a peer and back, one after the other; or why there are none."""
    import socket

    try:
        with beats_of("/"), socket.create_connection((params["host"], params["port"]), timeout=CONNECT_PATIENCE) as connection:
            respond(connection, bytes.fromhex(params["key"]))
            there = send_stream(connection, params["seconds"])
            return {"there": there, "back": take_stream(connection), "problem": None}
    except (OSError, Refused) as error:
        return {"there": None, "back": None, "problem": getattr(error, "what", None) or str(error)}


CHECK_OPERATIONS = {"facts": facts, "clock": clock, "ring": ring, "hear": hear, "stream": stream, "read-rate": read_rate}
