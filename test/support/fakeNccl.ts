// A stand-in for NCCL, which the CUDA toolkit of this build does not bring for CUDA 13: a library
// of one function, which says a version.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Makes `folder` with the library in it. */
export function makeNccl(folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('cc', ['-shared', '-x', 'c', '-', '-o', join(folder, 'libnccl.so.2')], {
    input: 'int ncclGetVersion(int *version) { *version = 22807; return 0; }',
  });
}
