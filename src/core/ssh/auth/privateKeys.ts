// The private keys that lie in the user's own folder, for one to be chosen.
import { open, readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.js';

/** A private key by its file. `about`: type and comment of its public half; empty: not known. */
export interface PrivateKeyFile {
  path: string;
  about: string;
}

const form = /^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/;

/** In the order of their names; none where there is no such folder. Keys are not unlocked. */
export async function privateKeys(folder = join(homedir(), '.ssh')): Promise<PrivateKeyFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemCode(error) ?? '')) return [];
    throw error;
  });
  const paths = entries
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && !entry.name.endsWith('.pub'))
    .map(({ name }) => join(folder, name))
    .sort();
  const keys = await Promise.all(
    paths.map(async (path) => ((await isPrivateKey(path)) ? { path, about: await aboutKey(path) } : [])),
  );
  return keys.flat();
}

async function isPrivateKey(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(80), 0, 80, 0);
      return form.test(buffer.toString('latin1', 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    return false; // what cannot be read is no key that can be offered
  }
}

async function aboutKey(path: string): Promise<string> {
  const text = await readFile(`${path}.pub`, 'utf8').catch(() => '');
  const [type = '', , ...comment] = text.trim().split(/\s+/);
  return [type.replace(/^ssh-/, ''), comment.join(' ')].filter((part) => part !== '').join(', ');
}
