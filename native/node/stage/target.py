# A tree as it comes to a folder of this node: what is lacking there, and the putting of it.


class Target:
    """`keep`: a record of what was put there stays in the folder, by which the next time sends what changed, and removes what is gone.
    Without it all is sent, over what is there."""

    def __init__(self, tree, params):
        self.tree = tree
        self.keep = params["keep"]
        self.replace = params["replace"]
        self.verify = params["verify"]
        self.first, self.source_mark = params["first"], params["mark"]
        self.root = expand(params["to"])
        self.names = [local_name(file[0]) for file in tree.files]
        self.held = Held(self.root, self.names, tree)
        self.record = None
        self.lacks = []
        self.old = {}  # by the number of a file that is lacking: what is in its place
        self.said = 0

    def path(self, name):
        return os.path.join(self.root, name)

    def plan(self):
        if mark_of(self.root, local_name(self.first)) == self.source_mark:
            # Both see the same disk.
            return {"state": "same", "files": 0, "bytes": 0, "gone": 0}
        self.compare()
        self.look_at_room()
        return {
            "state": "lacks" if self.lacks else "whole",
            "files": len(self.lacks),
            "bytes": sum(self.tree.files[number][1] for number in self.lacks),
            "gone": Gone(self.record, self.tree).count() if self.record else 0,
        }

    def compare(self):
        self.record = Record(self.root) if self.keep else None
        self.lacks, self.old, strange = [], {}, []
        self.held.sums = [None] * len(self.names)
        boot = boot_time()
        patience = Patience()
        for number, (file, name) in enumerate(zip(self.tree.files, self.names)):
            patience.went_on()
            entry = self.record.files.get(file[0]) if self.record else None
            try:
                info = os.lstat(self.path(name))
            except (FileNotFoundError, NotADirectoryError):
                self.lacks.append(number)
                continue
            if self.record and entry is None and file[0] not in self.record.links:
                strange.append(file[0])
            elif entry and entry.is_of(file) and entry.is_here(info):
                doubtful = self.verify or (not entry.durable and info.st_ctime < boot)
                if not doubtful or entry.has_sums(self.path(name)):
                    self.held.sums[number] = entry.sums
                    continue
            self.lacks.append(number)
            self.old[number] = info
        if strange and not self.replace:
            more = " and %d more" % (len(strange) - 1) if len(strange) > 1 else ""
            hint = "Remove what is not from a stage, or name another folder"
            what = "%s%s was there before, and not from a stage of yours" % (self.path(shown_name(strange[0])), more)
            raise Refused(what, hint)

    def look_at_room(self):
        at = self.root
        while not os.path.isdir(at):
            at = os.path.dirname(at)
        disk = os.statvfs(at)
        unit = disk.f_frsize or 4096
        room = disk.f_bavail * unit
        use = self.disk_use(unit)
        if use.most_bytes > room:
            what = "%s needs %s, and its disk has %s free" % (self.root, size_text(use.most_bytes), size_text(room))
        elif disk.f_files and use.most_names > disk.f_favail:
            what = "%s needs %d more files, and its disk has room for %d" % (self.root, use.most_names, disk.f_favail)
        else:
            return
        raise Refused(what, "Free some there, or name a folder on another disk")

    def disk_use(self, unit):
        """In the order in which files come and go."""
        use = DiskUse(unit)
        for info in self.leaving():
            use.free(info)
        for name in self.tree.folders:
            if not os.path.isdir(self.path(local_name(name))):
                use.take(0)
        for number in self.lacks:
            use.take(self.tree.files[number][1])
            if number in self.old:
                use.free(self.old[number])
        return use

    def leaving(self):
        """What is gone before the first file comes. A file that is not whole counts too: it is
        removed, or the parts that are there do not come again."""
        if not self.record:
            return []
        found = Gone(self.record, self.tree).infos()
        partial = self.path(STAGE_NAME + ".partial")
        return found + [os.lstat(partial)] if os.path.lexists(partial) else found

    def get(self, params):
        with beats_of(self.root):
            make_private(self.root)
        lease = Lease(os.path.join(self.root, STAGE_NAME[1:]), "the data")
        # Who has the lease may ask this node for what it waits for itself, and is to ask another one.
        lease.hold(lambda: self.held.tell(lambda: setattr(self.held, "waits", True)), params.get("makers"))
        self.held.tell(lambda: setattr(self.held, "waits", False))
        try:
            with Beats(lease.renew):
                if self.record and not self.record.is_as_seen():
                    self.compare()  # another node that sees this disk, or another client, put something there
                self.put(params)
        finally:
            self.held.tell(lambda: setattr(self.held, "is_over", True))
            lease.release()
        changed = [self.names[number] for number in sorted(self.held.skipped)]
        return {
            "changed": [shown_name(wire_name(name)) for name in changed[:5]],
            "changedCount": len(changed),
            "digest": sum_of(b"".join(self.held.sums)).hex() if None not in self.held.sums else None,
        }

    def put(self, params):
        wanted = len(self.lacks)
        if self.record:
            self.record.open()
        with Folders(self.root) as folders:
            if self.record:
                Gone(self.record, self.tree).remove()
            for name in self.tree.folders:
                self.make_folder(folders, name)
            if self.lacks:
                self.receive(folders, params)
            for name, target in self.tree.links:
                self.put_link(folders, name, target)
        if not self.record:
            return
        self.record.close()
        if os.path.lexists(self.path(STAGE_NAME + ".partial")):
            os.unlink(self.path(STAGE_NAME + ".partial"))  # of a stage that was ended, of what is no more wanted
        if wanted == 0:
            flush(self.root)  # most of it is on the disk long since
            for entry in self.record.files.values():
                entry.durable = True
        self.record.save(wanted == 0)

    def receive(self, folders, params):
        receiver = Receiver(self, folders)

        def take(asks, reader):
            left = [number for number in self.lacks if self.held.sums[number] is None and number not in self.held.skipped]
            if left:
                put_message(asks, {"tree": self.tree.id, "ranges": ranges_of(left), "at": receiver.start(left)})
                receiver.take_all(left, FrameStream(reader))

        try:
            from_any(params, take)
        finally:
            receiver.close()

    def make_folder(self, folders, name):
        is_new = not os.path.isdir(self.path(local_name(name)))
        folders.open(local_name(name))
        if is_new and self.record:
            self.record.add_folder(name)

    def put_link(self, folders, name, target):
        path, target_here = self.path(local_name(name)), local_name(target)
        if os.path.islink(path) and os.readlink(path) == target_here:
            return
        if os.path.lexists(path) and self.record and name not in self.record.links and name not in self.record.files:
            what = "%s was there before, and not from a stage of yours" % path
            raise Refused(what, "Remove it, or name another folder")
        folder = folders.open(os.path.dirname(local_name(name)))
        aside = STAGE_NAME + ".link"
        if os.path.lexists(self.path(aside)):
            os.unlink(self.path(aside))
        os.symlink(target_here, self.path(aside))
        os.rename(self.path(aside), os.path.basename(local_name(name)), dst_dir_fd=folder)
        if self.record:
            self.record.add_link(name, target)

    def say(self, count, done):
        if now() - self.said >= SAYING_EVERY:
            self.said = now()
            progress("%d %d" % (done, count))


