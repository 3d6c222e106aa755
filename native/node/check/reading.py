# How fast a node reads its data, from the disk and not from memory.

READ_BLOCK = 1 << 20  # bytes of one read
LISTED = 20000  # files of which some are read


def some_files(path):
    """Files below `path`, or `path` itself, or the shards that have its name; in a random order, which spreads them."""
    import random

    found = []
    if os.path.isfile(path):
        found = [path]
    elif os.path.isdir(path):
        for folder, _, names in os.walk(path):
            found += [os.path.join(folder, name) for name in names]
            if len(found) >= LISTED:
                break
    elif has_shards(path):
        folder, name = os.path.split(path)
        found = [os.path.join(folder, each) for each in os.listdir(folder) if each.startswith(name)]
    random.shuffle(found)
    return found


def forget_pages(file):
    """The system drops what it has of this file in memory, where it has no use for it."""
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_rate(params):
    """Bytes that were read in at most so many seconds, and the seconds that took. One reader, as a decoding thread reads."""
    import time

    path = os.path.abspath(os.path.expanduser(params["path"]))
    total = 0
    files = 0
    took = 0.0
    with beats_of(path):
        for each in some_files(path):
            with open(each, "rb", buffering=0) as file:
                forget_pages(file)
                started = time.monotonic()
                while took + time.monotonic() - started < params["seconds"]:
                    block = file.read(READ_BLOCK)
                    if not block:
                        break
                    total += len(block)
                took += time.monotonic() - started
            files += 1
            if took >= params["seconds"]:
                break
    return {"bytes": total, "files": files, "seconds": took}
