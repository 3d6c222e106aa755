"""Images a second that torchvision's DataLoader with PIL makes of class folders on one core: the loader of its
references/classification (random resized crop, flip, normalise), in this process. For scripts/bench/input.mjs, which
says how many seconds on a line of standard input and reads a JSON object for each.

    python scripts/bench/support/input_torchvision.py FOLDER
    python scripts/bench/support/input_torchvision.py --make FOLDER COUNT   writes COUNT drawn 500x375 JPEGs as photographs weigh
"""
import json
import pathlib
import sys
import time

import numpy as np
import torch
from PIL import Image
from torchvision import datasets, transforms


def make(folder, count):
    """Smooth fields of colour with noise of several sizes: about 60 KB each at quality 90, chroma at half the size."""
    random = np.random.default_rng(1)
    for number in range(count):
        pixels = np.zeros((375, 500, 3))
        for cells, strength in ((3, 90), (8, 50), (25, 30), (80, 16), (250, 8)):
            small = random.normal(size=(cells, cells, 3)) * strength
            field = [Image.fromarray(small[..., c]).resize((500, 375), Image.Resampling.BICUBIC) for c in range(3)]
            pixels += np.stack([np.asarray(part) for part in field], -1)
        image = Image.fromarray(np.clip(pixels + 128, 0, 255).astype(np.uint8))
        target = pathlib.Path(folder) / f"class{number % 4}"
        target.mkdir(parents=True, exist_ok=True)
        image.save(target / f"{number}.jpg", quality=90)


def main():
    if sys.argv[1] == "--make":
        return make(sys.argv[2], int(sys.argv[3]))
    torch.set_num_threads(1)
    transform = transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    loader = torch.utils.data.DataLoader(datasets.ImageFolder(sys.argv[1], transform), batch_size=32, shuffle=True)
    for line in sys.stdin:
        images, start, cpu = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - start < float(line):
            for batch, _ in loader:
                images += len(batch)
                if time.perf_counter() - start >= float(line):
                    break
        print(json.dumps({"images": images, "images_per_sec": images / (time.perf_counter() - start),
                          "cpu_seconds": time.process_time() - cpu}), flush=True)


if __name__ == "__main__":
    main()
