// A channel of an SSH connection as the two ends of an agent.
import type { SshChannel } from '../ssh/base/transport.js';
import type { AgentStream } from './agentClient.js';
import { LineTail } from '../streams/lineTail.js';

/** An agent behind a channel. The stream owns the channel; `where` is the host's name. */
export function agentStream(channel: SshChannel, where: string): AgentStream {
  const stderr = new LineTail();
  let ending: string | undefined;
  channel.stderr.on('data', (chunk: Buffer) => {
    stderr.push(chunk.toString('utf8'));
  });
  const closed = channel.closed.then(({ code, signal }) => {
    if (signal !== null) ending = `signal ${signal}`;
    else if (code !== null) ending = `exit ${code}`;
    else ending = 'the connection was lost';
  });
  return {
    input: channel.stdout,
    output: channel.stdin,
    where,
    closed,
    stderrTail: () => stderr.lines(),
    ending: () => ending,
    dispose: () => {
      channel.stdin.end();
      channel.dispose();
    },
  };
}
