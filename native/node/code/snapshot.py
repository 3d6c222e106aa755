# A snapshot on its way to this node, and into the folder of a run.


class Code:
    """One snapshot on its way to this node, and on to others for as long as this process lives."""

    def __init__(self):
        self.store = None
        self.manifest = None
        self.ranges = []
        self.shared = Shared([], 0)
        self.whole = None  # the snapshot whose blobs this process has just put there

    def take(self, params):
        """The manifest, on standard input."""
        data = bytearray()
        read_exactly(params["bytes"], data.extend)
        self.store_of(params).keep(params["snapshot"], bytes(data))
        return self.look(params)

    def store_of(self, params):
        if self.store is None or self.store.workdir != expand(params["workdir"]):
            self.store = Store(params["workdir"])
        return self.store

    def look(self, params):
        self.store_of(params)
        self.whole = None
        with beats_of(params["workdir"]):
            self.manifest = self.store.manifest(params["snapshot"])
            if self.manifest is None:
                return {"state": "unknown", "lacks": []}
            self.ranges = self.store.lacks(self.manifest)
        self.shared = Shared(self.ranges, self.size_of(self.ranges))
        return {"state": "lacks" if self.ranges else "whole", "lacks": self.ranges}

    def size_of(self, ranges):
        return sum(size for first, last in ranges for _, size in self.manifest.blobs[first : last + 1])

    def blobs(self, params):
        """What `look` or `take` said is lacking, on standard input."""
        is_broken = True
        try:
            self.store.make()
            with beats_of(params["workdir"]):
                self.store.receive(self.manifest, self.ranges, ChannelStream(self.shared.size, self.shared))
            self.whole = params["snapshot"]
            is_broken = False
        finally:
            self.shared.end(is_broken)
        return {}

    def place(self, params):
        """The run's folder of code, where the snapshot is whole here."""
        run = run_folder(params)
        if is_placed(run, params["snapshot"]):
            return {"state": "placed", "lacks": [], "dir": run}
        found = {"state": "whole", "lacks": []} if self.whole == params["snapshot"] else self.look(params)
        if found["state"] == "whole":
            try:
                self.make_folder(run, params["snapshot"])
            except FileNotFoundError:  # a blob went meanwhile
                return dict(self.look(params), dir=run)
            found["state"] = "placed"
            tidy(self.store)
        return dict(found, dir=run)

    def make_folder(self, run, snapshot):
        make_run_folder(run)

        def done():
            put_link(self.store.snapshot(snapshot), os.path.join(run, "code.json"))

        make_once(os.path.join(run, "code"), "the code", lambda _: is_placed(run, snapshot), self.fill, done)

    def fill(self, folder):
        for name in self.manifest.folders:
            os.mkdir(os.path.join(folder, name), 0o700)
        start = folder + "/"
        for file in self.manifest.files:
            put_link(self.store.blob(blob_name(file)), start + file[0])
        for path, target in self.manifest.links:
            os.symlink(target, os.path.join(folder, path))

    def offer(self, params):
        """To every node that asks with the key, from now to the end of this process."""
        if self.manifest is None:
            self.manifest = self.store_of(params).manifest(params["snapshot"])
        if self.manifest is None:
            raise Refused("it no longer has the list of the code's files", "Send the code again", "direct")
        return offer_to_all(params, self.serve)

    def serve(self, asked, out):
        while True:
            request = message_of(asked)
            if "lacks" in request:
                self.send(request["lacks"], out)
                out.finish()
                return
            out.write(self.manifest.data)
            out.finish()

    def send(self, ranges, out):
        if ranges == self.shared.ranges and self.shared.size <= KEPT:
            return self.shared.follow(out)
        self.shared.until_over()
        for first, last in ranges:
            for name, _ in self.manifest.blobs[first : last + 1]:
                with open(self.store.blob(name), "rb") as file:
                    for part in iter(lambda: file.read(CHUNK), b""):
                        out.write(part)

    def fetch(self, params):
        """What is lacking here, from the node that offers it; then as `place`."""
        key = bytes.fromhex(params["key"])
        with beats_of(params["workdir"]):
            connection = reach(params["host"], params["port"])
            try:
                own = respond(connection, key)
                connection.settimeout(LONG)
                self.fetch_by(params, FrameWriter(connection, proof(own, b"asks")), FrameReader(connection, own))
            finally:
                connection.close()
        return self.place(params)

    def fetch_by(self, params, asks, reader):
        self.manifest = self.store_of(params).manifest(params["snapshot"])
        if self.manifest is None:
            asks.send(json.dumps({"manifest": True}).encode())
            self.store.keep(params["snapshot"], bytes(message_bytes(reader)))
            self.manifest = self.store.manifest(params["snapshot"])
        self.store.make()
        self.ranges = self.store.lacks(self.manifest)
        if self.ranges:
            asks.send(json.dumps({"lacks": self.ranges}).encode())
            self.store.receive(self.manifest, self.ranges, FrameStream(reader))
        self.whole = params["snapshot"]


def put_link(source, path):
    """A link; a copy where there can be none: on another disk, or when a file has as many as its file system allows."""
    try:
        try:
            os.link(source, path)
        except FileExistsError:
            os.unlink(path)
            os.link(source, path)
    except FileNotFoundError:
        raise
    except OSError:
        import shutil

        shutil.copy2(source, path)
