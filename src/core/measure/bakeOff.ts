// A bake-off: which settings of a training make most images/s, found by short runs on the profile
// within a time. They are ordinary runs, one after the other.
import { errorText, isCancelled, throwIfCancelled } from '../base/errors.js';
import { plural } from '../base/plural.js';
import type { Progress } from '../base/progress.js';
import { candidateName, sameAsUsual, type Candidate, type LeftOut } from '../bakeoff/candidates.js';
import { halve, medianOf, roomFor, roundsOf, secondsEach } from '../bakeoff/halving.js';
import { gradientBytesOf, ratesOf, trainedFor } from '../bakeoff/rates.js';
import {
  cancelledNow,
  reopened,
  slower,
  untried,
  withWinner,
  type BakeOffResult,
  type CandidateResult,
} from '../bakeoff/result.js';
import type { NodePath } from '../base/nodePath.js';
import { bakeOffName, bakeOffTag, endlessSteps } from '../model/measured.js';
import type { StartLine } from '../contracts/metricsSchema.js';
import { longestName } from '../plan/request/about.js';
import { spreadOf } from '../scaling/series.js';
import { commandOf, endLeftRun, shortRun, type AskedShortRun, type RunPlace } from './shortRun.js';

/** What is tried, where, for how long, and who hears of it. */
export interface BakeOffOptions extends RunPlace, Progress {
  /** The training without its length (`measuredWords`). */
  words: string[];
  candidates: readonly Candidate[];
  leftOut: LeftOut[];
  /** All runs together. */
  seconds: number;
  /** One of the same training and candidates that was ended: it goes on, with what it measured. */
  earlier?: BakeOffResult | undefined;
  /** 1: every candidate once, for the same time. Left out: as many as halving takes. */
  rounds?: number;
  /** After each run, with all of them. */
  onResult: (result: BakeOffResult) => Promise<void>;
  /** Of an error, in the words of a user interface. */
  errorWords?: (error: unknown) => string;
}

/** Of a run that is no training, in seconds, until one was measured. */
const usualOverhead = 3;
/**
 * Seconds after which a run that is to train for so long stops by itself, if nobody else stops it.
 */
const limitFor = (seconds: number): number => Math.ceil(600 + 10 * seconds);
/** A run is stopped once it has trained for long enough. */
const endless = ['--steps', String(endlessSteps), '--log-every', '1'];

/** The result, also where `signal` ends it. Rejects only where the result cannot be handed on. */
export async function bakeOff(options: BakeOffOptions): Promise<BakeOffResult> {
  return new BakeOff(options).run();
}

class BakeOff {
  private result: BakeOffResult;
  private readonly begun = performance.now();
  /** Seconds that it took before it was ended. */
  private readonly before: number;
  private readonly overheads: number[] = [];
  private gradientBytes: number | undefined;

  constructor(private readonly options: BakeOffOptions) {
    const { profile, words, candidates, leftOut, seconds, earlier } = options;
    this.before = earlier?.spent ?? 0;
    this.result = {
      ...{ version: 1, profile: profile.name, words, created: Date.now() / 1000, spent: 0 },
      ...{ model: null, device: null, rounds: [], running: null, cancelled: false },
      candidates: candidates.map((one) => untried(one, commandOf(profile, asked(words, one)))),
      ...(earlier ? reopened(earlier) : {}),
      ...{ budget: seconds, leftOut },
    };
  }

  async run(): Promise<BakeOffResult> {
    const rounds = this.options.rounds ?? roundsOf(this.result.candidates.length);
    const first = Math.max(1, this.result.rounds.length);
    let names = this.result.rounds.at(-1)?.names ?? this.result.candidates.map(({ name }) => name);
    try {
      await this.endLeft();
      for (let round = first; round <= rounds; round++) {
        await this.measureAll(names, round, rounds);
        if (round === rounds) break;
        names = this.halved(names.length);
        if (names.length < 2 || this.left < names.length * (this.overhead + 1)) break;
      }
    } catch (error) {
      if (!isCancelled(error)) throw error;
      this.result = cancelledNow(this.result);
    }
    this.result = withWinner(this.result);
    await this.hand();
    return this.result;
  }

  /** Seconds. */
  private get spent(): number {
    return this.before + (performance.now() - this.begun) / 1000;
  }

  /** Runs that nobody follows any more: also one that was being started when this side was ended. */
  private async endLeft(): Promise<void> {
    const { machine, profile, earlier } = this.options;
    const { running, created } = this.result;
    if (running) await endLeftRun(this.options, running.dir);
    const runs = earlier ? await (await machine.registry(profile)).list() : [];
    for (const { dir, run } of runs) {
      const isOwn = run?.report?.kind === 'bakeoff' && run.report.begun === created;
      if (isOwn) await endLeftRun(this.options, dir);
    }
    this.result = { ...this.result, running: null };
  }

  private get left(): number {
    return this.options.seconds - this.spent;
  }

  private get overhead(): number {
    return this.overheads.length === 0 ? usualOverhead : medianOf(this.overheads).median;
  }

