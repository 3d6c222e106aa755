// The host keys that the user accepted here: known_hosts in Trainyard's own folder, for either
// transport. The user's own file is only read.
import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText, systemCode, UserError } from '../../base/errors.js';
import { keyType } from './keys.js';
import { parseKnownHosts, type KnownHostsLine } from './knownHosts.js';

/** Characters, one for each byte. */
const largestFile = 64 * 1024 * 1024;

/**
 * The lines of all these files; one that is not there has none. UserError (connection) for one that
 * cannot be read.
 */
export async function readKnownHosts(files: readonly string[]): Promise<KnownHostsLine[]> {
  const lists = await Promise.all(files.map(readOne));
  return lists.flat();
}

async function readOne(file: string): Promise<KnownHostsLine[]> {
  try {
    const text = await readFile(file, 'latin1');
    if (text.length > largestFile) throw new Error('it is larger than 64 MiB');
    return parseKnownHosts(text, file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw new UserError(
      'connection',
      `${file} cannot be read: ${errorText(error)}`,
      'Host keys cannot be checked without it; correct its permissions',
      { cause: error },
    );
  }
}

/**
 * The file of accepted host keys in Trainyard's own folder `home`. Writing rejects with UserError
 * (connection).
 */
export class TrustStore {
  readonly path: string;
  private queue: Promise<void> = Promise.resolve();

  constructor(home: string) {
    this.path = join(home, 'known_hosts');
  }

  /** Appends in one write, so that two programs that do so at once leave two whole lines. */
  add(name: string, key: Buffer): Promise<void> {
    const work = this.queue.then(async () => {
      const lines = await readKnownHosts([this.path]);
      if (lines.some((line) => line.names === name && line.key.equals(key) && !line.marker)) return;
      await this.append(`${name} ${keyType(key) ?? ''} ${key.toString('base64')}\n`);
    });
    this.queue = work.catch(() => undefined);
    return work;
  }

  /** Makes the file where there is none: ssh appends to it, and would let others read a new one. */
  prepare(): Promise<void> {
    return this.write(() => Promise.resolve());
  }

  private append(line: string): Promise<void> {
    return this.write(async (handle) => {
      const { size } = await handle.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await handle.read(last, 0, 1, size - 1);
      const whole = size === 0 || last[0] === 0x0a;
      await handle.write(whole ? line : `\n${line}`);
      await handle.sync();
    });
  }

  private async write(work: (handle: FileHandle) => Promise<void>): Promise<void> {
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      const handle = await open(this.path, 'a+', 0o600);
      try {
        await work(handle);
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw new UserError(
        'connection',
        `${this.path} cannot be written: ${errorText(error)}`,
        'The accepted host key is kept there; free disk space or correct its permissions',
        { cause: error },
      );
    }
  }
}
