import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { parseVerb } from '../../../src/cli/args.js';
import type { Context } from '../../../src/cli/context.js';
import { exec, execExit } from '../../../src/cli/verbs/cluster/exec.js';
import { UserError } from '../../../src/core/base/errors.js';
import { runOnAll } from '../../../src/core/cluster/nodes/fanOut.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { SshNode } from '../../../src/core/cluster/nodes/sshNode.js';

const ended = (code: number | null, error?: Error): Parameters<typeof execExit>[0][number] => ({
  code,
  error,
});
const unreached = ended(null, new UserError('connection', 'gpu2 was not reached', 'Look at it'));
const noAgent = ended(null, new UserError('preflight', 'gpu3 has no space', 'Make some'));

describe('the exit code of exec', () => {
  it.each([
    ['nothing failed', [ended(0), ended(0)], 0],
    ['no host was reached', [unreached, unreached], 3],
    ['one host was not reached', [ended(0), unreached], 3],
    ['one host was not reached, and on one the command failed', [ended(7), unreached], 5],
    ['a signal ended it', [ended(null), unreached], 5],
    ['it could not be started on one', [noAgent, unreached], 5],
  ])('%s', (_, endings, code) => {
    expect(execExit(endings)).toBe(code);
  });
});

type Ending = Promise<{ code: null; signal: null }>;

/** A node on which a command ends as `closedOf` says, which gets when its channel is given back. */
function nodeWith(closedOf: (given: Promise<void>) => Ending): SshNode {
  const stream = { on: () => undefined, end: () => undefined };
  let dispose = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    dispose = resolve;
  });
  const streams = { stdin: stream, stdout: stream, stderr: stream };
  const run = (): Promise<object> => Promise.resolve({ ...streams, closed: closedOf(given), dispose });
  return { name: 'gpu1', run } as unknown as SshNode;
}

describe('a command that is given up', () => {
  it('is no command that failed', async () => {
    const controller = new AbortController();
    const node = nodeWith(async (given): Ending => {
      setTimeout(() => {
        controller.abort();
      }, 10);
      await given;
      return { code: null, signal: null };
    });
    const cluster = Object.create(SshMachine.prototype) as object;
    const context = {
      ...{ json: false, output: { line: () => undefined, note: () => undefined } },
      machine: Object.assign(cluster, { select: () => [node] }),
      profile: () => Promise.resolve({ name: 'lab', kind: 'ssh' }),
      withProgress: (work: (progress: object) => Promise<unknown>) => work({ signal: controller.signal }),
    } as unknown as Context;
    const given = parseVerb(exec, ['lab', '--', 'sleep', '9']);
    await expect(exec.run(context, given)).rejects.toThrow('cancelled');
  });

  it('leaves nobody who listens, also where its channel fails', async () => {
    const { signal } = new AbortController();
    const node = nodeWith(() => Promise.reject(new Error('the connection is gone')));
    const [ending] = await runOnAll([node], ['true'], () => undefined, signal);
    expect(ending?.error).toMatchObject({ message: 'the connection is gone' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