  /** Images/s of the best so far; 0 where all are to be measured alike. */
  private get bestRate(): number {
    if (this.options.rounds === 1) return 0;
    const sound = this.result.candidates.filter(
      ({ rates, outcome }) => rates.length > 0 && outcome !== 'failed',
    );
    return Math.max(0, ...sound.map(({ rates }) => medianOf(rates).median));
  }

  private async measureAll(names: readonly string[], round: number, rounds: number): Promise<void> {
    const ends = this.spent + this.left / (rounds - round + 1);
    const each = (runs: number): number => secondsEach(ends - this.spent, 1, runs, this.overhead);
    if (this.result.rounds.length < round) {
      const summary = { candidates: names.length, seconds: each(names.length), names: [...names] };
      this.result = { ...this.result, rounds: [...this.result.rounds, summary] };
    }
    const open = names.filter((name) => this.isOpen(name, round));
    const done = names.length - open.length;
    for (const [at, name] of open.entries()) {
      const one = this.result.candidates.find((candidate) => candidate.name === name);
      if (!one || this.isSame(one)) continue;
      if (this.left < this.overhead + 1) return;
      const what = `round ${round} of ${rounds}, ${done + at + 1} of ${plural(names.length, 'candidate')}`;
      this.options.onProgress?.(`${what}: ${name}`);
      throwIfCancelled(this.options.signal);
      await this.measure(one, round, each(open.length - at));
    }
  }

  /** Whether the candidate has its run of the round before it. */
  private isOpen(name: string, round: number): boolean {
    const one = this.result.candidates.find((candidate) => candidate.name === name);
    return one !== undefined && one.outcome !== 'failed' && !one.runs.some((run) => run.round === round);
  }

  /** Known once a first run told of the gradients. */
  private isSame(one: CandidateResult): boolean {
    if (this.gradientBytes === undefined || one.runs.length > 0) return false;
    const why = sameAsUsual(one, this.gradientBytes);
    if (why === undefined) return false;
    this.change(one, { outcome: 'same', why: `It would be the same: ${why}.` });
    return true;
  }

  private async measure(one: CandidateResult, round: number, seconds: number): Promise<void> {
    const began = this.spent;
    try {
      const words = [...this.options.words, ...endless];
      const place = {
        ...this.options,
        onRun: async (id: string, dir: NodePath) => {
          this.result = { ...this.result, running: { id, dir } };
          await this.hand();
          await this.options.onRun(id, dir);
        },
      };
      const best = one.runs.length === 0 ? this.bestRate : 0; // one that was among the best goes on
      const limits = { enough: trainedFor(seconds, best), timeLimit: limitFor(seconds) };
      const report = { kind: 'bakeoff', begun: this.result.created } as const;
      const run = await shortRun(place, { ...asked(words, one), ...limits, report });
      const trained = run.steps.reduce((sum, { step_ms }) => sum + step_ms, 0) / 1000;
      this.overheads.push(Math.max(0, this.spent - began - trained));
      this.learn(run.start);
      const measured = ratesOf(run.steps, best);
      if (!measured) throw new Error(`it ended after ${plural(run.steps.length, 'step')}, which are too few`);
      const entry = {
        ...{ round, steps: measured.steps, seconds: measured.seconds, run: run.details.id },
        imagesPerSec: spreadOf(measured.rates),
      };
      const rates = [...one.rates, ...measured.rates];
      this.change(one, { runs: [...one.runs, entry], rates, outcome: 'dropped', why: '' });
    } catch (error) {
      if (isCancelled(error)) throw error;
      this.change(one, { outcome: 'failed', why: (this.options.errorWords ?? errorText)(error) });
    }
    this.result = { ...this.result, running: null };
    await this.hand();
  }

  private learn(start: StartLine | undefined): void {
    if (!start) return;
    this.gradientBytes = gradientBytesOf(start);
    this.result = { ...this.result, model: start.model, device: start.device };
  }

  /** Names of those that go on, best first. `ran`: how many ran in this round. */
  private halved(ran: number): string[] {
    const measured = this.result.candidates.filter(
      ({ runs, outcome }) => runs.length > 0 && outcome !== 'failed',
    );
    const of = ({ rates }: CandidateResult): ReturnType<typeof medianOf> => medianOf(rates);
    const { kept, dropped } = halve(measured, of, { ran, most: roomFor(this.left, this.overhead) });
    const [best] = kept;
    for (const { one, level } of dropped) {
      const why = level
        ? 'It was close to those that went on, and there was no time for it.'
        : slower(of(one).median, best ? of(best).median : NaN);
      this.change(one, { outcome: 'dropped', why });
    }
    return kept.map(({ name }) => name);
  }

  private change(one: CandidateResult, change: Partial<CandidateResult>): void {
    const candidates = this.result.candidates.map((each) =>
      each.name === one.name ? { ...each, ...change } : each,
    );
    this.result = { ...this.result, candidates };
  }

  private async hand(): Promise<void> {
    this.result = { ...this.result, spent: this.spent };
    await this.options.onResult(this.result);
  }
}

const asked = (words: readonly string[], { ranks, flags }: Candidate): AskedShortRun => ({
  words: [...words, ...flags],
  ranks,
  name: bakeOffName(candidateName({ ranks, flags })).slice(0, longestName),
  tag: bakeOffTag,
});
