"""Records what torchvision's TrivialAugmentWide makes of images.

native/tests/data/trivial_augment_test.cpp reads them.

A development tool, not part of the product. Needs Pillow 10 or newer (recorded with 13.0):
    python scripts/oracle/trivial_augment.py [--fixtures native/tests/fixtures]

Reads two pictures of views/. Writes pixel_ops/cases.txt, a line "OPERATION MAGNITUDE" each. For
each picture it writes a PNG of the same name: the results of all cases, one below the other. The
operations are Pillow's own. They are called as torchvision 0.26 calls them for PIL images
(transforms/autoaugment.py, _apply_op, with interpolation BILINEAR).
"""
import argparse
import math
import pathlib

from PIL import Image, ImageEnhance, ImageOps

SOURCES = ("photo.jpg@64.png", "odd.png@75.png")
CASES = [
    *(("shear_x", m) for m in (0.033, 0.495, 0.99, -0.66)),
    *(("shear_y", m) for m in (0.033, 0.99, -0.363)),
    *(("translate_x", m) for m in (1, 32, -17)),
    *(("translate_y", m) for m in (0, 9, -32)),
    *(("rotate", m) for m in (0, 4.5, 45, 90, 130.5, 135, -31.5, -90)),
    *(("brightness", m) for m in (0.99, 0.33, -0.66)),
    *(("color", m) for m in (0.99, 0.33, -0.66)),
    *(("contrast", m) for m in (0.99, 0.33, -0.66)),
    *(("sharpness", m) for m in (0.99, 0.33, -0.66)),
    *(("posterize", m) for m in (8, 5, 2)),
    *(("solarize", m) for m in (255, 127.5, 0)),
    ("auto_contrast", 0),
    ("equalize", 0),
    ("identity", 0),
]


def inverse_affine(center, translate, shear):
    """_get_inverse_affine_matrix of transforms/functional.py, for angle 0 and scale 1; degrees."""
    sx, sy = math.radians(shear[0]), math.radians(shear[1])
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(-sy) / math.cos(sy)
    b = -math.cos(-sy) * math.tan(sx) / math.cos(sy)
    c = math.sin(-sy) / math.cos(sy)
    d = -math.sin(-sy) * math.tan(sx) / math.cos(sy) + 1
    matrix = [d, -b, 0.0, -c, a, 0.0]
    matrix[2] += matrix[0] * (-cx - tx) + matrix[1] * (-cy - ty) + cx
    matrix[5] += matrix[3] * (-cx - tx) + matrix[4] * (-cy - ty) + cy
    return matrix


def affine(image, center, translate, shear):
    matrix = inverse_affine(center, translate, shear)
    return image.transform(image.size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR, fillcolor=(0, 0, 0))


def changed(image, op, m):
    middle = [image.size[0] * 0.5, image.size[1] * 0.5]
    enhancers = {
        "brightness": ImageEnhance.Brightness,
        "color": ImageEnhance.Color,
        "contrast": ImageEnhance.Contrast,
        "sharpness": ImageEnhance.Sharpness,
    }
    if op in enhancers:
        return enhancers[op](image).enhance(1.0 + m)
    return {
        "identity": lambda: image,
        "shear_x": lambda: affine(image, [0, 0], [0, 0], [math.degrees(math.atan(m)), 0.0]),
        "shear_y": lambda: affine(image, [0, 0], [0, 0], [0.0, math.degrees(math.atan(m))]),
        "translate_x": lambda: affine(image, middle, [int(m), 0], [0.0, 0.0]),
        "translate_y": lambda: affine(image, middle, [0, int(m)], [0.0, 0.0]),
        "rotate": lambda: image.rotate(m, Image.Resampling.BILINEAR, fillcolor=(0, 0, 0)),
        "posterize": lambda: ImageOps.posterize(image, int(m)),
        "solarize": lambda: ImageOps.solarize(image, m),
        "auto_contrast": lambda: ImageOps.autocontrast(image),
        "equalize": lambda: ImageOps.equalize(image),
    }[op]()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fixtures", type=pathlib.Path, default="native/tests/fixtures")
    fixtures = parser.parse_args().fixtures
    out = fixtures / "pixel_ops"
    out.mkdir(exist_ok=True)
    (out / "cases.txt").write_text("".join(f"{op} {m}\n" for op, m in CASES))
    for name in SOURCES:
        image = Image.open(fixtures / "views" / name).convert("RGB")
        width, height = image.size
        sheet = Image.new("RGB", (width, height * len(CASES)))
        for index, (op, m) in enumerate(CASES):
            sheet.paste(changed(image, op, m), (0, index * height))
        sheet.save(out / name, optimize=True)


if __name__ == "__main__":
    main()
