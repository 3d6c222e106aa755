// Files that another process may be reading: replaced in one step, or not at all.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from './errors.js';

/** Milliseconds. Windows refuses to replace a file that another program has open. */
const heldOpen = 2000;

async function replace(from: string, to: string): Promise<void> {
  for (const since = Date.now(); ;) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      const isHeld = ['EPERM', 'EACCES', 'EBUSY'].includes(systemCode(error) ?? '');
      if (process.platform !== 'win32' || !isHeld || Date.now() - since > heldOpen) throw error;
      await delay(50);
    }
  }
}

/**
 * Writes by temporary name, fsync and rename, so that a reader (or a power cut) sees the old or the
 * new content.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await replace(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
