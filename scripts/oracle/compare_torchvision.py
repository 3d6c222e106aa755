"""Loads a checkpoint of the trainer into torchvision's model of the same name and compares logits on the same pixels.

A development tool, not part of the product. Needs PyTorch 2.11, torchvision 0.26, safetensors and Pillow:
    python scripts/oracle/compare_torchvision.py --trainer build/native/release/node/bin/trainer \\
        --checkpoint RUN/checkpoints/step-00000100 --images DATA/validation [--most 64]

The images (class folders of JPEG, the classes the checkpoint was trained on) are rewritten at the very size that the
trainer resizes to before it crops, without chroma subsampling, so that both sides see the same pixels. Exits 1 when a
logit differs by more than --tolerance, or, where logits are larger than 1, by more than that part of the largest.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision
from PIL import Image
from safetensors.torch import load_file

import models
import pixels


def build(name, size, classes):
    if name in ("resnet20", "resnet56"):
        return models.CifarResNet(3 if name == "resnet20" else 9, classes)
    if name == "mlp":
        return models.Mlp(size, classes)
    if name == "inception_v3":
        return torchvision.models.inception_v3(num_classes=classes, aux_logits=True, init_weights=False)
    return getattr(torchvision.models, name)(num_classes=classes)


def rewrite(source, target, class_names, side, most):
    """Copies up to `most` images a class as side x side JPEGs."""
    for class_name in class_names:
        files = sorted(p for p in (source / class_name).iterdir() if p.suffix.lower() in (".jpg", ".jpeg"))
        if not files:
            sys.exit(f"compare_torchvision: {source / class_name} has no JPEG. Give the folder the checkpoint was trained on.")
        (target / class_name).mkdir(parents=True)
        for file in files[:most]:
            image = Image.open(file).convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
            image.save(target / class_name / file.name, quality=95, subsampling=0)


def logits_of_trainer(trainer, checkpoint, images, out):
    command = [trainer, "predict", "--checkpoint", checkpoint, "--data", images, "--out", out, "--logits"]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    with open(out, newline="") as file:
        rows = list(csv.reader(file))
    first = next(i for i, title in enumerate(rows[0]) if title.startswith("logit_"))
    return [row[0] for row in rows[1:]], np.array([[float(v) for v in row[first:]] for row in rows[1:]])


def logits_of_torch(model, paths, size, normal):
    results = []
    for path in paths:
        image = Image.open(path).convert("RGB")
        left, top = (image.width - size) // 2, (image.height - size) // 2
        cropped = np.asarray(image.crop((left, top, left + size, top + size)))
        x = torch.from_numpy(pixels.normalised(cropped, normal).transpose(2, 0, 1).copy())[None]
        with torch.no_grad():
            results.append(model(x).numpy()[0])
    return np.array(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", type=pathlib.Path, required=True)
    parser.add_argument("--checkpoint", type=pathlib.Path, required=True)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--most", type=int, default=16, help="images of each class (default 16)")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    arguments = parser.parse_args()
    state = json.loads((arguments.checkpoint / "state.json").read_text())
    size = state.get("eval_image_size", state["image_size"])
    resize = state.get("eval_resize", (size * 256 + 112) // 224)
    model = build(state["model"], size, state["classes"]).eval()
    model.load_state_dict(load_file(arguments.checkpoint / "model.safetensors"), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # The trainer's evaluation: the shorter side resized, then the centre.
        rewrite(arguments.images, folder / "images", state["class_names"], resize, arguments.most)
        paths, ours = logits_of_trainer(arguments.trainer, arguments.checkpoint, folder / "images", folder / "logits.csv")
        normal = pixels.HALVES if state["model"] == "inception_v3" else pixels.IMAGENET
        theirs = logits_of_torch(model, paths, size, normal)
    difference = float(np.abs(ours - theirs).max())
    agree = int((ours.argmax(1) == theirs.argmax(1)).sum())
    print(f"{state['model']}: {len(paths)} images, logits up to {np.abs(theirs).max():.3g}, "
          f"largest difference {difference:.2e}, same best class on {agree}")
    return 0 if difference <= arguments.tolerance * max(1.0, float(np.abs(theirs).max())) else 1


if __name__ == "__main__":
    sys.exit(main())
