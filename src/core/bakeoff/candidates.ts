// Which settings of a training a bake-off tries: what the trainer has, without what cannot be or
// comes to the same, each with its reason.
import { UserError } from '../base/errors.js';
import { nearestOf } from '../base/nearest.js';
import { plural } from '../base/plural.js';
import { flagValue } from '../plan/request/flagValue.js';
import type { TrainerFlag } from '../plan/request/trainerHelp.js';

/** One way to run the training. */
export interface Candidate {
  ranks: number;
  /** Of the trainer, beside those of the training itself. */
  flags: string[];
}

/** Something that is not tried, and why. */
export interface LeftOut {
  what: string;
  why: string;
}

/** What can be tried. The last two change what is learned, so they are tried only where asked for. */
export const triable = [
  ...(['ranks', 'threads', 'strategy', 'allreduce', 'bucket-size'] as const),
  ...(['gradient-type', 'async'] as const),
] as const;
type Triable = (typeof triable)[number];

/** What is tried where nobody says. */
export const usuallyTried: readonly Triable[] = triable.slice(0, 5);

/** Where the ranks would be. */
export interface RankLimits {
  /** Numbers of ranks to try. */
  ranks: readonly number[];
  /** Ranks that a node takes. */
  slots: number;
  /** Of a node. */
  cores: number;
}

/** MiB, beside the trainer's own. */
const bucketSizes = ['0.25', '1', '16'];

/** `ranks,allreduce`. UserError (usage) for what cannot be tried. */
export function triedOf(text: string): Triable[] {
  const words = text.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !triable.some((known) => known === word));
  if (unknown === undefined) return triable.filter((known) => words.includes(known));
  const nearest = nearestOf(unknown, triable);
  const hint = nearest === undefined ? `Choose of ${triable.join(', ')}` : `Did you mean ${nearest}?`;
  throw new UserError('usage', `a bake-off cannot try "${unknown}"`, hint);
}

/** For people: `2 ranks, 1 thread, allreduce ring`. */
export function candidateName({ ranks, flags }: Candidate): string {
  const parts = [plural(ranks, 'rank')];
  for (let at = 0; at < flags.length; at += 2) {
    const [flag = '', value = ''] = [flags[at]?.replace(/^-+/, ''), flags[at + 1]];
    if (flag === 'threads') parts.push(plural(Number(value), 'thread'));
    else if (flag === 'bucket-size') parts.push(`buckets of ${value} MiB`);
    else parts.push(`${flag} ${value}`);
  }
  return parts.join(', ');
}

/**
 * All candidates, the most usual ones first. `words`: the training, whose own flags are not tried.
 * `flags`: those of the trainer.
 */
export function candidatesOf(
  words: readonly string[],
  flags: readonly TrainerFlag[],
  limits: RankLimits,
  tried: readonly Triable[] = usuallyTried,
): { candidates: Candidate[]; leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const skip = (what: string, why: string): void => {
    if (!leftOut.some((each) => each.what === what && each.why === why)) leftOut.push({ what, why });
  };
  const choices = new Choices(words, flags, tried, skip);
  const counts = tried.includes('ranks')
    ? [...limits.ranks].sort((a, b) => b - a)
    : [Math.max(...limits.ranks)];
  const candidates = counts.flatMap((ranks) => {
    const onNode = Math.min(ranks, limits.slots);
    const sums = choices.sums(ranks, onNode);
    return choices
      .threads(Math.max(1, Math.floor(limits.cores / onNode)))
      .flatMap((threads) => sums.map((sum) => ({ ranks, flags: [...threads, ...sum] })));
  });
  const unusual = ({ flags: own }: Candidate): number => own.length;
  return { candidates: candidates.sort((a, b) => unusual(a) - unusual(b)), leftOut };
}

/** The values of each flag that a training leaves open. */
class Choices {
  constructor(
    private readonly words: readonly string[],
    private readonly flags: readonly TrainerFlag[],
    private readonly tried: readonly Triable[],
    private readonly skip: (what: string, why: string) => void,
  ) {}

  /** `most`: a thread for each core that a rank has. */
  threads(most: number): string[][] {
    if (flagValue(this.words, '--device') === 'cuda') {
      if (this.tried.includes('threads')) this.skip('threads', 'GPUs compute, not threads');
      return [[]];
    }
    if (!this.open('threads')) return [[]];
    this.skip(`more than ${plural(most, 'thread')} a rank`, 'there are not more cores for each rank');
    const counts = most > 1 ? [most, Math.floor(most / 2)] : [most];
    return counts.map((count) => ['--threads', String(count)]);
  }

