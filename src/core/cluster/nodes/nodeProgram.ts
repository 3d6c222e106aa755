// A program on one node that is run to its end, or ended with the wish for it.
import { randomBytes } from 'node:crypto';
import { Cancelled, throwIfCancelled, UserError } from '../../base/errors.js';
import { basename, dirname, join, type NodePath } from '../../base/nodePath.js';
import type { Progress } from '../../base/progress.js';
import { trainerError } from './machine.js';
import type { SshNode } from './sshNode.js';

/** Characters of output that are kept, the last ones. */
const keptCharacters = 65_536;

/**
 * Ends the program when its own stdin ends, which is when its channel does: a program that nobody
 * waits for any more must not compute on. `$@` are the program's words.
 */
const endsWithChannel = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & p=$!',
  '(cat <&3; kill $p) >/dev/null 2>&1 & w=$!',
  'wait $p; c=$?',
  'kill $w 2>/dev/null',
  'exit $c',
].join('\n');

/** How it ended, and what it said on stdout and stderr. UserError (connection), Cancelled. */
async function runToEnd(
  node: Pick<SshNode, 'run'>,
  argv: readonly string[],
  signal?: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  throwIfCancelled(signal);
  const words = ['sh', '-c', endsWithChannel, 'sh', ...argv];
  const channel = await node.run(words, signal ? { signal } : {});
  const give = (): void => {
    channel.dispose();
  };
  signal?.addEventListener('abort', give, { once: true });
  try {
    let output = '';
    const take = (chunk: Buffer): void => {
      output = `${output}${chunk.toString('utf8')}`.slice(-keptCharacters);
    };
    channel.stdout.on('data', take);
    channel.stderr.on('data', take);
    const { code } = await channel.closed;
    if (signal?.aborted === true) throw new Cancelled();
    return { code, output };
  } finally {
    signal?.removeEventListener('abort', give);
    channel.dispose();
  }
}

/**
 * Runs the trainer, whose program is the first word, to its end. UserError (failed) with its own
 * words, (connection), Cancelled.
 */
export async function trainerOn(
  node: Pick<SshNode, 'run' | 'name'>,
  [trainer = '', ...args]: readonly string[],
  progress: Progress,
): Promise<string> {
  progress.onProgress?.(`trainer ${args[0] ?? ''} on ${node.name}`);
  const { code, output } = await runToEnd(node, [trainer, ...args], progress.signal);
  if (code === 0) return output;
  throw trainerError(args, output);
}

/** A name beside a folder that no reader of checkpoints looks at, and that a training clears away. */
export const nameWhileRemoved = (path: NodePath): NodePath =>
  join(dirname(path), `.tmp-removed-${basename(path)}-${randomBytes(4).toString('hex')}`);

/** Of many files on a slow disk. */
const removalSeconds = 24 * 3600;

/** Removes a folder of a node in one step for its readers. UserError (failed). */
export async function removeOnNode(node: Pick<SshNode, 'tryProgram'>, path: NodePath): Promise<void> {
  const script = 'mv -- "$1" "$2" && rm -rf -- "$2"';
  const words = ['sh', '-c', script, 'sh', path, nameWhileRemoved(path)];
  const { code, output } = await node.tryProgram(words, removalSeconds);
  if (code === 0) return;
  throw new UserError('failed', `${path} cannot be removed: ${output.trim()}`, 'Look at its permissions');
}
