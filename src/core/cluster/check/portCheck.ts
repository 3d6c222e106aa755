// Every node tries the ports of every other one, as the nodes of a run must reach them; and this
// machine tries the head's, which others should not reach.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { connect } from 'node:net';
import * as z from 'zod/mini';
import { NodeRefusal } from '../../setup/bootstrap.js';
import { bad, good, warned, type CheckResult } from '../../base/checks.js';
import { heardSchema, judgeWays, type BadWay, type Heard } from '../../check/reachability.js';
import { portRangeOf, portsOf } from '../../contracts/ports.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { headAddress } from '../../plan/headAddress.js';
import type { CheckedNode } from '../nodes/nodeChannels.js';

const ringSchema = z.object({ port: z.int(), reachedAt: z.nullable(z.string()) });

/** What the head itself says of a port is another thing than what reaches it. */
const ofHead = 'head port';
const atHead = 'head address';

/** Milliseconds, as long as a node tries. */
const patience = 3000;

/** What the head met on the way to itself. */
interface OwnWay {
  host: string;
  address: string;
  own: Heard;
}

/** A node that listens. */
interface Ringing {
  checked: CheckedNode;
  port: number;
  /** In hex, of this node and this check alone. */
  key: string;
  reachedAt: string | null;
}

/**
 * Opens a port of the range on each node, on all interfaces as a run does, for as long as the
 * channels are open, and connects from each node to all others. `head` is the one that is tried from
 * here too, at the address at which its sshd was reached; behind a jump host or a forwarded port
 * that need not be a way. UserError (connection).
 */
export async function checkPorts(
  profile: Profile,
  nodes: readonly CheckedNode[],
  head: string | undefined = nodes[0]?.node.name,
): Promise<CheckResult[]> {
  const started = await Promise.all(nodes.map((checked) => ring(profile, checked)));
  const ringing = started.flatMap((each) => ('port' in each ? [each] : []));
  const refused = started.flatMap((each) => ('port' in each ? [] : [each]));
  const ofThatHead = ringing.find(({ checked }) => checked.node.name === head);
  const hosts = profile.hosts?.length ?? 1;
  const ownAddress = ({ node }: CheckedNode): string | undefined =>
    node.name === head ? headAddress(node.host, node.address, hosts) : undefined;
  const [heard, seen] = await Promise.all([
    Promise.all(ringing.map((each, index) => hearOthers(ringing, each, index, ownAddress(each.checked)))),
    seenFromHere(ofThatHead),
  ]);
  const own = heard.flatMap(({ own }) => (own ? [judgeOwn(profile, own)] : []));
  const ways = heard.flatMap((each) => each.ways);
  const openPorts = (host: string): CheckResult['hint'] => ({
    ...{ kind: 'openPorts', profile: profile.name, host, range: portRangeOf(profile) },
  });
  const names = ringing.map(({ checked }) => checked.node.name);
  const judged = nodes.length < 2 ? [] : judgeWays(names, ways, openPorts);
  return [...refused, ...seen, ...own, ...judged];
}

async function ring(profile: Profile, checked: CheckedNode): Promise<Ringing | CheckResult> {
  const [firstPort, lastPort] = portsOf(profile);
  const key = randomBytes(32).toString('hex');
  try {
    const { channel } = checked;
    return { checked, key, ...(await channel.request('ring', { firstPort, lastPort, key }, ringSchema)) };
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    return { ...bad('ports', error.said, error.hint), host: checked.node.name };
  }
}

/** One question to a node at a time: `own` is the head's address, for which the head asks too. */
async function hearOthers(
  ringing: readonly Ringing[],
  { checked: { node, channel }, port, key }: Ringing,
  first: number,
  address: string | undefined,
): Promise<{ ways: BadWay[]; own?: OwnWay }> {
  const others = ringing.filter((each) => each.checked.node !== node);
  const peers = others.map(({ checked, port, key }) => ({ host: checked.node.address, port, key }));
  if (address !== undefined) peers.push({ host: address, port, key });
  if (peers.length === 0) return { ways: [] };
  const { heard } = await channel.request('hear', { peers, first }, heardSchema);
  const ways = others.flatMap(({ checked }, index): BadWay[] => {
    const each = heard[index];
    const way = { from: node.name, to: checked.node.name };
    return each === undefined || each.problem === null ? [] : [{ ...way, heard: each }];
  });
  const own = address === undefined ? undefined : heard[others.length];
  return own === undefined || address === undefined
    ? { ways }
    : { ways, own: { host: node.name, address, own } };
}

/** The address is the one where a run's own programs meet. */
function judgeOwn(profile: Profile, { host, address, own }: OwnWay): CheckResult {
  if (own.problem === null) return { ...good(atHead, `reaches itself at ${address}`), host };
  const why = own.said ?? own.problem;
  const what = `does not reach itself at ${address}, where own programs meet (MASTER_ADDR): ${why}`;
  const hint = { kind: 'openPorts', profile: profile.name, host, range: portRangeOf(profile) } as const;
  return { ...warned(atHead, what, hint), host };
}

async function seenFromHere(head: Ringing | undefined): Promise<CheckResult[]> {
  if (!head) return [];
  const { port, reachedAt } = head;
  const told = (detail: string): CheckResult[] => [{ ...good(ofHead, detail), host: head.checked.node.name }];
  if (reachedAt === null) {
    return told(`port ${port} was not tried from this machine, to which sshd gave no address`);
  }
  return told(
    (await hears(reachedAt, port, Buffer.from(head.key, 'hex')))
      ? `port ${port} can be reached from this machine too: the network of the nodes should be private`
      : `port ${port} cannot be reached from this machine at ${reachedAt}`,
  );
}

const greeting = 'trainyard-offer-1\n'.length;
const proofBytes = 32;

/** Whether what listens there holds the key: the exchange of an offer (docs/contracts/cluster.md). */
function hears(host: string, port: number, key: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = Buffer.alloc(0);
    let theirs: Buffer | undefined;
    const ours = randomBytes(proofBytes);
    const proof = (what: string, nonce: Buffer): Buffer =>
      createHmac('sha256', key).update(what).update(nonce).update(ours).digest();
    const socket = connect({ host, port, timeout: patience });
    const end = (holdsKey: boolean): void => {
      socket.destroy();
      resolve(holdsKey);
    };
    socket
      .on('data', (data: Buffer) => {
        heard = Buffer.concat([heard, data]);
        if (!theirs && heard.length >= greeting + proofBytes) {
          theirs = heard.subarray(greeting, greeting + proofBytes);
          socket.write(Buffer.concat([ours, proof('fetch', theirs)]));
        }
        const answer = heard.subarray(greeting + proofBytes, greeting + 2 * proofBytes);
        if (theirs && answer.length === proofBytes) end(timingSafeEqual(answer, proof('offer', theirs)));
      })
      .on('timeout', () => {
        end(false);
      })
      .on('error', () => {
        end(false);
      })
      .on('close', () => {
        end(false);
      });
  });
}
