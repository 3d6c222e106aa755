"""The numbers that the tests in native/tests/models and these scripts both compute: weights, images and signs.

Everything comes from SplitMix64 streams keyed by a name, and every product is exact or rounded once, so that C++
(native/tests/models/formula.h) and numpy agree to the last bit.
"""
import numpy as np

U64 = np.uint64
GAMMA = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def _mix(z):
    with np.errstate(over="ignore"):
        z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
        return z ^ (z >> U64(31))


def name_key(name):
    """FNV-1a of a name."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def stream(key, count):
    """The first `count` numbers of trainyard::Random{*key} as uint64."""
    state = 0x243F6A8885A308D3
    for part in key:
        state = (state + GAMMA) & MASK
        state = int(_mix(np.array([state], U64))[0]) ^ part
    with np.errstate(over="ignore"):
        return _mix(U64(state) + np.arange(1, count + 1, dtype=U64) * U64(GAMMA))


def unit(name, shape):
    """Multiples of 2^-15 in [-1, 1), fp32."""
    count = int(np.prod(shape))
    numbers = (stream([name_key(name)], count) >> U64(48)).astype(np.int64) - 32768
    return (numbers.astype(np.float32) * np.float32(2.0**-15)).reshape(shape)


def parameter(name, shape):
    """A weight of He's variance, a batch norm's scale near 1, a small bias."""
    values = unit(name, shape)
    if len(shape) == 4:
        return values * np.float32(np.sqrt(6.0 / (shape[0] * shape[2] * shape[3])))
    if len(shape) == 2:
        return values * np.float32(1.0 / np.sqrt(float(shape[1])))
    if ".bn." in name:
        return _calm_norm(name, values)
    values = values * np.float32(0.125)
    return values + np.float32(1) if ("bn" in name or "downsample.1" in name) and name.endswith("weight") else values


def _calm_norm(name, values):
    """Batch norm of Inception, in which millions of numbers meet a ReLU: five deviations away from zero, three channels
    of four above it and one below, so that none comes near."""
    if name.endswith("weight"):
        return values * np.float32(0.03125) + np.float32(0.25)
    return values * np.float32(0.125) + np.where(values < np.float32(-0.5), np.float32(-1.25), np.float32(1.25))


def images(count, size, salt, tile=None):
    """[count, size, size, 3] bytes: stripes of every direction with noise on top, so that images differ. With `tile` a
    piece of so many pixels a side is repeated, so that fewer different windows meet a pooling."""
    if tile:
        repeats = -(-size // tile)
        return np.tile(images(count, tile, salt), (1, repeats, repeats, 1))[:, :size, :size]
    slopes = (stream([name_key("slopes"), salt], count * 9) >> U64(33)).astype(np.int64).reshape(count, 1, 1, 3, 3)
    noise = (stream([name_key("noise"), salt], count * size * size * 3) >> U64(59)).astype(np.int64)
    y, x = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    y, x = y[None, :, :, None], x[None, :, :, None]
    value = slopes[..., 0] % 256 + slopes[..., 1] % 13 * x + slopes[..., 2] % 13 * y
    return ((value + noise.reshape(count, size, size, 3)) % 256).astype(np.uint8)


def labels(count, classes):
    return ((stream([name_key("labels")], count) >> U64(33)) % U64(classes)).astype(np.int64)


def projections(name, values, count=64):
    """Sums of `values` under `count` fixed patterns of signs. The mean square of the projections of a difference is an
    unbiased estimate of the square of its length (Achlioptas 2003, doi:10.1016/S0022-0000(03)00025-4)."""
    flat = np.asarray(values, np.float64).ravel()
    bits = stream([name_key(name), 1], flat.size)
    return [float(flat.sum() - 2.0 * flat[((bits >> U64(j)) & U64(1)).astype(bool)].sum()) for j in range(count)]
