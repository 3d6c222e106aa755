# A folder of one node on others: read once where it lies, then from node to node in parts as they come, whole or not at all under its
# name, and only what a node lacks.

SAYING_EVERY = 1  # second


class Held:
    """What this node has of a tree, for nodes that get it from here. `names`: as they are here."""

    def __init__(self, root, names, tree):
        import threading

        self.root, self.names, self.tree = root, names, tree
        self.sums = [None] * len(names)
        self.skipped = set()  # changed at the source while they were sent
        self.under_way = None  # (number, descriptor, sums of the parts that are whole)
        self.waits = False  # for another node, which puts the files on the same disk
        self.is_over = False
        self.changed = threading.Condition()

    def tell(self, change):
        with self.changed:
            change()
            self.changed.notify_all()

    def chunks(self, wanted):
        changed = None
        for number, part in wanted:
            if number == changed:
                continue
            while True:
                chunk = self.chunk(number, part)
                yield chunk
                if chunk[0] != WAIT:
                    break
            changed = number if chunk[0] == CHANGED else None

    def place_of(self, number, part):
        """Its sum, and the descriptor of the file that is not whole yet or None; undefined while it is not there."""
        if self.sums[number] is not None:
            return self.sums[number][32 * part:32 * part + 32], None
        if self.under_way and self.under_way[0] == number and len(self.under_way[2]) >= 32 * part + 32:
            return bytes(self.under_way[2][32 * part:32 * part + 32]), self.under_way[1]
        return None

    def chunk(self, number, part):
        with self.changed:
            ready = lambda: self.is_over or self.waits or number in self.skipped or self.place_of(number, part)
            if not self.changed.wait_for(ready, BEAT):
                return WAIT, b"", b""
            if number in self.skipped:
                return CHANGED, b"", b""
            place = self.place_of(number, part)
            if place is None:
                raise Refused(CUT_SHORT, "Try again", "direct")
            total, descriptor = place
            # The file that is not whole yet may get its name, and another one take its place.
            descriptor = os.dup(descriptor) if descriptor is not None else os.open(os.path.join(self.root, self.names[number]), os.O_RDONLY | os.O_NOFOLLOW)
        try:
            return DATA, read_part(descriptor, self.tree.files[number][1], part), total
        finally:
            os.close(descriptor)


class Stage:
    """One folder on its way: what lies here first, what came, and both for other nodes for as long as this process lives."""

    def __init__(self):
        self.tree = self.giver = self.target = None
        self.outs = []  # what was given so far counts what it sent

    def list(self, params):
        """What is to be staged. `from` may be one file."""
        path = os.path.realpath(expand(params["from"]))
        with beats_of(path):
            single = not stat.S_ISDIR(os.stat(path).st_mode)
            listing = Listing(os.path.dirname(path) if single else path)
            if single:
                listing.add(os.path.basename(path), os.stat(path))
            else:
                listing.walk()
            self.tree = Tree(listing.data())
        names = [local_name(file[0]) for file in self.tree.files]
        self.giver = TreeSource(listing.root, names, self.tree)
        first = names[0] if names else "."
        return {
            "tree": self.tree.id,
            "isFolder": not single,
            "folder": listing.root,
            "files": len(names),
            "bytes": sum(file[1] for file in self.tree.files),
            "first": wire_name(first),
            "mark": mark_of(listing.root, first),
            "leftOut": [shown_name(wire_name(name)) for name in listing.left_out[:5]],
            "leftOutCount": len(listing.left_out),
        }

    def offer(self, params):
        return offer_to_all(params, self.serve)

    def serve(self, asked, out):
        self.outs.append(out)
        request = json.loads(bytes(message_bytes(asked)).decode())
        if request["tree"] != self.tree.id:
            raise Refused("it offers another folder", "Try again", "direct")
        if "ranges" in request:
            return self.send(request, out)
        for start in range(0, len(self.tree.data), CHUNK):
            out.write(self.tree.data[start:start + CHUNK])
        out.finish()

    def send(self, request, out):
        number, part = request["at"]
        wanted = self.wanted(request["ranges"], {number: part})
        for kind, data, total in self.giver.chunks(wanted):
            if kind == FAILED:
                data = len(data).to_bytes(4, "big") + data
            out.write(kind)
            for start in range(0, len(data), CHUNK):
                out.write(data[start:start + CHUNK])
            out.write(total)
            # Others wait for a part that is large, or that is all there is for now.
            if kind == WAIT or len(data) >= CHUNK:
                out.flush()
        out.finish()

    def wanted(self, ranges, starts):
        for first, last in ranges:
            for number in range(first, last + 1):
                for part in range(starts.get(number, 0), parts_of(self.tree.files[number][1])):
                    yield number, part

    def sent_so_far(self, _):
        return {"bytes": sum(out.sent for out in self.outs), "digest": self.giver.digest()}

    def plan(self, params):
        """What this node lacks, and whether there is room for it."""
        with beats_of(params["to"]):
            if self.tree is None or self.tree.id != params["tree"]:
                self.tree = self.fetch_tree(params)
            self.target = Target(self.tree, params)
            self.giver = self.target.held
            return dict(self.target.plan(), maker=identity())

    def fetch_tree(self, params):
        def take(asks, reader):
            put_message(asks, {"tree": params["tree"]})
            data = bytes(message_bytes(reader))
            if hash_of(data) != params["tree"]:
                raise Refused("the list of files arrived with another checksum", "Try again", "direct")
            return Tree(data, params.get("as"))

        return from_any(params, take)

    def get(self, params):
        return self.target.get(params)


def put_message(asks, value):
    data = json.dumps(value).encode()
    for start in range(0, len(data), CHUNK):
        asks.write(data[start:start + CHUNK])
    asks.finish()


def from_any(params, take):
    """Calls `take` with a conversation with the first of `from` that answers and goes on."""
    key = bytes.fromhex(params["key"])
    problem = Refused("no node offers the files", "Try again", "direct")
    for place in params["from"]:
        try:
            connection = reach(place["host"], place["port"])
            try:
                own = respond(connection, key)
                connection.settimeout(LONG)
                return take(FrameWriter(connection, proof(own, b"asks")), FrameReader(connection, own))
            finally:
                connection.close()
        except Refused as error:
            if error.remedy != "direct":
                raise
            problem = error
    raise problem


STAGE = Stage()
STAGE_OPERATIONS = {
    "list": STAGE.list,
    "offer": STAGE.offer,
    "plan": STAGE.plan,
    "get": STAGE.get,
    "sent": STAGE.sent_so_far,
    "address": from_address,
}
