// This machine's NVIDIA driver and GPUs, as the set-up program sees those of a node
// (native/node/probe.py).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DriverAndGpus } from './cudaBuild.js';

/** Undefined where it cannot be read, as everywhere but on Linux. */
const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').then((text) => text.trim().toLowerCase(), ignoreMissing);

/** What cannot be read is not there: the driver's folder, a device that went away. */
const ignoreMissing = (): undefined => undefined;

/** `root`: where /proc and /sys are. */
export async function localGpus(root = '/'): Promise<DriverAndGpus> {
  const line = (await textOf(join(root, 'proc/driver/nvidia/version')))?.split('\n')[0] ?? '';
  const driver = line.split(/\s+/).find((word) => /^\d.*\./.test(word)) ?? null;
  const devices = join(root, 'sys/bus/pci/devices');
  const names = await readdir(devices).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const [vendor, kind, device] = await Promise.all(
        ['vendor', 'class', 'device'].map((file) => textOf(join(devices, name, file))),
      );
      return vendor === '0x10de' && kind?.startsWith('0x03') === true && device !== undefined
        ? [device.replace('0x', '')]
        : [];
    }),
  );
  return { driver, gpus: found.flat().sort() };
}
