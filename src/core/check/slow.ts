// Who is slow: nodes by the links that they have, devices by what they multiply.
import { good, warned, type CheckResult } from '../base/checks.js';

/** Part of the median below which something is slow, where the spread of all allows to say so. */
const slowBelow = 0.7;
/** Part of the median below which something is slow, however wide the spread is. */
const slowAnyhow = 0.25;
/** Median absolute deviations from the median, scaled to standard deviations of a normal spread. */
const farAway = 5 * 1.4826;

/** A rate as it was measured between two nodes, in bytes a second. */
export interface LinkRate {
  from: string;
  to: string;
  rate: number;
}

/** A device and its rate, in TFLOP/s. Devices of one kind are compared. */
export interface DeviceRate {
  host: string;
  device: string;
  kind: string;
  rate: number;
}

/**
 * Values that are slow, of at least three: below a quarter of the median; or below 70% of it, and
 * more than 5 standard deviations away, as the median absolute deviation estimates them.
 */
export function slowOf(values: readonly number[]): { usual: number; isSlow: (value: number) => boolean } {
  const usual = median(values);
  const spread = median(values.map((value) => Math.abs(value - usual)));
  const limit = Math.max(slowAnyhow * usual, Math.min(slowBelow * usual, usual - farAway * spread));
  return { usual, isSlow: (value) => values.length > 2 && value < limit };
}

/**
 * A row for each node by its best link in each direction, for a node is slow where all of its links
 * are; then each pair that is slower than both of its nodes can be. Two nodes have one link, of
 * which nobody can say whose fault it is.
 */
export function judgeLinks(nodes: readonly string[], links: readonly LinkRate[]): CheckResult[] {
  const { out, into } = bestOf(links);
  const sends = slowOf(nodes.map((node) => out.get(node) ?? 0));
  const takes = slowOf(nodes.map((node) => into.get(node) ?? 0));
  const pairs = slowPairs(links);
  return nodes.map((host) => {
    const sent = out.get(host) ?? 0;
    const taken = into.get(host) ?? 0;
    const told = `sends ${rateText(sent)}, receives ${rateText(taken)}`;
    const amount = Math.min(sent, taken);
    const slow = [
      ...(sends.isSlow(sent) ? [`most send ${rateText(sends.usual)}`] : []),
      ...(takes.isSlow(taken) ? [`most receive ${rateText(takes.usual)}`] : []),
      ...pairs.flatMap(({ from, to, rate }) => (from === host ? [`only ${rateText(rate)} to ${to}`] : [])),
    ];
    return slow.length === 0
      ? { ...good('link', told), host, amount }
      : { ...warned('link', `${told}: ${slow.join(', ')}`, lookAtLink), host, amount };
  });
}

/** Links that are much slower than other links of both their nodes. */
export function slowPairs(links: readonly LinkRate[]): LinkRate[] {
  const { out, into } = bestOf(links);
  return links.filter(
    ({ from, to, rate }) => rate < slowAnyhow * Math.min(out.get(from) ?? 0, into.get(to) ?? 0),
  );
}

/** The best rate at which each node sends and receives. */
function bestOf(links: readonly LinkRate[]): { out: Map<string, number>; into: Map<string, number> } {
  const out = new Map<string, number>();
  const into = new Map<string, number>();
  for (const { from, to, rate } of links) {
    out.set(from, Math.max(rate, out.get(from) ?? 0));
    into.set(to, Math.max(rate, into.get(to) ?? 0));
  }
  return { out, into };
}

const lookAtLink =
  'Look at cable, switch port and driver of its interface on the node (ethtool INTERFACE), and at what else uses the network now';

/** A row for each node: what its devices multiply. */
export function judgeDevices(rates: readonly DeviceRate[], row = 'matmul'): CheckResult[] {
  const hosts = [...new Set(rates.map(({ host }) => host))];
  return hosts.map((host) => {
    const own = rates.filter((each) => each.host === host);
    const slow: string[] = [];
    for (const { device, kind, rate } of own) {
      const { usual, isSlow } = slowOf(rates.filter((each) => each.kind === kind).map((each) => each.rate));
      if (isSlow(rate)) slow.push(`${device} is slow: most have ${flopsText(usual)}`);
    }
    const told = own.map(({ device, rate }) => `${device} ${flopsText(rate)}`).join(', ');
    const amount = Math.min(...own.map(({ rate }) => rate));
    return slow.length === 0
      ? { ...good(row, told), host, amount }
      : { ...warned(row, `${told}; ${slow.join(', ')}`, lookAtDevice), host, amount };
  });
}

/** What one reader read of a node's data: bytes, files, and seconds that took. */
export interface ReadSample {
  host: string;
  bytes: number;
  files: number;
  seconds: number;
}

/** A row for each node: how fast it reads its data. */
export function judgeReads(samples: readonly ReadSample[]): CheckResult[] {
  const rates = samples.map(({ bytes, seconds }) => (seconds > 0 ? bytes / seconds : 0));
  const { usual, isSlow } = slowOf(rates);
  return samples.map(({ host, files, bytes }, at) => {
    const rate = rates[at] ?? 0;
    const told = `${bytesRate(rate)} by one reader, ${files} ${files === 1 ? 'file' : 'files'}`;
    const row = 'read rate';
    if (bytes === 0) return { ...warned(row, 'there is nothing to read', 'Put the data there'), host };
    const judged = isSlow(rate)
      ? warned(row, `${told}: most have ${bytesRate(usual)}`, lookAtDisk)
      : good(row, told);
    return { ...judged, host, amount: rate };
  });
}

const lookAtDisk =
  'Look at what else uses its disk or file server now (iostat, nfsstat), or stage the data to the node';

const bytesRate = (rate: number): string =>
  rate >= 1e9 ? `${(rate / 1e9).toFixed(1)} GB/s` : `${(rate / 1e6).toFixed(0)} MB/s`;

const lookAtDevice =
  'Look at what else computes there, at power limits, heat and clocks, and at the limits of its control group';

const flopsText = (rate: number): string =>
  rate >= 1 ? `${rate.toFixed(1)} TFLOP/s` : `${(rate * 1000).toFixed(0)} GFLOP/s`;

/** Of bytes a second, as networks are sold. */
function rateText(rate: number): string {
  const bits = rate * 8;
  return bits >= 1e9 ? `${(bits / 1e9).toFixed(1)} Gbit/s` : `${(bits / 1e6).toFixed(0)} Mbit/s`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? 0) + high) / 2;
}

/**
 * Rounds of disjoint pairs, as a tournament has them: each of `count` meets another one in each
 * round, and after `count - 1` rounds (`count` where it is odd) all others.
 */
export function roundsOf(count: number, most: number): [number, number][][] {
  const even = count + (count % 2);
  const rounds = Math.min(even - 1, most);
  return Array.from({ length: Math.max(0, rounds) }, (_, round) =>
    Array.from({ length: even / 2 }, (_, pair): [number, number] => {
      const turned = (place: number): number => (place === 0 ? 0 : ((place - 1 + round) % (even - 1)) + 1);
      return [turned(pair), turned(even - 1 - pair)];
    }).filter(([a, b]) => a < count && b < count),
  );
}
