"""Adds by mpi4py, from its own checkpoint where there is one."""
import os
import sys
import time

from mpi4py import MPI
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

checkpoint, steps = sys.argv[1], int(sys.argv[2])
world = MPI.COMM_WORLD
begin = 0
if world.rank == 0 and os.path.exists(checkpoint):
    with open(checkpoint) as file:
        begin = int(file.read())
begin = world.bcast(begin)
print(f"rank {world.rank} of {world.size} pid {os.getpid()} from {begin}", flush=True)
writer = EventFileWriter(os.path.join(os.environ["TRAINYARD_RUN_DIR"], "tb")) if world.rank == 0 else None
for step in range(begin + 1, steps + 1):
    started = time.monotonic()
    assert world.allreduce(world.rank) == world.size * (world.size - 1) // 2
    if writer:
        rate = world.size / (time.monotonic() - started)
        values = [Summary.Value(tag="loss/train", simple_value=1 / step)]
        values.append(Summary.Value(tag="speed/images_per_sec", simple_value=rate))
        writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
        writer.flush()
    if world.rank == 0:
        with open(checkpoint + ".new", "w") as file:
            file.write(str(step))
        os.replace(checkpoint + ".new", checkpoint)
    time.sleep(0.05)
if writer:
    writer.close()
print(f"done {steps}", flush=True)
