"""An Ethernet switch in user space that hands each frame on after a delay.

python3 delay_switch.py MILLISECONDS TAP...

It makes the TAP devices, prints `ready` and switches until standard input ends. The devices may be
moved into network namespaces; they go when this process does.
"""

import collections
import errno
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000
LONGEST_FRAME = 65536
GROUP_BIT = 1  # of the first byte: a frame for several


def open_tap(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


class Switch:
    def __init__(self, taps, delay):
        self.taps = taps
        self.delay = delay
        self.ports = {}  # of an address
        self.waiting = collections.deque()  # all wait equally long, so the first is due first

    def take(self, tap):
        """All frames that are there."""
        while True:
            try:
                frame = os.read(tap, LONGEST_FRAME)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.EBADFD:
                    raise
                time.sleep(0.001)  # the device is down: not up yet, or its namespace goes
                return
            self.ports[frame[6:12]] = tap
            self.waiting.append((time.monotonic() + self.delay, tap, frame))

    def hand_on(self):
        """Those that are due. Returns the seconds until the next one is, None where there is none."""
        while self.waiting:
            due, source, frame = self.waiting[0]
            left = due - time.monotonic()
            if left > 0:
                return left
            self.waiting.popleft()
            known = None if frame[0] & GROUP_BIT else self.ports.get(frame[0:6])
            for tap in self.taps if known is None else [known]:
                if tap != source:
                    self.write(tap, frame)
        return None

    def write(self, tap, frame):
        try:
            os.write(tap, frame)
        except OSError as error:
            # A port that is down or full, where a real switch drops too: TCP sends the frame again.
            if error.errno not in (errno.EIO, errno.EAGAIN, errno.ENOBUFS):
                raise

    def run(self):
        while True:
            ready, _, _ = select.select([0, *self.taps], [], [], self.hand_on())
            if 0 in ready:
                return
            for tap in ready:
                self.take(tap)


def main():
    milliseconds, *names = sys.argv[1:]
    taps = [open_tap(name) for name in names]
    # Before the ranks, which take all cores: else the delay would be theirs.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    print("ready", flush=True)
    Switch(taps, float(milliseconds) / 1000).run()


if __name__ == "__main__":
    main()
