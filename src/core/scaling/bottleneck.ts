// What holds a cluster back, by what was measured: the greatest of the losses has the name.
import { plural } from '../base/plural.js';
import { namesText } from '../model/hosts/nodeNames.js';
import { findSlowRanks, slowRanksName, slowRanksReason, type SlowRanks } from '../model/hosts/slowRanks.js';
import { replicasOnHost, replicasOnMachine } from './links.js';
import { computeMs, scaledSeries, type ScalingPoint } from './series.js';

/** The names of what can hold a training back. */
type BottleneckKind = 'input' | 'link' | 'slowRank' | 'batch' | 'cores' | 'none';

/** Fractions of the images/s that could be, each on its own: 0 to 1. */
type Losses = Record<Exclude<BottleneckKind, 'none'>, number>;

/** The greatest loss, in words, with the figures that say so. */
export interface Bottleneck {
  kind: BottleneckKind;
  /** One sentence each: what it is, and what would help. */
  words: string;
  advice: string;
  evidence: string[];
  losses: Losses;
}

/** One replica with a batch of another size. */
export interface BatchProbe {
  batch: number;
  imagesPerSec: number;
}

/** A loss below this is no bottleneck. */
const worthNaming = 0.12;

const percent = (fraction: number): string => `${Math.round(100 * fraction)}%`;
const ms = (value: number): string => `${value.toPrecision(3)} ms`;

/**
 * Looks at the point with the most replicas, of weak scaling where there is one, beside the one
 * with the fewest. `probe`: one replica with a larger batch. Undefined without points.
 */
export function findBottleneck(
  points: readonly ScalingPoint[],
  probe: BatchProbe | null,
): Bottleneck | undefined {
  const weak = scaledSeries(points, 'weak');
  const series = weak.length > 0 ? weak : scaledSeries(points, 'strong');
  const first = series[0]?.point;
  const last = series.at(-1);
  if (!first || !last) return undefined;
  const found = findSlowRanks(last.point.ranks ?? []);
  // Where a replica alone waits for images, some wait longer than others by chance.
  const slow = found?.why === 'input' && isHungry(first) ? undefined : found;
  const losses = lossesOf({ first, last: last.point, probe, slow });
  const [kind, loss] = Object.entries(losses).reduce((a, b) => (b[1] > a[1] ? b : a)) as [
    keyof Losses,
    number,
  ];
  if (loss < worthNaming) {
    return {
      kind: 'none',
      words: 'Nothing holds the training back by much.',
      advice: 'More replicas are worth their price as long as the efficiency stays as it is.',
      evidence: [
        `${plural(last.point.replicas, 'replica')} ${last.point.replicas === 1 ? 'has' : 'have'} ${percent(last.efficiency.median)} of the ideal images/s.`,
        `The greatest loss, ${named[kind]}, is ${percent(loss)}.`,
      ],
      losses,
    };
  }
  return { kind, losses, ...wordsOf(kind, { first, last: last.point, probe, slow }, loss) };
}

const named: Record<keyof Losses, string> = {
  input: 'waits for images',
  link: 'the link between replicas',
  slowRank: 'a slow rank',
  batch: 'a small batch',
  cores: 'too few cores',
};

/** What the losses are found by. */
interface Measured {
  first: ScalingPoint;
  last: ScalingPoint;
  probe: BatchProbe | null;
  /** Of the last point, where its ranks said enough. */
  slow: SlowRanks | undefined;
}

function lossesOf({ first, last, probe, slow }: Measured): Losses {
  const step = last.stepMs.median;
  const waited = last.waits.communication * step;
  const grown = last.mode === 'weak' ? Math.max(0, computeMs(last) - computeMs(first)) : 0;
  const crowded = isCrowded(last);
  // What a slow rank takes longer the others wait for. Rank 0, whose waits these are, may be it.
  const slowMs = crowded ? 0 : Math.min(step, slow?.moreMs ?? 0);
  const isFirst = slow?.ranks.includes(0) === true;
  const forSlow = isFirst ? 0 : Math.min(waited, slowMs);
  const alone = last.replicas > 1 ? (last.allReduceMs ?? waited) : 0;
  const link = Math.min(waited - forSlow, alone);
  // On cores that are shared, ranks wait for those that have none just then.
  const forOthers = Math.max(0, waited - link);
  // Where a replica alone waits for images, the others wait for theirs, and rank 0 for them.
  const hungry = isHungry(first) ? forOthers - forSlow : 0;
  const ownInput = isFirst && slow.why === 'input' ? slowMs : 0;
  return {
    input: Math.max(0, last.waits.input - ownInput / step) + (crowded ? 0 : hungry / step),
    link: crowded ? 0 : link / step,
    slowRank: crowded ? 0 : Math.max(grown + forOthers - hungry, slowMs) / step,
    batch: batchLoss(first, probe),
    cores: crowded ? (grown + waited) / step : 0,
  };
}

const isHungry = ({ waits }: ScalingPoint): boolean => waits.input >= worthNaming;

/** Whether the ranks of a machine have fewer cores than threads. */
function isCrowded(point: ScalingPoint): boolean {
  return point.cores !== null && replicasOnMachine(point) * point.threads > point.cores;
}

/** How much of the larger batch's images/s one replica misses. */
function batchLoss(first: ScalingPoint, probe: BatchProbe | null): number {
  if (!probe || probe.batch <= first.batch || first.replicas !== 1) return 0;
  return Math.max(0, 1 - first.imagesPerSec.median / probe.imagesPerSec);
}

