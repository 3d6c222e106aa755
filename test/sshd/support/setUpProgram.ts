// The set-up program as it goes to a node, and as a program of its own. It goes by a file: one word
// of a command line holds 128 KiB at most.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBootstrap } from '../../../src/core/setup/payload.js';

export const program = await readBootstrap({
  bootstrap: join(import.meta.dirname, '../../../native/node'),
});

const folder = mkdtempSync(join(tmpdir(), 'trainyard-set-up-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
let written = 0;

/** What python3 is called with to run this text; more words may follow. */
export function pythonWords(text: string): string[] {
  const path = join(folder, `${written++}.py`);
  writeFileSync(path, text);
  return ['-IS', path];
}

/** What one request is answered. `prefix`: the words before python3. */
export function askSetUp(
  op: string,
  params: object,
  { env = {}, prefix = [] }: { env?: Record<string, string>; prefix?: readonly string[] } = {},
): Record<'result' | 'error', unknown> {
  const [command = '', ...words] = [...prefix, 'python3', ...pythonWords(program)];
  const { stdout, stderr } = spawnSync(command, words, {
    input: `${JSON.stringify({ op, params })}\n`,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  const last = stdout.trim().split('\n').at(-1) ?? '';
  if (last === '') throw new Error(stderr);
  return JSON.parse(last) as Record<'result' | 'error', unknown>;
}
