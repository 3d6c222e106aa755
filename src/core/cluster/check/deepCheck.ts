// What is measured where a check goes deep: the links of the nodes, and their devices.
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { bad, type CheckResult } from '../../base/checks.js';
import { check } from '../../base/validation.js';
import {
  judgeDevices,
  judgeLinks,
  roundsOf,
  slowPairs,
  type DeviceRate,
  type LinkRate,
} from '../../check/slow.js';
import { portsOf } from '../../contracts/ports.js';
import type { Profile } from '../../contracts/profileSchema.js';
import type { NodePath } from '../../base/nodePath.js';
import type { CheckedNode } from '../nodes/nodeChannels.js';

const ringSchema = z.object({ port: z.int() });
const streamSchema = z.object({
  there: z.nullable(z.number()),
  back: z.nullable(z.number()),
  problem: z.nullable(z.string()),
});
const matmulSchema = z.object({ tflops: z.number() });

/** Seconds for which one link is measured each way. */
const linkSeconds = 0.4;
/** Of 32 nodes each meets so many others, so that a check comes to its end. */
const mostRounds = 8;
/** Pairs that are measured once more, since something else may have used their link. */
const mostAgain = 8;

/**
 * Rates of TCP between pairs of nodes that meet nobody else meanwhile, and who is slow. Empty for
 * one node. UserError (connection, preflight), Cancelled.
 */
export async function measureLinks(profile: Profile, nodes: readonly CheckedNode[]): Promise<CheckResult[]> {
  if (nodes.length < 2) return [];
  const [firstPort, lastPort] = portsOf(profile);
  const doors = await Promise.all(
    nodes.map(async ({ channel }) => {
      const key = randomBytes(32).toString('hex');
      const params = { firstPort, lastPort, key, streams: linkSeconds };
      return { key, ...(await channel.request('ring', params, ringSchema)) };
    }),
  );
  const links: LinkRate[] = [];
  const failed: CheckResult[] = [];
  const measure = async (a: number, b: number): Promise<LinkRate[]> => {
    const [from, to, door] = [nodes[a], nodes[b], doors[b]];
    if (!from || !to || !door) return [];
    const params = { host: to.node.address, ...door, seconds: linkSeconds };
    const { there, back, problem } = await from.channel.request('stream', params, streamSchema);
    const names = { from: from.node.name, to: to.node.name };
    if (problem !== null) {
      const what = `the link to ${names.to} was not measured: ${problem}`;
      failed.push({ ...bad('link', what, 'See what is said of the ports'), host: names.from });
    }
    return [
      ...(there === null ? [] : [{ ...names, rate: there }]),
      ...(back === null ? [] : [{ from: names.to, to: names.from, rate: back }]),
    ];
  };
  const rounds = roundsOf(nodes.length, mostRounds);
  for (const round of rounds) {
    links.push(...(await Promise.all(round.map(([a, b]) => measure(a, b)))).flat());
  }
  const names = nodes.map(({ node }) => node.name);
  for (const { from, to } of slowPairs(links).slice(0, mostAgain)) {
    links.push(...(await measure(names.indexOf(from), names.indexOf(to)))); // alone; the faster one counts
  }
  const slow = new Set(
    judgeLinks(names, fastest(links)).flatMap(({ warning, host }) => (warning ? host : [])),
  );
  const theirs = rounds.flat().filter((pair) => pair.some((node) => slow.has(names[node])));
  for (const [a, b] of theirs.slice(0, mostAgain)) links.push(...(await measure(a, b)));
  return [...failed, ...judgeLinks(names, fastest(links))];
}

/** Of each pair the best rate that was measured. */
function fastest(links: readonly LinkRate[]): LinkRate[] {
  const best = new Map<string, LinkRate>();
  for (const link of links) {
    const key = JSON.stringify([link.from, link.to]);
    if (link.rate > (best.get(key)?.rate ?? -1)) best.set(key, link);
  }
  return [...best.values()];
}

/** A node with its trainer. */
export interface ComputingNode extends CheckedNode {
  trainer: NodePath;
  cores: number;
}

/** What the trainer is asked in order to measure a CPU. */
export const matmulTrial = (cores: number): string[] => [
  ...['bench', 'matmul', '--size', '2048', '--seconds', '1', '--threads', String(cores)],
];

/** How a measurement ended, and what it printed. */
export interface Tried {
  code: number | null;
  output: string;
}

/**
 * A matrix product on the CPU of each node, all nodes at once, and who is slow; where one is, they
 * all do it once more, and the faster one counts. UserError (connection).
 */
export async function measureDevices(nodes: readonly ComputingNode[]): Promise<CheckResult[]> {
  const first = await cpusOf(nodes);
  const judged = judgeCpus(first);
  if (!judged.some(({ warning }) => warning)) return judged;
  const second = await cpusOf(nodes);
  return judgeCpus(
    first.map((each, at) => {
      const again = second[at];
      return again && 'rate' in again && 'rate' in each && again.rate > each.rate ? again : each;
    }),
  );
}

const cpusOf = (nodes: readonly ComputingNode[]): Promise<(DeviceRate | CheckResult)[]> =>
  Promise.all(
    nodes.map(async ({ node, channel, trainer, cores }) => {
      const ended = await node.tryProgramBy(channel, [trainer, ...matmulTrial(cores)]);
      return cpuOf(ended, cores, node.name);
    }),
  );

function judgeCpus(tried: readonly (DeviceRate | CheckResult)[]): CheckResult[] {
  const rates = tried.flatMap((each) => ('rate' in each ? [each] : []));
  const failed = tried.flatMap((each) => ('rate' in each ? [] : [each]));
  return [...failed, ...judgeDevices(rates)];
}

/** The same of one machine, from how the trainer ended. */
export function judgeMatmul(ended: Tried, cores: number, host: string): CheckResult {
  const tried = cpuOf(ended, cores, host);
  const [judged] = 'rate' in tried ? judgeDevices([tried]) : [tried];
  if (!judged) throw new TypeError('one device has one row');
  return judged;
}

function cpuOf(ended: Tried, cores: number, host: string): DeviceRate | CheckResult {
  const rate = rateOf(ended);
  if (rate !== undefined) return { host, device: 'CPU', kind: `CPU of ${cores} cores`, rate };
  return { ...cannotMeasure('matmul', 'the CPU', ended), host };
}

/** The row of a device of which there is no rate. */
export function cannotMeasure(row: string, device: string, { output }: Tried): CheckResult {
  const said = output.trim().split('\n').at(-1) ?? '';
  return bad(row, `${device} was not measured: ${said}`, { kind: 'reportProgram' });
}

/** TFLOP/s, where the trainer printed them. */
export function rateOf({ code, output }: Tried): number | undefined {
  if (code !== 0) return undefined;
  const line = output.split('\n').find((each) => each.startsWith('{'));
  try {
    const read = check(matmulSchema, JSON.parse(line ?? ''));
    return read.ok ? read.data.tflops : undefined;
  } catch {
    return undefined; // not of this program: told as not measured
  }
}
