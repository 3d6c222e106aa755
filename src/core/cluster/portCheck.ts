// Who reaches the head's ports: the other nodes must, and others should not.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import * as z from 'zod/mini';
import { NodeRefusal } from '../setup/bootstrap.js';
import { bad, good, type CheckResult } from '../base/checks.js';
import { portRangeOf, portsOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { SshNode } from './sshNode.js';

const ringSchema = z.object({ port: z.int(), reachedAt: z.nullable(z.string()) });
const heardSchema = z.object({ word: z.nullable(z.string()), problem: z.nullable(z.string()) });

/** What the head itself says of a port is another thing than what reaches it. */
const ofHead = 'head port';

/** As long as a node tries. */
const patience = 5000;

/**
 * Opens a port of the range on the head, on all interfaces as a run does, and connects to it from
 * each other node and from here. From here it is tried at the address at which the head's sshd was
 * reached; behind a jump host or a forwarded port that need not be a way.
 */
export async function checkPorts(
  profile: Profile,
  [head, ...others]: readonly SshNode[],
): Promise<CheckResult[]> {
  if (!head) return [];
  const [firstPort, lastPort] = portsOf(profile);
  const word = randomBytes(16).toString('hex');
  return head.withBootstrap(async (bootstrap) => {
    let rung: z.infer<typeof ringSchema>;
    try {
      rung = await bootstrap.request('ring', { firstPort, lastPort, word }, ringSchema);
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      return [{ ...bad(ofHead, error.said, error.hint), host: head.name }];
    }
    const { port, reachedAt } = rung;
    const results = await Promise.all(
      others.map(async (node) => {
        const params = { host: head.address, port, length: word.length };
        const heard = await node.withBootstrap((channel) => channel.request('hear', params, heardSchema));
        return { ...judge(heard, word, profile, head), host: node.name };
      }),
    );
    const seen = await seenFromHere(`port ${port}`, reachedAt, () => hears(reachedAt ?? '', port, word));
    return [{ ...good(ofHead, seen), host: head.name }, ...results];
  });
}

async function seenFromHere(
  port: string,
  reachedAt: string | null,
  hear: () => Promise<boolean>,
): Promise<string> {
  if (reachedAt === null) return `${port} was not tried from this machine, to which sshd gave no address`;
  return (await hear())
    ? `${port} can be reached from this machine too: the network of the nodes should be private`
    : `${port} cannot be reached from this machine at ${reachedAt}`;
}

function judge(
  { word, problem }: z.infer<typeof heardSchema>,
  wanted: string,
  profile: Profile,
  head: SshNode,
): CheckResult {
  if (word === wanted) return good('ports', `reaches ${head.name}`);
  const what = problem ?? `another machine than ${head.name} answers at ${head.address}`;
  const range = portRangeOf(profile);
  return bad('ports', what, { kind: 'openPorts', profile: profile.name, host: head.name, range });
}

/** Whether this word is what comes from there. */
function hears(host: string, port: number, word: string): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect({ host, port, timeout: patience });
    const end = (): void => {
      socket.destroy();
      resolve(heard === word);
    };
    socket
      .setEncoding('latin1')
      .on('data', (text: string) => {
        heard += text;
        if (heard.length >= word.length) end();
      })
      .on('timeout', end)
      .on('error', end)
      .on('close', end);
  });
}
