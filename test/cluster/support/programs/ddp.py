"""Trains by DistributedDataParallel over gloo, from its own checkpoint where there is one."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter

checkpoint, steps = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo")
torch.manual_seed(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
begin = [0]
if dist.get_rank() == 0 and os.path.exists(checkpoint):
    state = torch.load(checkpoint)
    begin = [state["step"]]
    model.module.load_state_dict(state["model"])
dist.broadcast_object_list(begin)
for parameter in model.parameters():
    dist.broadcast(parameter.data, 0)
print(f"rank {dist.get_rank()} of {dist.get_world_size()} pid {os.getpid()} from {begin[0]}", flush=True)
writer = SummaryWriter(os.path.join(os.environ["TRAINYARD_RUN_DIR"], "tb")) if dist.get_rank() == 0 else None
for step in range(begin[0] + 1, steps + 1):
    started = time.monotonic()
    optimizer.zero_grad()
    loss = model(torch.ones(8, 4) * (dist.get_rank() + 1)).square().mean()
    loss.backward()
    optimizer.step()
    if writer:
        writer.add_scalar("loss/train", loss.item(), step)
        writer.add_scalar("speed/images_per_sec", 8 * dist.get_world_size() / (time.monotonic() - started), step)
        torch.save({"step": step, "model": model.module.state_dict()}, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
    time.sleep(0.05)
if writer:
    writer.close()
print(f"done {steps}", flush=True)
dist.barrier()
dist.destroy_process_group()
