// An export that is given up while the files of the run are read, which may be large.
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { Cancelled, orCancelled } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { exportRun } from '../../../../src/core/export/exportRun.js';
import { FileTracker } from '../../../../src/core/export/files/tracker.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const dir = nodePath('/w/runs/r');
const details = { id: 'r', dir, run: { id: 'r' }, state: null, interrupted: false };
/** Pieces of the file. */
const most = 20;

it.each([
  ['between two pieces', true],
  ['while the node is silent', false],
])('ends %s, and leaves no file', async (_when, answers) => {
  const abort = new AbortController();
  let read = 0;
  const answer = (method: string, length: number): Promise<object> => {
    if (method === 'run.get') {
      return Promise.resolve({ ...details, files: { 'metrics.jsonl': most * length } });
    }
    if (++read === 3) abort.abort();
    if (read > most) return Promise.reject(new Error('all was read'));
    const data = Buffer.alloc(length, `${'x'.repeat(999)}\n`).toString('base64');
    return read < 3 || answers ? Promise.resolve({ data }) : new Promise(() => undefined);
  };
  const client = {
    request: (
      method: string,
      { length = 2 ** 20 }: { length?: number },
      more: { signal?: AbortSignal } = {},
    ) => orCancelled(answer(method, length), more.signal),
  };
  const exporting = exportRun({
    node: { client: () => Promise.resolve(client) } as unknown as AgentNode,
    entry: { dir } as RunEntry,
    tracker: new FileTracker({ form: 'csv', path: folder, profile: 'lab' }),
    follow: false,
    progress: { signal: abort.signal },
    onNote: () => undefined,
  });
  await expect(exporting).rejects.toBeInstanceOf(Cancelled);
  expect(read).toBe(3);
  expect(readdirSync(folder)).toEqual([]);
});
