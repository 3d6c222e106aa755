// Which nodes reach which, and whose fault it is where one does not.
import * as z from 'zod/mini';
import { bad, good, type CheckResult } from '../base/checks.js';
import type { Advice } from '../base/remedy.js';

/**
 * What one node met on the way to another: `unreached` no connection, `cut` one that was lost,
 * `stranger` another program, `full-there` and `full-back` packets of full size that were lost.
 * `said` are the system's words.
 */
export const heardSchema = z.object({
  heard: z.array(
    z.object({
      problem: z.nullable(z.enum(['unreached', 'cut', 'stranger', 'full-there', 'full-back'])),
      said: z.nullable(z.string()),
    }),
  ),
});
/** What one node met on the way to another. */
export type Heard = z.infer<typeof heardSchema>['heard'][number];

/** The way from a node to another that is not as it should be. */
export interface BadWay {
  from: string;
  to: string;
  heard: Heard;
}

/**
 * Part of the other nodes. A node that has trouble with more of them is itself what is wrong, and
 * the others are not told of it.
 */
const blameFrom = 2 / 3;

/** A row for each of these nodes. `openPorts`: what to do so that this node is reached. */
export function judgeWays(
  nodes: readonly string[],
  ways: readonly BadWay[],
  openPorts: (host: string) => Advice,
): CheckResult[] {
  const blamed = blamedOf(nodes, ways);
  return nodes.map((host) => {
    const own = ways.filter(({ from, to }) =>
      blamed.has(host)
        ? (from === host && !isBlamedBefore(blamed, to, host)) ||
          (to === host && !isBlamedBefore(blamed, from, host))
        : from === host && !blamed.has(to),
    );
    const [first] = own;
    if (!first) {
      const others = nodes.length - 1;
      const told = others === 0 ? 'no other node' : others === 1 ? 'the other node' : `all ${others} others`;
      return { ...good('ports', `reaches ${told}`), host };
    }
    const hint = isAboutSize(first.heard) ? sameMtu : openPorts(blamed.has(host) ? host : first.to);
    return { ...bad('ports', tellWays(host, own), hint), host };
  });
}

const sameMtu =
  'Give all interfaces and switches between the nodes one MTU, or lower that of the nodes (as root: ip link set dev INTERFACE mtu 1500)';

const isAboutSize = ({ problem }: Heard): boolean => problem === 'full-there' || problem === 'full-back';

const isBlamedBefore = (blamed: ReadonlySet<string>, one: string, other: string): boolean => {
  const order = [...blamed];
  return blamed.has(one) && order.indexOf(one) < order.indexOf(other);
};

/** In the order of their trouble, the most first. */
function blamedOf(nodes: readonly string[], ways: readonly BadWay[]): ReadonlySet<string> {
  const blamed = new Set<string>();
  for (;;) {
    const left = nodes.filter((node) => !blamed.has(node));
    const troubles = left.map((node) => ({ node, count: partnersOf(node, ways, blamed).size }));
    const worst = troubles.reduce<{ node: string; count: number } | undefined>(
      (most, each) => (most && most.count >= each.count ? most : each),
      undefined,
    );
    if (!worst || worst.count < 2 || worst.count <= blameFrom * (left.length - 1)) return blamed;
    blamed.add(worst.node);
  }
}

/** The other nodes with which it has trouble, in either direction. */
function partnersOf(node: string, ways: readonly BadWay[], without: ReadonlySet<string>): Set<string> {
  const partners = ways.flatMap(({ from, to }) => (from === node ? [to] : to === node ? [from] : []));
  return new Set(partners.filter((partner) => !without.has(partner)));
}

interface WayGroup {
  nodes: Set<string>;
  heard: Heard;
  outward: boolean;
}

/** `does not reach gpu2, gpu3: timed out; gpu4 does not reach it: timed out`. */
function tellWays(host: string, ways: readonly BadWay[]): string {
  const groups = new Map<string, WayGroup>();
  for (const { from, to, heard } of ways) {
    // Where packets are lost is the same, whichever side began.
    const back = heard.problem === 'full-back';
    const outward = (from === host) !== back;
    const problem = back ? 'full-there' : heard.problem;
    const key = JSON.stringify([outward, problem, heard.said]);
    const group = groups.get(key) ?? { nodes: new Set(), heard: { ...heard, problem }, outward };
    group.nodes.add(from === host ? to : from);
    groups.set(key, group);
  }
  return [...groups.values()].map(tellGroup).join('; ');
}

function tellGroup({ nodes, heard: { problem, said }, outward }: WayGroup): string {
  const names = [...nodes];
  const who =
    names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
  const why = said === null ? '' : `: ${said}`;
  switch (problem) {
    case 'stranger':
      return outward
        ? `another machine or program answers at the address of ${who}`
        : `another machine or program answers ${who} at its address`;
    case 'full-there':
      return `small packets pass, and full-size packets ${outward ? 'to' : 'from'} ${who} are lost`;
    case 'full-back':
    case 'unreached':
    case 'cut':
    case null: {
      const verb = names.length === 1 ? 'does' : 'do';
      return outward ? `does not reach ${who}${why}` : `${who} ${verb} not reach it${why}`;
    }
  }
}
