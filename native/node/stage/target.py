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
            "gone": len(self.gone_files()) + len(self.gone_links()),
        }

    def compare(self):
        self.record = Record(self.root) if self.keep else None
        self.lacks, strange = [], []
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
        if strange and not self.replace:
            more = " and %d more" % (len(strange) - 1) if len(strange) > 1 else ""
            hint = "Remove what is not from a stage, or name another folder"
            raise Refused("%s%s was there before, and not from a stage" % (self.path(shown_name(strange[0])), more), hint)

    def look_at_room(self):
        at = self.root
        while not os.path.isdir(at):
            at = os.path.dirname(at)
        disk = os.statvfs(at)
        unit = disk.f_frsize or 4096
        needed, names, largest = 0, 0, 0
        for number in self.lacks:
            size = -(-self.tree.files[number][1] // unit) * unit
            old = self.record.files.get(self.tree.files[number][0]) if self.record else None
            needed += size - (old.size if old else 0)
            largest = max(largest, size if old else 0)
            names += 0 if old else 1
        needed += largest  # the old file stays until the new one is whole
        names += sum(not os.path.isdir(self.path(local_name(name))) for name in self.tree.folders)
        room = disk.f_bavail * unit
        if needed > room:
            what = "%s needs %s, and its disk has %s free" % (self.root, size_text(needed), size_text(room))
        elif disk.f_files and names > disk.f_favail:
            what = "%s needs %d more files, and its disk has room for %d" % (self.root, names, disk.f_favail)
        else:
            return
        raise Refused(what, "Free some there, or name a folder on another disk")

    def get(self, params):
        with beats_of(self.root):
            make_private(self.root)
        lease = Lease(os.path.join(self.root, STAGE_NAME[1:]), "the data")
        lease.hold()
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
            self.remove_gone()
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
            raise Refused("%s was there before, and not from a stage" % path, "Remove it, or name another folder")
        folder = folders.open(os.path.dirname(local_name(name)))
        aside = STAGE_NAME + ".link"
        if os.path.lexists(self.path(aside)):
            os.unlink(self.path(aside))
        os.symlink(target_here, self.path(aside))
        os.rename(self.path(aside), os.path.basename(local_name(name)), dst_dir_fd=folder)
        if self.record:
            self.record.add_link(name, target)

    def gone_files(self):
        now = {file[0] for file in self.tree.files}
        return [name for name in (self.record.files if self.record else {}) if name not in now]

    def gone_links(self):
        now = {link[0] for link in self.tree.links}
        return [name for name in (self.record.links if self.record else {}) if name not in now]

    def remove_gone(self):
        """Of an earlier stage, where it is as that left it."""
        if not self.record:
            return
        taken = {file[0] for file in self.tree.files}
        for name in self.gone_files():
            entry = self.record.files.pop(name)
            self.remove(name, lambda path: entry.is_here(os.lstat(path)))
        for name in self.gone_links():
            target = local_name(self.record.links.pop(name))
            if name not in taken:
                self.remove(name, lambda path: os.path.islink(path) and os.readlink(path) == target)
        for name in sorted(self.record.folders - set(self.tree.folders), key=len, reverse=True):
            self.record.folders.discard(name)
            if self.is_below(name):
                try:
                    os.rmdir(self.path(local_name(name)))
                except OSError:
                    pass  # something of somebody else's is in it

    def remove(self, name, is_ours):
        path = self.path(local_name(name))
        if self.is_below(name) and is_ours(path):
            os.unlink(path)

    def is_below(self, name):
        """Whether it is there, and no link leads to it."""
        path = self.path(local_name(name))
        folder = os.path.dirname(os.path.join(os.path.realpath(self.root), local_name(name)))
        return os.path.lexists(path) and os.path.realpath(os.path.dirname(path)) == folder

    def say(self, count, done):
        if now() - self.said >= SAYING_EVERY:
            self.said = now()
            progress("%d %d" % (done, count))


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
        if file[:4] != self.record.partial or file[3] == 0 or not stat.S_ISREG(info.st_mode) or info.st_ctime < boot_time():
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
        if os.path.lexists(self.path):
            os.unlink(self.path)
        self.output = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
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
