"""Records what PyTorch makes of one training step, for native/tests/models/oracle_test.cpp.

A development tool, not part of the product. Needs PyTorch 2.11, torchvision 0.26 and numpy:
    python scripts/oracle/make_reference.py [--out native/tests/fixtures/oracle]

For each model: logits and loss of one batch, and of every parameter its momentum (gradient plus weight decay) and its
value after one step of SGD (lr 0.1, momentum 0.9, weight decay 1e-4 on tensors of more than one dimension), batch norm's
running statistics, and logits in evaluation mode afterwards. Large models leave out what follows from the rest, and cases
with another optimizer keep the weights only. All in float64, as signed projections (formula.py), with the distance of
PyTorch's own float32 from it. optimizers.txt holds whole small tensors after some steps of each optimizer instead. One float32 run is a sample whose distance may be small by luck, so the
distance is the largest over eight float32 paths: 1 and 2 threads, NCHW and channels_last, with oneDNN and without.

Where a number before a ReLU lies nearer to zero than float32's errors reach, any run may land on the other side, and whole
gradients then differ by parts in a hundred, which would hide every other error. So each case has a salt for its images
that keeps all such numbers (and draws between the maxima of pooling) away from zero: the best of --search.

In bfloat16 and float16 no salt can do that, and PyTorch's own gradients lie far from float64. Those cases record the
distance of torch.autocast("cpu", torch.bfloat16 or torch.float16) over fp32 weights, the largest over 1 and 2 threads, NCHW
and channels_last. In float16 the loss is scaled before the backward pass, and the gradients are divided by the scale after it.
"""
import argparse
import contextlib
import dataclasses
import itertools
import pathlib
from collections.abc import Callable
from unittest import mock

import numpy as np
import torch
import torchvision
from torch.nn import functional as F

import formula
import models
import pixels
import optimizers

EVERYTHING = ("logits", "loss", "momentum", "weight", "statistic")
IN_HALVES = ("momentum", "weight", "statistic")


@dataclasses.dataclass
class Case:
    make: Callable
    size: int
    classes: int
    batch: int
    salt: int
    kinds: tuple = EVERYTHING
    projections: int = 64
    digits: int = 14
    autocast: torch.dtype | None = None
    scale: float = 1.0
    tile: int | None = None
    normal: tuple = pixels.IMAGENET
    optimizer: dict = dataclasses.field(default_factory=lambda: dict(kind="sgd", lr=0.1, weight_decay=1e-4))


def resnet18(size, classes):
    return torchvision.models.resnet18(num_classes=classes)


def resnet50(size, classes):
    return torchvision.models.resnet50(num_classes=classes)


def inception_v3(size, classes):
    return torchvision.models.inception_v3(num_classes=classes, aux_logits=True, init_weights=False, dropout=0.0)


# Adam divides by the size of a gradient: with its own epsilon, one near zero that changes its sign would turn a whole
# update round. The small tensors of optimizers.txt, whose gradients are exact, have it.
ADAM = dict(kind="adam", lr=0.01, weight_decay=1e-4, eps=1e-3)
LARS = dict(kind="lars", lr=2.0, weight_decay=1e-4)
CASES = {
    "resnet18": Case(resnet18, 64, 7, 4, 1588),
    "resnet20": Case(lambda size, classes: models.CifarResNet(3, classes), 32, 5, 4, 60),
    "mlp": Case(lambda size, classes: models.Mlp(size, classes), 16, 5, 8, 3912),
    "resnet18_adam": Case(resnet18, 64, 7, 4, 1588, ("weight",), 32, 11, ADAM),
    "resnet18_lars": Case(resnet18, 64, 7, 4, 1588, ("weight",), 32, 11, LARS),
    "resnet50": Case(resnet50, 40, 7, 2, 439, ("logits", "loss", "momentum", "statistic"), 32, 11),
    "resnet18_bf16": Case(resnet18, 64, 7, 8, 0, IN_HALVES, 32, 9, autocast=torch.bfloat16),
    "resnet50_bf16": Case(resnet50, 64, 7, 4, 0, IN_HALVES, 32, 9, autocast=torch.bfloat16),
    "resnet50_fp16": Case(resnet50, 64, 7, 4, 0, IN_HALVES, 32, 9, autocast=torch.float16, scale=64.0),
    "inception_v3": Case(inception_v3, 299, 7, 3, 37, EVERYTHING, 32, 11, tile=32, normal=pixels.HALVES),
    "inception_v3_bf16": Case(inception_v3, 299, 7, 2, 0, ("momentum", "statistic"), 32, 6, autocast=torch.bfloat16, tile=32, normal=pixels.HALVES),
}


def build(case, dtype):
    model = CASES[case].make(CASES[case].size, CASES[case].classes)
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(torch.from_numpy(formula.parameter(name, tuple(value.shape))))
    return model.to(dtype)


def batch_of(case, dtype, salt):
    """The inputs are float32 in every run: what is compared is the arithmetic behind them."""
    told = CASES[case]
    images = formula.images(told.batch, told.size, salt, told.tile)
    return torch.from_numpy(pixels.normalised(images, told.normal).transpose(0, 3, 1, 2).copy()).to(dtype)


