# What a node is made of, as a check compares it with the other nodes. Compiled at its first need.


def first_of(path):
    """The first line of a file, or None."""
    try:
        with open(path) as file:
            return file.readline().strip()
    except OSError:
        return None


def system_name():
    """As the distribution calls itself."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            with open(path) as file:
                for line in file:
                    key, _, value = line.strip().partition("=")
                    if key == "PRETTY_NAME":
                        return value.strip("\"'")
        except (OSError, ValueError):
            pass
    return None


def memory_bytes():
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemTotal:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def limits():
    """What a process may have, now and at most; None is no limit."""
    import resource

    def pair(which):
        return [None if value == resource.RLIM_INFINITY else value for value in resource.getrlimit(which)]

    return {
        "nofile": pair(resource.RLIMIT_NOFILE),
        "memlock": pair(resource.RLIMIT_MEMLOCK),
        "nproc": pair(resource.RLIMIT_NPROC),
        "fsize": pair(resource.RLIMIT_FSIZE),
    }


def place_of(path):
    """The nearest folder on the way to `path` that is there."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def room_in(path):
    """Bytes and inodes of the disk that `path` is on; None where the system does not say. A file system
    without inodes has no number of them."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return None
    inodes = {"total": disk.f_files, "free": disk.f_favail} if disk.f_files > 0 else None
    return {"total": disk.f_blocks * disk.f_frsize, "free": disk.f_bavail * disk.f_frsize, "inodes": inodes}


def mount_of(path):
    """The file system that `path` is on: its type, what is mounted, and where."""
    path = os.path.realpath(path)
    best = None
    try:
        with open("/proc/self/mounts") as file:
            for line in file:
                source, point, kind = [word.replace("\\040", " ") for word in line.split()[:3]]
                if path == point or point == "/" or path.startswith(point + "/"):
                    if best is None or len(point) >= len(best["point"]):
                        best = {"type": kind, "source": source, "point": point}
    except (OSError, ValueError):
        pass
    return best


def interface_with(address):
    """The network interface that has this IPv4 address."""
    import fcntl
    import socket
    import struct

    wanted = socket.inet_aton(address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for name in sorted(os.listdir("/sys/class/net")):
            try:
                found = fcntl.ioctl(asked.fileno(), 0x8915, struct.pack("256s", name.encode()[:15]))  # SIOCGIFADDR
            except OSError:
                continue
            if found[20:24] == wanted:
                return name
    # An interface may have several addresses. All of 127.0.0.0/8 are of one.
    return "lo" if wanted[:1] == b"\x7f" else None


def way_to(host):
    """By which interface and with which address the way to this host begins. Nothing is sent."""
    import socket

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            asked.connect((host, 9))
            address = asked.getsockname()[0]
    except OSError:
        return None
    name = interface_with(address)
    return None if name is None else {"name": name, "address": address}


def network(interface, peers):
    """The interface of the profile, or the one that leads to the first of `peers` that has a route."""
    found = None
    if interface is not None:
        if os.path.isdir("/sys/class/net/" + interface):
            found = {"name": interface, "address": None}
    else:
        found = next(filter(None, map(way_to, peers)), None)
    if found is not None:
        mtu = first_of("/sys/class/net/%s/mtu" % found["name"]) or ""
        found["mtu"] = int(mtu) if mtu.isdigit() else None
    return found


def facts(params):
    import platform

    workdir = place_of(expand(params["workdir"]))
    return {
        "os": system_name(),
        "kernel": platform.release(),
        "memory": memory_bytes(),
        "limits": limits(),
        "room": room_in(workdir),
        "shm": room_in("/dev/shm"),
        "mount": mount_of(workdir),
        "network": network(params["interface"], params["peers"]),
        "rdma": os.path.isdir("/sys/class/infiniband") and bool(os.listdir("/sys/class/infiniband")),
    }


def clock(_):
    """What time it is here."""
    import time

    return {"time": time.time()}
