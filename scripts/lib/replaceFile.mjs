// A file that others may be reading is replaced at once, by rename.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Its folder is made where there is none.
 * @param {string} path
 * @param {Uint8Array} bytes
 */
export function replaceFile(path, bytes) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, bytes);
  renameSync(temporary, path);
}
