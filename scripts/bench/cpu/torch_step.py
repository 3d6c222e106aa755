"""PyTorch's training step, measured as `trainer bench step` measures ours: one JSON object on stdout.

torchvision's model in channels_last, SGD with momentum and weight decay, on one batch that stays in memory (no loader,
which favours PyTorch). bf16 is torch.autocast over fp32 weights.
"""
import argparse
import json
import resource
import time

import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="resnet50")
parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
parser.add_argument("--mode", choices=["eager", "compile"], default="eager")
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--image-size", type=int, default=224)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--warmup", type=int, default=1)
parser.add_argument("--steps", type=int, default=3)
options = parser.parse_args()

torch.set_num_threads(options.threads)
torch.manual_seed(1)
model = getattr(torchvision.models, options.model)().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
size = options.image_size
images = torch.randn(options.batch_size, 3, size, size).to(memory_format=torch.channels_last)
labels = torch.randint(1000, (options.batch_size,))
network = torch.compile(model) if options.mode == "compile" else model


def step():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bf16"):
        loss = torch.nn.functional.cross_entropy(network(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


step()
first_step_at = time.time()
for _ in range(options.warmup - 1):
    step()
start = time.perf_counter()
cpu = time.process_time()
for _ in range(options.steps):
    step()
seconds = time.perf_counter() - start
cpu = time.process_time() - cpu
print(
    json.dumps(
        {
            "images_per_sec": options.steps * options.batch_size / seconds,
            "step_ms": 1000 * seconds / options.steps,
            "cpu_ms": 1000 * cpu / options.steps,
            "first_step_at": first_step_at,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "version": torch.__version__,
        }
    )
)
