// What tests read from a program on a node.
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { SshChannel } from '../../../src/core/ssh/base/transport.js';

/** Everything a command writes, and its exit code. */
export async function finish(
  channel: SshChannel,
): Promise<{ out: Buffer; err: string; code: number | null }> {
  const [out, err, { code }] = await Promise.all([
    buffer(channel.stdout),
    text(channel.stderr),
    channel.closed,
  ]);
  return { out, err, code };
}

/** The first match in what the stream brings; fails when the stream ends without one. */
export function firstMatch(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  let seen = '';
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1');
      const found = pattern.exec(seen);
      if (found) resolve(found);
    });
    stream.on('end', () => {
      reject(new Error(`no ${String(pattern)} in ${seen}`));
    });
  });
}