class DiskUse:
    """The most that a disk holds beyond what it holds now, while files come and go."""

    def __init__(self, unit):
        self.unit = unit
        self.bytes = self.names = self.most_bytes = self.most_names = 0

    def whole(self, size):
        return -(-size // self.unit) * self.unit

    def take(self, size):
        self.bytes += self.whole(size)
        self.names += 1
        self.most_bytes = max(self.most_bytes, self.bytes)
        self.most_names = max(self.most_names, self.names)

    def free(self, info):
        """A file that has another name stays on the disk. One with holes takes less than its
        size."""
        if info.st_nlink == 1 and not stat.S_ISDIR(info.st_mode):
            self.bytes -= min(self.whole(info.st_size), info.st_blocks * 512)
            self.names -= 1


class Receiver:
    """Writes files one after the other: into one file of the folder's top, which then gets its name and place."""

    def __init__(self, target, folders):
        self.target, self.folders = target, folders
        self.held, self.record = target.held, target.record
        self.path = os.path.join(target.root, STAGE_NAME + ".partial" if target.keep else ".trainyard.partial-" + os.urandom(8).hex())
        self.buffer = memoryview(bytearray(PART))
        self.small = memoryview(bytearray(32))
        self.sums = bytearray()
        self.output = None
        self.at = None  # the number of the file that is under way
        self.count = self.done = 0

    def start(self, left):
        """Where the giver begins: the number of a file, and its first part that is not here."""
        if self.at is None and self.record and self.record.partial:
            self.take_up(left)
        return [self.at, len(self.sums) // 32] if self.at is not None else [left[0], 0]

    def take_up(self, left):
        """What an earlier stage had of a file as it was ended. Each part was compared before it was written."""
        try:
            info = os.lstat(self.path)
        except FileNotFoundError:
            return
        number = left[0]
        file = self.target.tree.files[number]
        if file[:4] != self.record.partial or file[3] == 0 or info.st_ctime < boot_time():
            return
        if not is_own(info, self.target.root):
            return
        self.output = os.open(self.path, os.O_RDWR | os.O_NOFOLLOW)
        size = file[1]
        whole = min(info.st_size // PART, parts_of(size) - 1)
        os.ftruncate(self.output, whole * PART)
        self.sums = bytearray()
        for part in range(whole):
            self.sums += sum_of(read_part(self.output, size, part))
        os.lseek(self.output, whole * PART, os.SEEK_SET)
        self.at = number
        self.done += whole * PART

    def take_all(self, left, stream):
        for number in left:
            self.take_file(number, stream)
            self.count += 1
            self.target.say(self.count, self.done)

    def take_file(self, number, stream):
        size = self.target.tree.files[number][1]
        if self.at != number:
            self.begin(number)
        self.show()
        part = len(self.sums) // 32
        while part < parts_of(size):
            kind = bytes(stream_bytes(stream, self.small[:1]))
            if kind == WAIT:
                continue
            if kind == CHANGED:
                return self.skip(number)
            if kind == FAILED:
                raise Refused(self.failure(stream), "Make it readable there, or leave it out")
            data = stream_bytes(stream, self.buffer[:part_bytes(size, part)])
            total = sum_of(data)
            if bytes(stream_bytes(stream, self.small)) != total:
                raise Refused("what the other node sent is not what it was given", "Look at that node and its disk", "direct")
            put_all(self.output, data)
            self.done += len(data)
            part += 1
            self.held.tell(lambda: self.sums.extend(total))
            if part < parts_of(size):
                self.target.say(self.count, self.done)
        self.end(number)

    def failure(self, stream):
        length = int.from_bytes(bytes(stream_bytes(stream, self.buffer[:4])), "big")
        return "%s (where the data comes from)" % bytes(stream_bytes(stream, self.buffer[:min(length, 4096)])).decode("utf-8", "replace")

    def begin(self, number):
        self.drop()
        self.output = create(self.path)
        self.at = number
        self.sums = bytearray()
        file = self.target.tree.files[number]
        if self.record and parts_of(file[1]) > 1:
            self.record.begin(file)

    def show(self):
        self.held.tell(lambda: setattr(self.held, "under_way", (self.at, self.output, self.sums)))

    def skip(self, number):
        self.drop()
        os.unlink(self.path)
        self.held.tell(lambda: self.held.skipped.add(number))

    def end(self, number):
        name, size, modified, changed, mode = self.target.tree.files[number]
        path = self.target.names[number]
        os.fchmod(self.output, mode)
        os.utime(self.output, ns=(modified, modified))
        sums = bytes(self.sums)
        if self.record:
            here = os.fstat(self.output).st_mtime_ns
            self.record.add_file(name, Entry(size, modified, changed, here, sums, False))
        folder = self.folders.open(os.path.dirname(path))
        try:
            os.rename(self.path, os.path.basename(path), dst_dir_fd=folder)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.target.path(path))

        def change():
            self.held.sums[number] = sums
            self.held.under_way = None

        self.held.tell(change)
        os.close(self.output)
        self.output = self.at = None

    def drop(self):
        """Nobody reads it any more."""
        if self.output is not None:
            self.held.tell(lambda: setattr(self.held, "under_way", None))
            os.close(self.output)
        self.output = self.at = None

    def close(self):
        is_kept = self.record and self.at is not None and len(self.sums) > 0
        self.drop()
        if not is_kept and os.path.lexists(self.path):
            os.unlink(self.path)


def stream_bytes(stream, view):
    """All of `view`, filled."""
    filled = 0
    while filled < len(view):
        part = stream.some(len(view) - filled)
        view[filled:filled + len(part)] = part
        filled += len(part)
    return view


def ranges_of(numbers):
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def size_text(size):
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return "%.1f %s" % (size / unit, name)
    return "%d bytes" % size
