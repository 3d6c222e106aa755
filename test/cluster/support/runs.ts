// Runs as the tests look at them: followed over SSH as the user interfaces do, and their files as
// they lie on the node.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { NodePath } from '../../../src/core/base/nodePath.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { requestOf, type TypedRun } from '../../../src/core/plan/request/request.js';
import { RunFollower } from '../../../src/core/follow/run.js';
import type { RunDetails } from '../../../src/core/contracts/agentApi.js';
import {
  eventSchema,
  stateSchema,
  type RunEvent,
  type RunState,
} from '../../../src/core/contracts/runSchema.js';
import { isOver, statusOf } from '../../../src/core/model/runStatus.js';
import { readLinesSoFar, until, type Line } from '../../support/harness.js';

/** A figure for docs/reliability.md. */
export function measured(row: number, text: string): void {
  process.stdout.write(`fault ${row}: ${text}\n`);
}

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

export const training = (steps: number, ...more: string[]): string[] => [
  ...['train', '--model', 'mlp', '--data', 'synthetic', '--steps', String(steps), '--threads', '1', ...more],
];

/** A training that does not end by itself. */
export const endless = 100_000_000;

export async function startRun(
  machine: SshMachine,
  profile: Profile,
  words: readonly string[],
  more: Pick<TypedRun, 'ranks' | 'nodes' | 'per' | 'requirements' | 'wait' | 'detached'> & {
    runDir?: NodePath;
  } = {},
): Promise<NodePath> {
  return (await machine.start(requestOf({ profile, words, cwd: '/', ...more }))).dir;
}

/** A user interface that stays with a run. */
export class Watcher {
  readonly changes: { change: 'lost' | 'back'; at: number }[] = [];
  /** Of the metrics that arrived. */
  lastStep = 0;
  readonly ended: Promise<RunDetails>;
  private readonly follower: RunFollower;

  constructor(machine: SshMachine, dir: NodePath) {
    this.follower = new RunFollower({ dir, client: () => machine.node.client() });
    this.follower.onConnection((change) => {
      this.changes.push({ change, at: Date.now() });
    });
    this.follower.onMetric(({ value }) => {
      if (value?.kind === 'step') this.lastStep = value.step;
    });
    this.ended = this.follower.follow();
    this.ended.catch(() => undefined); // it is disposed of while it follows
  }

  /** Milliseconds from `since` to the first such change after it. */
  async next(change: 'lost' | 'back', since: number, limit: number): Promise<number> {
    const found = await until(
      `the connection to be ${change}`,
      () => this.changes.find((one) => one.change === change && one.at >= since),
      limit,
    );
    return found.at - since;
  }

  dispose(): void {
    this.follower.dispose();
  }
}

export function stateOf(dir: string): RunState | undefined {
  const path = join(dir, 'state.json');
  return existsSync(path) ? stateSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

export const linesOf = (dir: string, file: string): Line[] =>
  existsSync(join(dir, file)) ? readLinesSoFar(join(dir, file)) : [];

export const eventsOf = (dir: string): RunEvent[] =>
  linesOf(dir, 'events.jsonl').map((line) => eventSchema.parse(line));

/** Resolves with the first event of this kind that `matches`. */
export function untilEvent<K extends RunEvent['kind']>(
  dir: string,
  kind: K,
  limit: number,
  matches: (event: Extract<RunEvent, { kind: K }>) => boolean = () => true,
): Promise<Extract<RunEvent, { kind: K }>> {
  return until(
    `${kind} in ${dir}`,
    () =>
      eventsOf(dir)
        .filter((event): event is Extract<RunEvent, { kind: K }> => event.kind === kind)
        .find(matches),
    limit,
  );
}

export async function detailsOf(machine: SshMachine, dir: NodePath): Promise<RunDetails> {
  return (await machine.node.client()).request('run.get', { dir });
}

export async function untilOver(machine: SshMachine, dir: NodePath, limit = 60): Promise<RunDetails> {
  for (const deadline = Date.now() + limit * 1000; ;) {
    const details = await detailsOf(machine, dir);
    if (isOver(statusOf(details))) return details;
    if (Date.now() > deadline) throw new Error(`${dir} is not over after ${limit} s`);
    await new Promise((wake) => setTimeout(wake, 200));
  }
}

/** Training has written this many steps. */
export const untilStep = (dir: string, step: number, limit = 60): Promise<Line> =>
  until(
    `step ${step} in ${dir}`,
    () =>
      linesOf(dir, 'metrics.jsonl').findLast((line) => line.kind === 'step' && Number(line['step']) >= step),
    limit,
  );