def loss_of(outputs, labels):
    """With an auxiliary head, the main loss and 0.4 of the other, as PyTorch's tutorial on fine-tuning torchvision's
    models has it for inception_v3 (and slim's training script, whose weights torchvision's are)."""
    if isinstance(outputs, torchvision.models.InceptionOutputs):
        return F.cross_entropy(outputs.logits, labels) + 0.4 * F.cross_entropy(outputs.aux_logits, labels)
    return F.cross_entropy(outputs, labels)


@contextlib.contextmanager
def margins(found):
    """Appends to `found` the distance from a change of mind of every ReLU and max pool."""
    relu, max_pool = F.relu, F.max_pool2d

    def watched_relu(x, *args, **kwargs):
        found.append(float(x.abs().min()))
        return relu(x, *args, **kwargs)

    def watched_pool(x, kernel_size, stride, padding=0, *args, **kwargs):
        padded = F.pad(x, [padding] * 4, value=-1.0)
        windows = padded.unfold(2, kernel_size, stride).unfold(3, kernel_size, stride).flatten(4)
        best = windows.topk(2).values
        gap = best[..., 0] - best[..., 1]
        found.append(float(gap[best[..., 0] > 0].min()))
        return max_pool(x, kernel_size, stride, padding, *args, **kwargs)

    with mock.patch.object(F, "relu", watched_relu), mock.patch.object(F, "max_pool2d", watched_pool):
        yield


def search(case, count):
    model = build(case, torch.float64).train()
    best = (0.0, 0)
    for salt in range(count):
        found = []
        with torch.no_grad(), margins(found):
            model(batch_of(case, torch.float64, salt))
        best = max(best, (min(found), salt))
    print(f"{case}: salt {best[1]} keeps {best[0]:.1e} away")


def run(case, dtype, threads=1, channels_last=False, onednn=True, autocast=None):
    """One step, with autocast to a type of 16 bits if asked for. Returns {(kind, name): float64 array}."""
    scale = CASES[case].scale if autocast else 1.0
    torch.set_num_threads(threads)
    with torch.backends.mkldnn.flags(enabled=onednn):
        model = build(case, dtype)
        x = batch_of(case, dtype, CASES[case].salt)
        if channels_last:
            model = model.to(memory_format=torch.channels_last)
            x = x.to(memory_format=torch.channels_last)
        y = torch.from_numpy(formula.labels(CASES[case].batch, CASES[case].classes))
        optimizer = optimizers.make(parameters=model.parameters(), **CASES[case].optimizer)
        model.train()
        with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
            outputs = model(x)
            loss = loss_of(outputs, y)
        logits = outputs if isinstance(outputs, torch.Tensor) else outputs.logits
        (loss * scale).backward()
        for value in model.parameters():
            value.grad /= scale
        optimizer.step()
        results = {("logits", "training"): logits.detach(), ("loss", "training"): loss.detach().reshape(1)}
        for name, value in model.named_parameters():
            if "momentum_buffer" in optimizer.state[value]:
                results["momentum", name] = optimizer.state[value]["momentum_buffer"]
            results["weight", name] = value.detach()
        for name, value in model.named_buffers():
            if not name.endswith("num_batches_tracked"):
                results["statistic", name] = value
        model.eval()
        with torch.no_grad():
            results["logits", "evaluation"] = model(x)
        kept = CASES[case].kinds
        return {k: v.double().contiguous().numpy().ravel() for k, v in results.items() if k[0] in kept}


def record(case, path):
    told = CASES[case]
    exact = run(case, torch.float64)
    distances = dict.fromkeys(exact, 0.0)
    without = (True,) if told.autocast else (True, False)
    for threads, channels_last, onednn in itertools.product((1, 2), (False, True), without):
        single = run(case, torch.float32, threads, channels_last, onednn, told.autocast)
        for key, value in single.items():
            distances[key] = max(distances[key], float(np.linalg.norm(value - exact[key])))
    with path.open("w") as out:
        print(f"model {case} size {told.size} classes {told.classes} batch {told.batch} salt {told.salt} tile {told.tile or told.size} torch {torch.__version__}", file=out)
        for (kind, name), value in exact.items():
            numbers = value if kind in ("logits", "loss") else formula.projections(name, value, told.projections)
            fields = [kind, name, value.size, f"{np.linalg.norm(value):.9e}", f"{distances[kind, name]:.9e}"]
            print(*fields, *(f"{number:.{told.digits}e}" for number in numbers), file=out)
    print(f"{path}: {path.stat().st_size} bytes, {len(exact)} tensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    repository = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--out", type=pathlib.Path, default=repository / "native/tests/fixtures/oracle")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join([*CASES, 'optimizers'])} (default: all)")
    parser.add_argument("--search", type=int, metavar="COUNT", help="only look for the best of COUNT salts")
    arguments = parser.parse_args()
    if arguments.search:
        for case in arguments.cases or CASES:
            search(case, arguments.search)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.use_deterministic_algorithms(True)
    for case in arguments.cases or [*CASES, "optimizers"]:
        path = arguments.out / f"{case}.txt"
        optimizers.record(path) if case == "optimizers" else record(case, path)


if __name__ == "__main__":
    main()
