// Which rank the others wait for, by what every rank says of its own steps.
import { quantile } from '../../base/quantile.js';
import type { HostLine, StartLine } from '../../contracts/metricsSchema.js';
import { namesText } from './nodeNames.js';

/** Of one rank over one interval: medians a step, in milliseconds. */
export interface RankTimes {
  rank: number;
  host: string;
  device: string;
  /** Without the waits. */
  computeMs: number;
  /** Waits for other ranks. */
  commMs: number;
  /** Waits for images. */
  inputMs: number;
}

/** Ranks that are slower than the others, and by how much. */
export interface SlowRanks {
  /** Rising. */
  ranks: readonly number[];
  hosts: readonly string[];
  why: 'compute' | 'input';
  /**
   * Of computing, or of waits for images: medians over these ranks and over the others, ms a step.
   */
  ms: number;
  othersMs: number;
  /** By which a step of theirs is longer, waits for other ranks left out: ms. */
  moreMs: number;
}

/** So much longer than the others is slow, as a fraction of what they take. */
const slowFrom = 0.25;
/** Less than this part of a step is not worth a word, nor are so many milliseconds. */
const worthNaming = 0.1;
const leastMs = 1;

const ownMs = ({ computeMs, inputMs }: RankTimes): number => computeMs + inputMs;
const median = (values: readonly number[]): number => quantile(values, 0.5);

/** What a line says of its rank's steps; undefined where it says nothing. */
export function rankTimesOf(line: HostLine): RankTimes | undefined {
  const { rank, host, device, compute_ms: computeMs, comm_ms: commMs, input_wait_ms: inputMs } = line;
  if (computeMs === undefined || commMs === undefined || inputMs === undefined) return undefined;
  return { rank, host, device, computeMs, commMs, inputMs };
}

/** Rank 0 of central storage makes the update for all, and computes longer for it. */
export const isLikeOthers = (rank: number, start: Pick<StartLine, 'strategy'> | undefined): boolean =>
  rank > 0 || start?.strategy !== 'central-storage';

/**
 * Ranks of which each needs 25% longer than the lower median of all. At most half of the ranks are
 * that. Where ranks share cores, some of a host always get less than the others. So several ranks
 * on CPUs are slow only as all ranks of their hosts. Undefined where none stand out.
 */
export function findSlowRanks(all: readonly RankTimes[]): SlowRanks | undefined {
  if (all.length < 2) return undefined;
  const usual = [...all].map(ownMs).sort((a, b) => a - b)[(all.length - 1) >> 1] ?? 0;
  const isSlow = (times: RankTimes): boolean => {
    const more = ownMs(times) - usual;
    const step = ownMs(times) + times.commMs;
    return more >= Math.max(leastMs, slowFrom * usual, worthNaming * step);
  };
  const slow = all.filter(isSlow);
  const others = all.filter((times) => !isSlow(times));
  if (slow.length === 0 || (slow.length > 1 && !standOut(slow, others))) return undefined;
  const of = (times: readonly RankTimes[], pick: (one: RankTimes) => number): number =>
    median(times.map(pick));
  const compute = { ms: of(slow, (one) => one.computeMs), othersMs: of(others, (one) => one.computeMs) };
  const input = { ms: of(slow, (one) => one.inputMs), othersMs: of(others, (one) => one.inputMs) };
  const isInput = input.ms - input.othersMs > compute.ms - compute.othersMs;
  return {
    ranks: slow.map(({ rank }) => rank).sort((a, b) => a - b),
    hosts: [...new Set(slow.map(({ host }) => host))],
    why: isInput ? 'input' : 'compute',
    ...(isInput ? input : compute),
    moreMs: of(slow, ownMs) - of(others, ownMs),
  };
}

/** Whether several slow ranks are no matter of shared cores. */
function standOut(slow: readonly RankTimes[], others: readonly RankTimes[]): boolean {
  if (slow.every(({ device }) => device !== 'cpu')) return true;
  const hosts = new Set(others.map(({ host }) => host));
  return slow.every(({ host }) => !hosts.has(host));
}

/** `rank 1 on gpu2`, `ranks 8-15 on gpu2`. */
export function slowRanksName({ ranks, hosts }: SlowRanks): string {
  return `${ranks.length === 1 ? 'rank' : 'ranks'} ${namesText(ranks.map(String))} on ${namesText(hosts)}`;
}

/**
 * `computes 96% longer than the median of the others`. Beside waits of almost nothing a percentage
 * says nothing, and there are milliseconds: `waits for images 41 ms a step longer than …`.
 */
