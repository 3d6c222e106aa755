// The snapshot of a code folder, with the login on the nodes meanwhile.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Cancelled } from '../../../../src/core/base/errors.js';
import { snapshotFor } from '../../../../src/core/cluster/nodes/startCode.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'snapshot-for-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

/** As one that asks for a password, until it is told that nobody needs it. */
const asking = (signal?: AbortSignal): Promise<void> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(new Cancelled());
    });
  });

it('a folder that cannot be sent ends a login that still asks', async () => {
  const starting = snapshotFor({ connectHead: asking }, join(dir, 'none'), { cache: dir });
  await expect(starting).rejects.toThrow('there is no folder');
});

it('a login that fails is the error', async () => {
  writeFileSync(join(dir, 'a.py'), '');
  const connectHead = (): Promise<void> => Promise.reject(new Error('refused'));
  await expect(snapshotFor({ connectHead }, dir, { cache: dir })).rejects.toThrow('refused');
});

it('Ctrl-C ends both', async () => {
  writeFileSync(join(dir, 'a.py'), '');
  const abort = new AbortController();
  const starting = snapshotFor({ connectHead: asking }, dir, { cache: dir, signal: abort.signal });
  abort.abort();
  await expect(starting).rejects.toThrow(Cancelled);
});

it('this machine needs no login', async () => {
  writeFileSync(join(dir, 'a.py'), '');
  expect((await snapshotFor({}, dir, { cache: dir })).record.files).toBe(1);
});
