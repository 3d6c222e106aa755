# Who besides this user may change what is run or believed here: the rule of
# docs/contracts/nodes.md, Folders of one's own. native/agent/system/ownership.cpp holds the same rule for
# the agent.

MOST_LINKS = 40  # as the system's own limit


def overflow_uid():
    """The owner that a user namespace shows for everybody whom it does not map; -1 where all are
    mapped."""
    try:
        with open("/proc/self/uid_map") as file:
            mapped = sum(int(line.split()[2]) for line in file)
        with open("/proc/sys/kernel/overflowuid") as file:
            return -1 if mapped >= (1 << 32) - 1 else int(file.read())
    except (OSError, ValueError, IndexError):
        return -1


def is_private_group(gid):
    """Whether it is this user's group alone, of the user's own name, as most systems make one for
    everybody."""
    import grp
    import pwd

    try:
        group = grp.getgrgid(gid)
        user = pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return user.pw_gid == gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def user_name(uid):
    import pwd

    try:
        return "user %s" % pwd.getpwuid(uid).pw_name
    except KeyError:
        return "user %d" % uid


def stranger_at(path, info, is_last, trusted):
    """(what, hint), or None where nobody else may put files in the place of those in it."""
    if info.st_uid not in trusted:
        hint = "Name another folder, or remove this one if you did not expect it"
        return "%s belongs to %s, not to you" % (path, user_name(info.st_uid)), hint
    open_to = info.st_mode & 0o022
    if stat.S_ISLNK(info.st_mode) or open_to == 0 or (info.st_mode & stat.S_ISVTX and not is_last):
        return None
    if open_to == 0o020 and is_private_group(info.st_gid):
        return None
    who, letter = ("everybody", "o") if open_to & 0o002 else ("its group", "g")
    letters = "go" if open_to == 0o022 else letter
    hint = "Run: chmod %s-w %s, or name another folder" % (letters, path)
    if not is_last:
        hint = "Run: chmod +t %s (or have its owner do so), or name another folder" % path
    return "%s may be written by %s, who could put other files in the place of yours" % (path, who), hint


def find_stranger(path):
    """(what, hint) of the first folder or link on the way to `path`, itself included, that another
    user rules; or None."""
    trusted = {os.getuid(), 0, overflow_uid()}
    parts = [part for part in reversed(path.split(os.sep)) if part]
    at = "/"
    links = 0
    found = stranger_at(at, os.lstat(at), not parts, trusted)
    while parts and found is None:
        part = parts.pop()
        if part == "..":
            at = os.path.dirname(at)
            continue
        there = os.path.join(at, part)
        try:
            info = os.lstat(there)
        except FileNotFoundError:
            return None
        found = stranger_at(there, info, not parts, trusted)
        if not stat.S_ISLNK(info.st_mode):
            at = there
            continue
        links += 1
        if links > MOST_LINKS:
            raise Refused("%s leads through too many links" % path, "Name another folder")
        target = os.readlink(there)
        at = "/" if os.path.isabs(target) else at
        parts += [name for name in reversed(target.split(os.sep)) if name not in ("", ".")]
    return found or stranger_at(at, os.lstat(at), True, trusted)


def make_own(folder):
    """As `make_private`; Refused where another user could change what is in it."""
    found = find_stranger(folder)
    if not found:
        make_private(folder)
        found = find_stranger(folder)
    if found:
        raise Refused(*found)
