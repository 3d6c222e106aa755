"""Records the pixels that torchvision's evaluation gives a network, for native/tests/data/torchvision_view_test.cpp.

A development tool, not part of the product. Needs Pillow 10 or newer (recorded with 13.0) and numpy:
    python scripts/oracle/torchvision_view.py [--out native/tests/fixtures/views]

Writes drawn images as JPEG and PNG of several kinds, and of each, beside it, what Resize and CenterCrop make of it, as
NAME@SIZE.png, or NAME@SIZE-RESIZE.png where the shorter side is another than the presets'. Both are Pillow's own
resize() and crop(), with sizes by torchvision 0.26's formulas (transforms/functional.py, _compute_resized_output_size and center_crop): PIL images never meet a tensor there.
"""
import argparse
import io
import pathlib

import numpy as np
from PIL import Image

# name, width, height, how it is saved, sizes of the network: SIZE, or (SIZE, RESIZE)
CASES = [
    ("photo.jpg", 640, 427, {"quality": 80, "subsampling": "4:2:0"}, (224, 64)),
    ("tall.jpg", 427, 640, {"quality": 75, "subsampling": "4:2:2"}, (96, (96, 101))),
    ("large.jpg", 901, 603, {"quality": 60, "subsampling": "4:2:0"}, (64,)),
    ("progressive.jpg", 333, 501, {"quality": 80, "progressive": True}, (75,)),
    ("full.jpg", 259, 256, {"quality": 85, "subsampling": "4:4:4"}, (96,)),
    ("grey.jpg", 350, 263, {"quality": 85}, (96,)),
    ("small.jpg", 41, 30, {"quality": 90}, (64,)),
    ("odd.png", 97, 61, {}, (32, 75, (32, 32))),
    ("same.png", 37, 37, {}, (32,)),
    ("thin.png", 5, 150, {}, (32,)),
]


def drawn(width, height, grey):
    """Waves of several directions and lengths, edges, and a little noise that is the same each time."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    channels = []
    for channel in range(3):
        wave = np.sin(0.031 * x + 0.017 * y * (channel + 1)) + np.cos(0.0008 * x * y / (channel + 1) + channel)
        wave += 0.8 * ((x // 37 + y // 23 + channel) % 3 == 0)
        channels.append(90 + 45 * wave)
    noise = np.random.default_rng(width * 10_000 + height).integers(-4, 5, (height, width, 1))
    pixels = np.clip(np.stack(channels, axis=2) + noise, 0, 255).astype(np.uint8)
    image = Image.fromarray(pixels)
    return image.convert("L") if grey else image


def resized_sides(width, height, side):
    short, long = (width, height) if width <= height else (height, width)
    other = int(side * long / short)
    return (side, other) if width <= height else (other, side)


def view(image, size, side):
    """Resize(side), CenterCrop(size)."""
    image = image.convert("RGB")
    image = image.resize(resized_sides(*image.size, side), Image.Resampling.BILINEAR)
    left = int(round((image.size[0] - size) / 2.0))
    top = int(round((image.size[1] - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default="native/tests/fixtures/views")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, width, height, how, sizes in CASES:
        file = io.BytesIO()
        drawn(width, height, name.startswith("grey")).save(file, "PNG" if name.endswith("png") else "JPEG", **how)
        (out / name).write_bytes(file.getvalue())
        for given in sizes:
            # The presets' ratio: 256 for 224, 342 for 299.
            size, side = given if isinstance(given, tuple) else (given, (given * 256 + 112) // 224)
            text = f"{size}-{side}" if isinstance(given, tuple) else f"{size}"
            view(Image.open(io.BytesIO(file.getvalue())), size, side).save(out / f"{name}@{text}.png", optimize=True)


if __name__ == "__main__":
    main()
