"""Trains in PyTorch by the trainer's recipe and flags, for scripts/bench/accuracy.mjs: one JSON object on stdout.

The same network, initialisation, optimizer, schedule and augmentation; another order of images and other random numbers.
Where the trainer and PyTorch have habits of their own (weight decay, a last short batch), the trainer's are followed.
Takes `trainer train`'s flags; one it does not know is an error, so that no recipe is compared with another by oversight.
"""
import argparse
import json
import math
import pathlib
import sys

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import models  # noqa: E402
import optimizers  # noqa: E402
import pixels  # noqa: E402


def flags():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--eval-data", type=pathlib.Path, required=True)
    parser.add_argument("--model", choices=["resnet20", "resnet56"], required=True)
    parser.add_argument("--image-size", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--optimizer", choices=["sgd"], required=True)
    parser.add_argument("--momentum", type=float, required=True)
    parser.add_argument("--weight-decay", type=float, required=True)
    parser.add_argument("--label-smoothing", type=float, required=True)
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--lr-schedule", choices=["cosine"], required=True)
    parser.add_argument("--warmup-epochs", type=float, required=True)
    parser.add_argument("--augment", choices=["standard"], required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


def load(folder, side):
    """All images with their shorter side resized to `side`, as [n, h, w, 3] bytes, and their labels."""
    images, labels = [], []
    for label, of_class in enumerate(sorted(path for path in folder.iterdir() if path.is_dir())):
        for file in sorted(of_class.iterdir()):
            image = Image.open(file)
            image.draft("RGB", (side, side))  # decoded smaller where it is much larger than that, as the trainer does
            image = image.convert("RGB")
            if image.width != image.height:
                sys.exit(f"{file} is not square. Give the drawn set of trainer prep --from demo:…")
            images.append(np.asarray(image.resize((side, side), Image.Resampling.BILINEAR)))
            labels.append(label)
    return np.stack(images), torch.tensor(labels)


def tensor(images):
    return torch.from_numpy(pixels.normalised(images, pixels.IMAGENET).transpose(0, 3, 1, 2).copy())


def augmented(images, size, random):
    """He et al. 2015, section 4.2, as native/trainer/data/pixels/augment.h says: a random crop, mirrored half of the time."""
    out = np.empty((len(images), size, size, 3), np.uint8)
    for i, image in enumerate(images):
        y, x = random.integers(0, image.shape[0] - size + 1, 2)
        crop = image[y : y + size, x : x + size]
        out[i] = crop[:, ::-1] if random.integers(2) else crop
    return out


def initialise(model):
    """As native/trainer/models does: He et al. 2015 (fan out) for convolutions, PyTorch's own for the last layer."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")


def rate(options, step, steps_per_epoch):
    """native/trainer/optim/schedule.h: warm-up from 0, then half a cosine to 0."""
    warmup = round(options.warmup_epochs * steps_per_epoch)
    if step < warmup:
        return options.lr * (step + 1) / warmup
    part = (step - warmup) / max(1, options.epochs * steps_per_epoch - warmup)
    return 0.5 * options.lr * (1 + math.cos(math.pi * part))


def main():
    options = flags()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    random = np.random.default_rng(options.seed)
    size = options.image_size
    images, labels = load(options.data, size + size // 8)
    others, wanted = load(options.eval_data, (size * 256 + 112) // 224)
    model = models.CifarResNet(3 if options.model == "resnet20" else 9, int(labels.max()) + 1)
    initialise(model)
    optimizer = optimizers.make("sgd", model.parameters(), options.lr, options.weight_decay)
    for group in optimizer.param_groups:
        group["momentum"] = options.momentum
    steps_per_epoch = len(images) // options.batch_size
    for epoch in range(options.epochs):
        order = random.permutation(len(images))[: steps_per_epoch * options.batch_size]
        for number, batch in enumerate(order.reshape(-1, options.batch_size)):
            for group in optimizer.param_groups:
                group["lr"] = rate(options, epoch * steps_per_epoch + number, steps_per_epoch)
            logits = model(tensor(augmented(images[batch], size, random)))
            loss = F.cross_entropy(logits, labels[batch], label_smoothing=options.label_smoothing)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    model.eval()
    low = (others.shape[1] - size) // 2
    right = 0
    with torch.no_grad():
        for begin in range(0, len(others), 256):
            part = others[begin : begin + 256, low : low + size, low : low + size]
            right += int((model(tensor(part)).argmax(1) == wanted[begin : begin + 256]).sum())
    print(json.dumps({"top1": right / len(others), "images": len(others), "version": torch.__version__}))


if __name__ == "__main__":
    main()