export function slowRanksReason({ ranks, why, ms, othersMs }: SlowRanks): string {
  const one = ranks.length === 1;
  const verb = why === 'compute' ? (one ? 'computes' : 'compute') : `${one ? 'waits' : 'wait'} for images`;
  const times = ms / othersMs;
  const more =
    othersMs >= leastMs && times <= 11
      ? `${Math.round(100 * (times - 1))}%`
      : `${Number((ms - othersMs).toPrecision(2))} ms a step`;
  return `${verb} ${more} longer than the median of the others`;
}

/** Over several intervals: medians of the figures of one rank. */
export function medianTimes(times: readonly [RankTimes, ...RankTimes[]]): RankTimes {
  const [{ rank, host, device }] = times;
  const of = (pick: (one: RankTimes) => number): number => median(times.map(pick));
  return {
    ...{ rank, host, device },
    computeMs: of(({ computeMs }) => computeMs),
    commMs: of(({ commMs }) => commMs),
    inputMs: of(({ inputMs }) => inputMs),
  };
}

/** Looks in a row that make ranks slow, and looks in a row that end it. */
const slowAfter = 5;
const overAfter = 3;
/** A look is at one interval, or at so many as make this many seconds; at this many at most. */
const lookSeconds = 1;
const mostIntervals = 64;

type Times = [RankTimes, ...RankTimes[]];

const keyOf = (slow: SlowRanks | undefined): string => slow?.ranks.join(',') ?? '';

/** Says of one generation whether ranks are slow for good: a slow interval or two say nothing. */
export class SlowRankWatch {
  private generation: number | undefined;
  private start: StartLine | undefined;
  /** The interval whose lines come just now. */
  private step: number | undefined;
  private heard = new Set<number>();
  /** When the look began, seconds since the epoch, and its intervals. */
  private since: number | undefined;
  private intervals = 0;
  private times = new Map<number, Times>();
  /** Of the newest looks, at most `slowAfter`. */
  private looks: (SlowRanks | undefined)[] = [];
  private held: SlowRanks | undefined;
  private ended: { slow: SlowRanks; time: number } | undefined;

  /** A generation begins; without its start line where that is missing. */
  begin(start?: StartLine): void {
    this.generation = start?.generation;
    this.start = start;
    this.step = this.since = undefined;
    this.forgetTimes();
    this.looks = [];
    this.held = this.ended = undefined;
  }

  /** Lines in the order of the file. */
  push(line: HostLine): void {
    if (line.generation < (this.generation ?? line.generation)) return;
    this.generation = line.generation;
    const times = rankTimesOf(line);
    if (!times) return;
    this.since ??= line.time;
    if (this.step !== undefined && this.step !== line.step) this.endInterval(line.time);
    this.step = line.step;
    this.heard.add(line.rank);
    const known = this.times.get(line.rank);
    if (known) known.push(times);
    else this.times.set(line.rank, [times]);
    if (this.heard.size === this.start?.world) this.endInterval(line.time);
  }

  /** Ranks that are slow now. */
  get now(): SlowRanks | undefined {
    return this.held;
  }

  /** Those that were slow, and are no longer since `time` (seconds since the epoch). */
  get over(): { slow: SlowRanks; time: number } | undefined {
    return this.ended;
  }

  private endInterval(time: number): void {
    this.step = undefined;
    this.heard.clear();
    this.intervals++;
    if (time - (this.since ?? time) < lookSeconds && this.intervals < mostIntervals) return;
    const ranks = [...this.times.values()].filter(([{ rank }]) => isLikeOthers(rank, this.start));
    const slow = findSlowRanks(ranks.map(medianTimes));
    this.since = time;
    this.forgetTimes();
    this.looks = [...this.looks, slow].slice(-slowAfter);
    this.decide(time);
  }

  private decide(time: number): void {
    const { held, looks } = this;
    const newest = looks.at(-1);
    if (held && looks.slice(-overAfter).every((look) => keyOf(look) !== keyOf(held))) {
      this.held = undefined;
      this.ended = { slow: held, time };
    } else if (held && newest && keyOf(newest) === keyOf(held)) this.held = newest;
    if (this.held || !newest || looks.length < slowAfter) return;
    if (looks.some((look) => keyOf(look) !== keyOf(newest))) return;
    this.held = newest;
    this.ended = undefined;
  }

  private forgetTimes(): void {
    this.intervals = 0;
    this.heard.clear();
    this.times = new Map();
  }
}
