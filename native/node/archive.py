# A tar archive as it comes, front to back: POSIX's format with its extended headers, and GNU's long names. tarfile takes longer
# over the header of a small file than the system over its bytes, which it copies thrice; here they go straight to the file.

BLOCK = 512
RECORD = 20  # blocks, where nothing else is said
MOST_EXTENDED = 1 << 20
CUT_SHORT = "the connection ended in the middle of a file"
DAMAGED = "the archive came damaged"


def number(field):
    """Octal digits, or where these are too few, the number itself."""
    value = int.from_bytes(field[1:], "big") if field[0] & 0x80 else int(field.strip(b" \0") or b"0", 8)
    if value < 0:
        raise ValueError("a number below 0")
    return value


def text_of(field):
    return os.fsdecode(field.split(b"\0", 1)[0])


def records(data):
    """Of an extended header: `LENGTH KEY=VALUE` and a line break each; the length counts all of it."""
    while data:
        length = int(data.split(b" ", 1)[0])
        if length <= 0:
            raise ValueError("a record of no length")
        record, data = data[:length], data[length:]
        key, _, value = record.split(b" ", 1)[1][:-1].partition(b"=")
        yield key.decode(), value


class Member:
    def __init__(self, header):
        self.kind = header[156:157]
        self.size = number(header[124:136])
        self.mode = number(header[100:108]) & 0o777
        self.name = text_of(header[:100])
        if header[257:263] == b"ustar\0" and header[345]:
            self.name = text_of(header[345:500]) + "/" + self.name
        self.sparse = False

    def is_extended(self):
        return self.kind in (b"x", b"g", b"L", b"K")

    def is_folder(self):
        return self.kind == b"5"

    def is_file(self):
        return self.kind in (b"0", b"\0", b"7") and not self.sparse


def standard_input(buffer):
    return os.readv(0, [buffer])


class Archive:
    """As `source` gives it: a function that fills a buffer and returns how many bytes came, 0 at the end."""

    def __init__(self, source=standard_input, blocks=RECORD):
        self.source = source
        self.record = blocks * BLOCK
        self.chunk = bytearray(CHUNK)
        self.rest = memoryview(b"")
        self.filled = 0

    def fill(self):
        count = self.source(self.chunk)
        self.rest = memoryview(self.chunk)[:count]
        self.filled += count
        return count > 0

    def finish(self):
        """After the first of the two empty blocks that end an archive: the other, and what fills the last record. More is not the archive's."""
        taken = self.filled - len(self.rest)
        left = BLOCK + -(taken + BLOCK) % self.record
        while left > 0 and (self.rest or self.fill()):
            step = min(left, len(self.rest))
            self.rest = self.rest[step:]
            left -= step

    def some(self, most):
        if not self.rest and not self.fill():
            raise Refused(CUT_SHORT, "Try again")
        return self.rest[:most]

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            part = self.some(count - len(data))
            data += part
            self.rest = self.rest[len(part):]
        return bytes(data)

    def copy(self, member, output, digest=None):
        """The member's bytes to a file descriptor, and to `digest`."""
        left = member.size
        while left > 0:
            part = self.some(left)
            written = os.write(output, part)
            if digest:
                digest.update(part[:written])
            self.rest = self.rest[written:]
            left -= written
        self.read(-member.size % BLOCK)

    def header(self):
        """The next one, or None after the last."""
        header = self.read(BLOCK)
        if not any(header):
            self.finish()
            return None
        try:
            if sum(header) - sum(header[148:156]) + 8 * ord(" ") == number(header[148:156]):
                return Member(header)
        except ValueError:
            pass  # no number
        raise Refused(DAMAGED, "Try again")

    def __iter__(self):
        given = {}
        while True:
            member = self.header()
            if member is None:
                return
            if member.is_extended():
                self.extend(member, given)
                continue
            if "path" in given:
                member.name = text_of(given["path"])
            if "size" in given:
                member.size = given["size"]
            member.sparse = any(key.startswith("GNU.sparse") for key in given)
            given = {}
            yield member

    def extend(self, member, given):
        """What an extended header says of the member that follows."""
        if member.size > MOST_EXTENDED:
            raise Refused(DAMAGED, "Try again")
        data = self.read(member.size)
        self.read(-member.size % BLOCK)
        if member.kind == b"L":
            given["path"] = data
        elif member.kind == b"x":
            try:
                given.update(records(data))
                given.update((key, int(given[key])) for key in ("size",) if key in given)
            except (ValueError, IndexError):
                raise Refused(DAMAGED, "Try again")