function wordsOf(
  kind: keyof Losses,
  { first, last, probe, slow }: Measured,
  loss: number,
): Pick<Bottleneck, 'words' | 'advice' | 'evidence'> {
  const part = `${percent(loss)} of a step with ${plural(last.replicas, 'replica')}`;
  const step = `A step takes ${ms(last.stepMs.median)}.`;
  switch (kind) {
    case 'input':
      return {
        words: `The training waits for images: ${part}.`,
        advice:
          'More loader threads, smaller or prepared images, a cache in memory, or a faster disk would help.',
        evidence: [
          step,
          `Of it, ${ms(last.waits.input * last.stepMs.median)} are waits of rank 0 for images.`,
          `With ${plural(first.replicas, 'replica')} ${percent(first.waits.input)} of a step are such waits.`,
        ],
      };
    case 'link':
      return {
        ...linkWords(last, part),
        evidence: [
          `${step} Of it, ${ms(last.waits.communication * last.stepMs.median)} are waits for other replicas.`,
          last.allReduceMs === null
            ? 'How long an all-reduce alone takes was not measured.'
            : `An all-reduce of ${(last.gradientBytes / 1e6).toFixed(2)} MB alone takes ${ms(last.allReduceMs)}.`,
        ],
      };
    case 'slowRank':
      return {
        ...slowWords({ first, last, slow }, part),
        evidence: [
          `${step} Rank 0 waits ${ms(last.waits.communication * last.stepMs.median)} for others.`,
          ...(last.allReduceMs === null ? [] : [`An all-reduce alone takes ${ms(last.allReduceMs)}.`]),
          ...(slow ? [slowEvidence(slow)] : []),
          `Rank 0 computes for ${ms(computeMs(last))}, and for ${ms(computeMs(first))} with ${first.replicas}.`,
        ],
      };
    case 'batch':
      return {
        words: `The batch of ${first.batch} is too small to keep a replica busy: ${percent(loss)} of what it could do are lost.`,
        advice: 'A larger batch would help; the learning rate then changes too.',
        evidence: [
          `With ${first.batch} images a batch one replica makes ${first.imagesPerSec.median.toFixed(1)} images/s.`,
          `With ${probe?.batch ?? 0} it makes ${(probe?.imagesPerSec ?? 0).toFixed(1)} images/s.`,
        ],
      };
    case 'cores':
      return {
        words: `There are more ranks than cores on a host: ${part} is lost to that.`,
        advice: 'Fewer ranks on a host, or fewer threads each, would help.',
        evidence: [
          `${replicasOnMachine(last)} ranks with ${last.threads} threads each share ${last.cores ?? 0} cores.`,
          `Rank 0 computes for ${ms(computeMs(last))} a step, and for ${ms(computeMs(first))} with ${first.replicas}.`,
        ],
      };
  }
}

/** On one machine nothing of it goes over a network. */
function linkWords(last: ScalingPoint, part: string): Pick<Bottleneck, 'words' | 'advice'> {
  if ((last.machines ?? last.hosts) > 1) {
    return {
      words: `The link between the replicas holds them up: ${part}.`,
      advice: 'A faster network, a larger batch, or fewer updates by accumulation would help.',
    };
  }
  return {
    words: `The exchange between the processes of the one machine holds them up: ${part}.`,
    advice: 'A larger batch, fewer updates by accumulation, or fewer replicas would help.',
  };
}

/** What would help where all replicas compute longer than one alone. */
function shareAdvice(last: ScalingPoint): string {
  if (replicasOnHost(last) > 1) {
    return 'The replicas of a node share its memory and its power. Try fewer of them on a node.';
  }
  return replicasOnMachine(last) > 1
    ? 'The nodes are on one machine, and share its memory and its power. Nodes on machines of their own would help.'
    : 'Each node has one replica. Look at what else runs on the nodes, and how fast their CPUs are under load.';
}

/** Which one is slow, as far as the ranks say. */
function slowWords(
  { first, last, slow }: Omit<Measured, 'probe'>,
  part: string,
): Pick<Bottleneck, 'words' | 'advice'> {
  if (slow) {
    const who = slowRanksName(slow);
    const all = `all wait for ${slow.ranks.length === 1 ? 'it' : 'them'}`;
    return {
      words: `${who.charAt(0).toUpperCase()}${who.slice(1)} ${slowRanksReason(slow)}, and ${all}: ${part}.`,
      advice: `Look at what else runs on ${namesText(slow.hosts)}, and leave it out where it stays slow.`,
    };
  }
  const isOther = last.waits.communication * last.stepMs.median > computeMs(last) - computeMs(first);
  const leaveOut = 'Look at what else runs on each node, and leave the slow one out.';
  if (!last.ranks || last.ranks.length < 2) {
    return {
      words: `${isOther ? 'One replica is slower than the others, and all wait for it' : 'The replica on the first node computes longer than it does alone'}: ${part}.`,
      advice: leaveOut,
    };
  }
  // Every rank has said how long it takes, and none stands out.
  return isOther
    ? {
        words: `The replicas each wait in turn, and none is always the slow one: ${part}.`,
        advice: 'Look at what else runs on the nodes.',
      }
    : {
        words: `All replicas compute longer than one does alone: ${part}.`,
        advice: shareAdvice(last),
      };
}

function slowEvidence(slow: SlowRanks): string {
  const who = slowRanksName(slow);
  const one = slow.ranks.length === 1;
  const verb =
    slow.why === 'compute' ? (one ? 'computes' : 'compute') : `${one ? 'waits' : 'wait'} for images`;
  return `${who.charAt(0).toUpperCase()}${who.slice(1)} ${verb} for ${ms(slow.ms)} a step, the others for ${ms(slow.othersMs)} (medians).`;
}
