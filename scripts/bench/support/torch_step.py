"""PyTorch's training step, measured as `trainer bench step` measures ours: one JSON object on stdout.

torchvision's model in channels_last, SGD with momentum and weight decay (fused), on one batch that stays in memory (no
loader) and without looking at the loss in the measured steps: PyTorch at its best. `compile` is torch.compile, on a GPU
in the mode of --compile-mode; max-autotune and reduce-overhead capture CUDA graphs. bf16 and fp16 are torch.autocast
over fp32 weights, fp16 with GradScaler.
"""

import argparse
import json
import resource
import time

import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=["cuda", "cpu"], required=True)
parser.add_argument("--model", default="resnet50")
parser.add_argument("--precision", choices=["fp32", "tf32", "bf16", "fp16"], default="fp32")
parser.add_argument("--mode", choices=["eager", "compile"], default="eager")
parser.add_argument("--compile-mode", choices=["max-autotune", "reduce-overhead", "default"], default="max-autotune")
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--image-size", type=int, default=224)
parser.add_argument("--threads", type=int, help="of the processor; default: PyTorch's own choice")
parser.add_argument("--warmup", type=int, default=1, help="steps before the measured ones, the first step included")
parser.add_argument("--steps", type=int, default=3)
options = parser.parse_args()

device, size = options.device, options.image_size
if options.threads is not None:
    torch.set_num_threads(options.threads)
torch.manual_seed(1)
if device == "cuda":
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = options.precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = options.precision != "fp32"
model = getattr(torchvision.models, options.model)().to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
scaler = torch.amp.GradScaler(device, enabled=options.precision == "fp16")
images = torch.randn(options.batch_size, 3, size, size, device=device).to(memory_format=torch.channels_last)
labels = torch.randint(1000, (options.batch_size,), device=device)
compiled = {"mode": options.compile_mode} if device == "cuda" else {}
network = torch.compile(model, **compiled) if options.mode == "compile" else model
stored = torch.float16 if options.precision == "fp16" else torch.bfloat16


def step():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device, stored, enabled=options.precision in ("bf16", "fp16")):
        loss = torch.nn.functional.cross_entropy(network(images), labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


step().item()
first_step_at = time.time()
for _ in range(options.warmup - 1):
    step()
wait()
start = time.perf_counter()
cpu = time.process_time()
for _ in range(options.steps):
    step()
wait()
seconds = time.perf_counter() - start
cpu = time.process_time() - cpu
print(
    json.dumps(
        {
            "images_per_sec": options.steps * options.batch_size / seconds,
            "step_ms": 1000 * seconds / options.steps,
            "images": "fixed",
            "cpu_ms": 1000 * cpu / options.steps,
            "first_step_at": first_step_at,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "version": torch.__version__,
        }
    )
)
