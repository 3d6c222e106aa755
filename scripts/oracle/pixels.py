"""How models want their pixels: bytes scaled to [0, 1], less a mean, over a deviation, in float32."""
import numpy as np

# torchvision's ImageClassification preset.
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
# Inception's: what torchvision's `transform_input` makes of the preset.
HALVES = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


def normalised(images, normal):
    mean, deviation = (np.array(numbers, np.float32) for numbers in normal)
    return (images.astype(np.float32) / np.float32(255) - mean) / deviation
