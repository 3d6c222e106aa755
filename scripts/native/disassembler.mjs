// NVIDIA's disassembler of CUDA 12, for Volta's code.
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { ensureWheels } from './cudaWheels.mjs';
import { ensureToolchain } from './toolchain.mjs';

/**
 * Brings what disassembles Volta's code. Returns its folder of programs.
 */
export function ensureDisassembler() {
  ensureToolchain();
  const bin = 'triton/backends/nvidia/bin';
  const { folder } = ensureWheels({
    what: 'disassembler for Volta (about 60 MB on disk, once)',
    requirements: join(root, 'scripts/requirements/disassembler.txt'),
    // Whatever Python is here: it is for another one.
    pip: ['--only-binary', ':all:', '--implementation', 'cp', '--python-version', '3.11'],
    arrange: (made) => {
      for (const name of ['cuobjdump', 'nvdisasm']) {
        renameSync(join(made, bin, name), join(made, name));
        chmodSync(join(made, name), 0o755);
      }
      rmSync(join(made, 'triton'), { recursive: true });
    },
  });
  return folder;
}
