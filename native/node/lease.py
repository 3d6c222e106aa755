# One maker at a time of a folder that several nodes may see on one disk. Locks of the system do not
# cross hosts on every network file system, and hang where their server does. So the lock is a file:
# `.NAME.maker` beside NAME appears by an exclusive create, which is atomic on network file systems
# too, and its maker writes another number into it every few seconds. The rules are in
# docs/contracts/nodes.md.

SILENCE = 30  # seconds without a new number, after which a maker on another host is taken for dead
FORGOTTEN = 24 * 3600  # seconds after which what another host left half made is nobody's


def identity():
    """HOST-PLACE-PID-START of this process. PLACE stands for boot and PID namespace: containers have their machine's boot in common."""
    import hashlib

    with open("/proc/sys/kernel/random/boot_id") as file:
        place = file.read() + os.readlink("/proc/self/ns/pid")
    host = "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in os.uname().nodename)
    short = hashlib.sha256(place.encode()).hexdigest()[:8]
    return "%s-%s-%d-%s" % (host[:64], short, os.getpid(), start_time(os.getpid()))


def start_time(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None


def is_dead(maker):
    """Whether this process, named as `identity` does, is known to be gone. Of another host's that cannot be known here."""
    parts = maker.rsplit("-", 3)
    if len(parts) != 4 or parts[:2] != identity().rsplit("-", 3)[:2] or not parts[2].isdigit():
        return False
    return start_time(int(parts[2])) != parts[3]


class Lease:
    """The right to make `target`. `what` it is, for those who wait."""

    def __init__(self, target, what):
        self.what = what
        self.path = os.path.join(os.path.dirname(target), ".%s.maker" % os.path.basename(target))
        self.own = identity()
        self.count = 0
        self.descriptor = None
        self.dead = None  # the maker whose place this one took
        self.lost = None  # the maker that took this one's place

    def hold(self, waiting=None, names=None):
        """Waits until nobody else makes it. `waiting` is called once, where it has to. `names`: what those who wait call a maker."""
        import time

        patience = Patience()
        seen = said = None
        since = time.monotonic()
        while not self.take():
            text = self.read(self.path)
            maker = (text or "").partition(" ")[0]
            if text != seen:
                seen = text
                since = time.monotonic()
            if text is not None and (is_dead(maker) or time.monotonic() - since > SILENCE):
                self.end(text, maker)
                continue
            if waiting:
                waiting()
                waiting = None
            if maker and maker != said:
                said = maker
                name = (names or {}).get(maker) or maker.rsplit("-", 3)[0]
                progress("waiting for %s to put %s there" % (name, self.what))
            patience.went_on()
            time.sleep(0.2)

    def take(self):
        try:
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            return False
        self.write()
        return True

    def write(self):
        self.count += 1
        os.pwrite(self.descriptor, ("%s %012d\n" % (self.own, self.count)).encode(), 0)
        os.fsync(self.descriptor)

    def read(self, path):
        """What it says, empty for one that was only just made, None where there is none."""
        try:
            with open(path, errors="replace") as file:
                return file.read(1000)
        except FileNotFoundError:
            return None

    def end(self, text, maker):
        """Takes a dead maker's file away, unless it has meanwhile become another's, or its maker has given a sign."""
        aside = self.path + "-" + self.own
        try:
            os.rename(self.path, aside)
        except FileNotFoundError:
            return
        try:
            if self.read(aside) == text:
                self.dead = maker
            else:
                os.link(aside, self.path)
        except OSError:
            pass  # a third one holds it: two may now make the same, and the second to end throws its own away
        finally:
            os.unlink(aside)

    def renew(self):
        """Every few seconds, on the disk itself: where that hangs, others learn it too."""
        self.write()
        maker = (self.read(self.path) or "").partition(" ")[0]
        if maker and maker != self.own:
            self.lost = maker

    def release(self):
        if self.lost is None and (self.read(self.path) or "").partition(" ")[0] == self.own:
            os.unlink(self.path)
        os.close(self.descriptor)


def make_once(target, what, is_whole, fill, done=None):
    """A folder that one of all nodes makes. `fill` is given another one beside it. True when it was made here. `done` ends it, for a
    folder that need not be on the disk before its name."""
    make_own(os.path.dirname(target))
    if is_whole(target):
        return False
    lease = Lease(target, what)
    lease.hold()
    try:
        with Beats(lease.renew):
            remove_dead_partials(target, lease.dead)
            if is_whole(target):
                return False
            make_whole(target, fill, is_whole, done)
            return True
    except OSError:
        if lease.lost is None:
            raise
        host = lease.lost.rsplit("-", 3)[0]
        raise Refused("%s puts %s there now, for this node gave no sign for %d s" % (host, what, SILENCE), "Try again")
    finally:
        lease.release()


def partial_of(target):
    return os.path.join(os.path.dirname(target), ".%s.partial-%s" % (os.path.basename(target), identity()))


def remove_dead_partials(target, dead=None):
    """What makers left half made that are known to be gone: of this host, `dead`, or those of more than a day ago."""
    import shutil
    import time

    prefix = ".%s.partial-" % os.path.basename(target)
    folder = os.path.dirname(target)
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if not name.startswith(prefix):
            continue
        path = os.path.join(folder, name)
        maker = name[len(prefix):]
        maker = maker[: -len("-old")] if maker.endswith("-old") else maker
        try:
            forgotten = time.time() - os.lstat(path).st_mtime > FORGOTTEN
        except FileNotFoundError:
            continue
        if maker == dead or forgotten or is_dead(maker):
            shutil.rmtree(path, ignore_errors=True)


def make_whole(target, fill, is_whole, done):
    """A folder that appears whole or not at all, on the disk too. Where the same was made meanwhile, that stays."""
    import shutil

    partial = partial_of(target)
    try:
        os.mkdir(partial, 0o700)
        fill(partial)
        if done is None:
            flush(partial)
        if os.path.lexists(target) and not is_whole(target):
            os.rename(target, partial + "-old")
        try:
            os.rename(partial, target)
        except OSError:
            if not is_whole(target):
                raise
        if done is None:
            flush_name(os.path.dirname(target))
        else:
            done()
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(partial + "-old", ignore_errors=True)


def flush(folder):
    """What is on the disk of this folder reaches it before the name does that says that all is whole."""
    import ctypes

    system = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if system.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), folder)
    finally:
        os.close(descriptor)


def flush_name(folder):
    """The names in it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
