// What the trainer says of its own work, on the descriptor that `agent rank` gives it.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureStrace } from '../../../scripts/test/strace.mjs';
import { expectExit, lastOnly, runTrainer, temporaryFolder, trainer } from '../../support/harness.js';

const folder = temporaryFolder('outcomes');
const shards = join(folder.path, 'shards');
beforeAll(async () => {
  expectExit(
    await runTrainer(['prep', '--from', 'demo:2x24', '--to', shards, '--shards', '1', '--image-size', '32']),
    0,
  );
});
afterAll(folder.remove);

let runs = 0;
const training = (...words: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'mlp', '--batch-size', '4', '--steps', '3', '--threads', '1'],
    ...['--run-dir', join(folder.path, `run-${++runs}`), ...words],
  ]);

/** Its exit code, and the last line that it wrote to descriptor 3. */
async function outcomeOf(
  program: string,
  words: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; said: unknown; stderr: string }> {
  const child = spawn(program, words, {
    env: { ...process.env, ...env, OMP_NUM_THREADS: '1', TRAINYARD_OUTCOME_FD: '3' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (more: string) => (stderr += more));
  child.stdio[3]?.on('data', (more: Buffer) => (text += more.toString()));
  const code = await new Promise<number | null>((done, fail) => {
    child.on('error', fail);
    child.on('close', done);
  });
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  return { code, said: last === '' ? undefined : JSON.parse(last), stderr };
}

test.each([
  ['a training that ends', training('--data', 'synthetic'), 0],
  ['missing data', training('--data', '/nonexistent/photos'), 3],
  ['a loss that is no number', training('--data', 'synthetic', '--lr', '1e6', '--steps', '40'), 3],
  ['a wrong flag', training('--data', 'synthetic', '--batch-size', 'x'), 2],
])('%s: nothing to be tried again', async (_, words, code) => {
  const outcome = await outcomeOf(trainer, words);
  expect(outcome, outcome.stderr).toMatchObject({ code, said: { exit_code: code, retryable: false } });
});

test('a shard that cannot be read for an error of its disk: to be tried again', async () => {
  const { program, env } = ensureStrace();
  const shard = join(shards, readdirSync(shards).find((name) => name.startsWith('train-')) ?? '');
  const inject = ['-e', 'trace=read,pread64', '-e', 'inject=read,pread64:error=EIO', '-P', shard];
  const words = ['-f', '-o', join(folder.path, 'strace'), ...inject, trainer, ...training('--data', shards)];
  const outcome = await outcomeOf(program, words, env);
  expect(outcome.stderr).toContain('Input/output error');
  expect(outcome).toMatchObject({ code: 3, said: { exit_code: 3, retryable: true } });
});