  /** How ranks add up gradients. */
  sums(ranks: number, onNode: number): string[][] {
    if (ranks === 1) {
      this.skip('strategies, all-reduce kinds and bucket sizes with 1 rank', 'one rank adds up nothing');
      return [[]];
    }
    if (flagValue(this.words, '--comm') === 'none') {
      this.skip('strategies, all-reduce kinds and bucket sizes', 'the ranks do not talk');
      return [[]];
    }
    const strategy = flagValue(this.words, '--strategy') ?? 'auto';
    const alike = ['auto', 'mirrored', 'multi-worker'].includes(strategy);
    const kinds = alike && this.open('allreduce') ? this.allReduceKinds(ranks, onNode) : [[]];
    const inBuckets = !strategy.startsWith('parameter-server');
    const sizes = inBuckets && this.open('bucket-size') ? this.bucketSizes() : [[]];
    const types = alike && this.open('gradient-type') ? this.pairs('--gradient-type') : [[]];
    const usual = kinds.flatMap((kind) =>
      sizes.flatMap((size) => types.map((type) => [...kind, ...size, ...type])),
    );
    return [...usual, ...this.strategies()];
  }

  private allReduceKinds(ranks: number, onNode: number): string[][] {
    const hosts = Math.ceil(ranks / onNode);
    return this.pairs('--allreduce').filter(([, kind]) => {
      if (kind !== 'hierarchical' || flagValue(this.words, '--device') === 'cuda') return true;
      if (hosts === 1) this.skip('allreduce hierarchical on one node', 'it is for several nodes');
      else if (onNode === 1) this.skip('allreduce hierarchical with one rank a node', 'it is the ring then');
      else this.skip('allreduce hierarchical on several nodes', 'it is what auto takes there');
      return false;
    });
  }

  private bucketSizes(): string[][] {
    return this.flags.some(({ name }) => name === '--bucket-size')
      ? [[], ...bucketSizes.map((size) => ['--bucket-size', size])]
      : [[]];
  }

  private strategies(): string[][] {
    if (!this.open('strategy')) return [];
    const why = this.whyMirrored();
    return this.pairs('--strategy').filter(([, kind = 'auto']) => {
      if (kind === 'auto') return false; // it is among the usual ones
      if (kind === 'mirrored' || kind === 'multi-worker') this.skip(`strategy ${kind}`, 'auto takes it');
      else if (why !== undefined) this.skip(`strategy ${kind}`, why);
      else if (kind === 'parameter-server-async' && !this.tried.includes('async')) {
        this.skip(`strategy ${kind}`, 'it learns otherwise; it is tried where async is asked for');
      } else return true;
      return false;
    });
  }

  /** What of the training no other strategy can have. */
  private whyMirrored(): string | undefined {
    if (flagValue(this.words, '--precision') === 'fp16') return 'fp16 needs the gradients on every rank';
    const own = ['--allreduce', '--gradient-type', '--bucket-size'].find(
      (flag) => flagValue(this.words, flag) !== undefined,
    );
    if (own !== undefined) return `the training names ${own.slice(2)}, which it has no use for`;
    return flagValue(this.words, '--comm') === 'nccl' ? 'NCCL sums for mirrored alone' : undefined;
  }

  /** The flag with each of its choices; nothing for its default. */
  private pairs(name: string): string[][] {
    const flag = this.flags.find((each) => each.name === name);
    if (!flag) return [[]];
    return [[], ...flag.choices.filter((choice) => choice !== flag.initial).map((choice) => [name, choice])];
  }

  /** Whether a flag is to be tried, and not given by the training. */
  private open(what: Triable): boolean {
    if (!this.tried.includes(what)) return false;
    if (flagValue(this.words, `--${what}`) === undefined) return true;
    this.skip(`another ${what}`, 'the training names its own');
    return false;
  }
}

/**
 * Why a candidate comes to the same as an earlier one, where all gradients are `gradientBytes`: a
 * bucket that holds all of them, or the trainer's own that does. Undefined where it differs.
 */
export function sameAsUsual({ flags }: Candidate, gradientBytes: number): string | undefined {
  const size = flagValue(flags, '--bucket-size');
  const usual = 4 * 2 ** 20;
  if (size === undefined || Number(size) * 2 ** 20 < gradientBytes || usual < gradientBytes) return undefined;
  return `a bucket of 4 MiB holds all ${(gradientBytes / 2 ** 20).toFixed(2)} MiB of the gradients too`;
}
