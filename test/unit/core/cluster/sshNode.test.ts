// Several who wait for one attempt to connect to a host, of whom some give up.
import { expect, it } from 'vitest';
import { Cancelled, UserError } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { Questions } from '../../../../src/core/cluster/nodes/retry.js';
import { SshNode } from '../../../../src/core/cluster/nodes/sshNode.js';
import type { SshConnection, SshTransport } from '../../../../src/core/ssh/base/transport.js';

/** An attempt of the transport, which ends as the test says. */
class Attempt {
  disposed = false;
  succeed: () => void = () => undefined;
  fail: (error: Error) => void = () => undefined;
  readonly connection: Promise<SshConnection>;

  constructor(readonly signal: AbortSignal | undefined) {
    this.connection = new Promise((resolve, reject) => {
      this.succeed = () => {
        const dispose = (): void => {
          this.disposed = true;
        };
        resolve({ isClosed: false, hostName: '10.0.0.1', dispose } as unknown as SshConnection);
      };
      this.fail = reject;
    });
  }
}

function nodeOfAttempts(): { node: SshNode; attempts: Attempt[] } {
  const attempts: Attempt[] = [];
  const transport = {
    connect: (_target: unknown, { signal }: { signal?: AbortSignal } = {}) => {
      const attempt = new Attempt(signal);
      attempts.push(attempt);
      signal?.addEventListener('abort', () => {
        attempt.fail(new Cancelled());
      });
      return attempt.connection;
    },
  } as unknown as SshTransport;
  const nobody = { secret: () => Promise.resolve(undefined), trust: () => Promise.resolve(false) };
  const payload = (): Promise<never> => Promise.reject(new Error('nothing is put there'));
  const given = { transport, questions: new Questions(nobody), payload, workdir: nodePath('/w') };
  return { node: new SshNode({ host: 'gpu1' }, given), attempts };
}

it('goes on for the others when who began it gives up', async () => {
  const { node, attempts } = nodeOfAttempts();
  const check = new AbortController();
  const checking = node.connection(check.signal);
  const following = node.connection();
  check.abort();
  await expect(checking).rejects.toBeInstanceOf(Cancelled);
  expect(attempts[0]?.signal?.aborted).toBe(false);
  attempts[0]?.succeed();
  expect(await following).toBe(await attempts[0]?.connection);
  expect(await node.connection()).toBe(await following);
  expect(node.address).toBe('10.0.0.1');
  expect(attempts).toHaveLength(1);
});

it('leaves who gives up at once, though others wait on', async () => {
  const { node, attempts } = nodeOfAttempts();
  const following = node.connection();
  const check = new AbortController();
  const checking = node.connection(check.signal);
  check.abort();
  await expect(checking).rejects.toBeInstanceOf(Cancelled);
  attempts[0]?.fail(new UserError('connection', 'gpu1 was lost', ''));
  await expect(following).rejects.toThrow('gpu1 was lost');
});

it('is ended when the last one leaves, and is no failure for the next one', async () => {
  const { node, attempts } = nodeOfAttempts();
  const check = new AbortController();
  const checking = node.connection(check.signal);
  check.abort();
  await expect(checking).rejects.toBeInstanceOf(Cancelled);
  expect(attempts[0]?.signal?.aborted).toBe(true);
  const following = node.connection();
  attempts[1]?.succeed();
  expect(await following).toBe(await attempts[1]?.connection);
});

it('keeps no connection that came after it was given up', async () => {
  const { node, attempts } = nodeOfAttempts();
  const check = new AbortController();
  const checking = node.connection(check.signal);
  attempts[0]?.succeed(); // the answer and the end cross each other
  check.abort();
  await expect(checking).rejects.toBeInstanceOf(Cancelled);
  await expect.poll(() => attempts[0]?.disposed).toBe(true);
});
