"""Repeats in PyTorch the steps that `proof steps` took and compares: torch_steps.py FOLDER MODEL cuda|cpu.

Prints one JSON object: for each quantity our distance from PyTorch in float64 and that of PyTorch in fp32 (TF32 off),
by norm. torchvision's definitions, SGD with momentum 0.9 and decay 1e-4 of weights, learning rate 0.01.
"""

import json
import pathlib
import sys

import numpy
import torch
import torchvision

MEAN = [0.485, 0.456, 0.406]  # torchvision's ImageClassification preset, as native/trainer/models/network.h
DEVIATION = [0.229, 0.224, 0.225]


def read_tensors(folder):
    """name, whether it decays, shape and place in the arena of each parameter."""
    tensors, offset = [], 0
    for line in (folder / "tensors.tsv").read_text().splitlines():
        name, decay, shape = line.split("\t")
        shape = [int(size) for size in shape.split(",")]
        size = int(numpy.prod(shape))
        tensors.append((name, decay == "1", shape, offset, size))
        offset += size
    return tensors


class Steps:
    def __init__(self, folder, model, device):
        self.folder, self.model, self.device = folder, model, device
        self.tensors = read_tensors(folder)
        self.before = numpy.fromfile(folder / "weights-before.f32", dtype=numpy.float32)
        self.losses = numpy.fromfile(folder / "losses.f64")
        self.labels = torch.from_numpy(numpy.fromfile(folder / "labels.i32", dtype=numpy.int32)).long().to(device)
        images = numpy.fromfile(folder / "images.u8", dtype=numpy.uint8)
        side = round((images.size / 3 / len(self.labels)) ** 0.5)
        self.images = torch.from_numpy(images.reshape(len(self.labels), side, side, 3)).to(device)
        self.classes = next(shape[0] for name, _, shape, _, _ in self.tensors if name == "fc.bias")

    def network(self, dtype):
        network = getattr(torchvision.models, self.model)(num_classes=self.classes)
        state = {name: torch.from_numpy(self.before[at : at + size].reshape(shape)) for name, _, shape, at, size in self.tensors}
        missing, unexpected = network.load_state_dict(state, strict=False)
        strange = [name for name in missing if "running_" not in name and "num_batches" not in name]
        if strange or unexpected:
            raise ValueError(f"the tensors are not torchvision's: {strange} {unexpected}")
        return network.to(self.device, dtype).to(memory_format=torch.channels_last)

    def pixels(self, dtype):
        scaled = self.images.to(dtype) / 255
        mean = torch.tensor(MEAN, dtype=dtype, device=self.device)
        deviation = torch.tensor(DEVIATION, dtype=dtype, device=self.device)
        return ((scaled - mean) / deviation).permute(0, 3, 1, 2)

    def arena(self, network, of):
        named = dict(network.named_parameters())
        return numpy.concatenate([of(named[name]).detach().double().cpu().numpy().ravel() for name, *_ in self.tensors])

    def run(self, dtype):
        """The first step's gradients, every step's loss, the weights after all: float64."""
        network = self.network(dtype).train()
        named = dict(network.named_parameters())
        groups = [{"params": [named[name] for name, decays, *_ in self.tensors if decays == kind], "weight_decay": 1e-4 * kind}
                  for kind in (True, False)]
        optimizer = torch.optim.SGD(groups, lr=0.01, momentum=0.9)
        pixels, losses, gradients = self.pixels(dtype), [], None
        for _ in self.losses:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(pixels), self.labels)
            loss.backward()
            if gradients is None:
                gradients = self.arena(network, lambda parameter: parameter.grad)
            losses.append(loss.item())
            optimizer.step()
        return gradients, numpy.array(losses), self.arena(network, lambda parameter: parameter)

    def ours(self):
        read = lambda name: numpy.fromfile(self.folder / name, dtype=numpy.float32).astype(numpy.float64)
        return read("gradients.f32"), self.losses, read("weights-after.f32")


def distance(got, want, scale):
    return float(numpy.linalg.norm(got - want) / numpy.linalg.norm(scale))


def main():
    folder, model, device = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    steps = Steps(folder, model, device)
    exact, theirs, ours = steps.run(torch.float64), steps.run(torch.float32), steps.ours()
    moved = exact[2] - steps.before
    scales = (exact[0], exact[1], moved)
    names = ("the first step's gradients", "losses of all steps", "weights after them, beside how far they moved")
    rows = [{"quantity": name, "ours": distance(mine, true, scale), "theirs": distance(their, true, scale)}
            for name, mine, their, true, scale in zip(names, ours, theirs, exact, scales)]
    print(json.dumps({"torch": torch.__version__, "steps": len(steps.losses), "rows": rows, "loss": list(exact[1])}))


if __name__ == "__main__":
    main()
