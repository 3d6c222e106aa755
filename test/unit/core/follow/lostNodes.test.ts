import { afterEach, describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { Cancelled, UserError } from '../../../../src/core/base/errors.js';
import { AgentError } from '../../../../src/core/agent/agentClient.js';
import { agentErrors, type RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { runFileSchema, stateSchema, type RunState } from '../../../../src/core/contracts/runSchema.js';
import { LostNodes, lostNodesOf } from '../../../../src/core/follow/lostNodes.js';
import { stateOf } from '../../support/fakeRun.js';

type NodeState = NonNullable<RunState['nodes']>[number]['state'];

const run = runFileSchema.parse({
  version: 1,
  id: 'r',
  created: 1,
  profile: { name: 'lab', kind: 'ssh' },
  program: 'trainer',
  argv: ['train'],
  ranks: 3,
  threadsPerRank: 1,
  env: {},
  evaluator: null,
  tensorboard: false,
  paths: { trainer: '/t', mpiexec: '/m', agent: '/a', python: '/p', tensorboardServer: '/s' },
  hashes: { trainer: 't', agent: 'a', requirements: 'r' },
  limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 2 },
  launcher: 'manual',
  totalSteps: null,
});

/** A run on gpu1, the head, and on as many more nodes as `others` says states of. */
function entryOf(others: readonly NodeState[], phase: RunState['phase'] = 'running'): RunEntry {
  const nodes = ['joined' as const, ...others].map((state, index) => ({
    host: `gpu${index + 1}`,
    address: `10.0.0.${index + 1}`,
    state,
    since: 1,
  }));
  const state = stateSchema.parse({ ...stateOf(phase), nodes });
  return { id: 'r', dir: nodePath('/w/runs/r'), run, state, interrupted: false };
}

describe('which nodes a client lets join again', () => {
  it('are those that the run has lost, and not its head', () => {
    expect(lostNodesOf(entryOf(['joined', 'lost']))).toEqual(['gpu3']);
    expect(lostNodesOf(entryOf(['lost', 'lost'], 'starting'))).toEqual(['gpu2', 'gpu3']);
    const queued = entryOf(['lost'], 'queued');
    queued.run = { ...run, limits: { ...run.limits, maxRestarts: 0 } };
    expect(lostNodesOf(queued)).toEqual(['gpu2']); // nothing was begun that a restart would repeat
    const entry = entryOf(['joined']);
    entry.state!.nodes![0]!.state = 'lost';
    expect(lostNodesOf(entry)).toEqual([]);
  });

  it('are none that wait for their first join, which is the affair of who starts the run', () => {
    expect(lostNodesOf(entryOf(['waiting', 'joined']))).toEqual([]);
  });

  it.each(['stopping', 'evaluating', 'finished', 'stopped', 'failed'] as const)(
    'are none of a run that is %s',
    (phase) => {
      expect(lostNodesOf(entryOf(['lost'], phase))).toEqual([]);
    },
  );

  it('are none of a run that is interrupted, supervised elsewhere, or not read', () => {
    const entry = entryOf(['lost']);
    expect(lostNodesOf({ ...entry, interrupted: true })).toEqual([]);
    expect(lostNodesOf({ ...entry, elsewhere: 'other' })).toEqual([]);
    expect(lostNodesOf({ ...entry, state: null })).toEqual([]);
    expect(lostNodesOf({ ...entry, run: null })).toEqual([]);
  });

  it.each(['local', 'slurm'] as const)('are none of a profile of kind %s', (kind) => {
    const entry = entryOf(['lost']);
    expect(lostNodesOf({ ...entry, run: { ...run, profile: { name: 'lab', kind } } })).toEqual([]);
  });

  it('are none of a run that never restarts', () => {
    const entry = entryOf(['lost']);
    const limits = { ...run.limits, maxRestarts: 0 };
    expect(lostNodesOf({ ...entry, run: { ...run, limits } })).toEqual([]);
  });
});

const away = new UserError('connection', 'gpu2 does not answer', '');
const lives = new AgentError(agentErrors.badState, '`agent join` lives', 'run.join');

/** Tries of one `LostNodes`, whose clock is set by hand. */
class Trial {
  readonly tried: string[] = [];
  readonly logged: string[] = [];
  readonly signals: AbortSignal[] = [];
  answer: () => Promise<void> = () => Promise.reject(away);
  now = 0;
  readonly lost = new LostNodes({
    joinAgain: (profile, { id }, host, signal) => {
      this.tried.push(`${profile} ${id} ${host} at ${this.now / 1000}`);
      this.signals.push(signal);
      return this.answer();
    },
    logger: { log: (level, text) => this.logged.push(`${level} ${text}`) },
    now: () => this.now,
  });

  /** A look each second for so long, as a client that follows the run has them. */
  async follow(seconds: number, entry: RunEntry): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.lost.saw('lab', entry);
      await Promise.resolve(); // the try that this look began is over
      await Promise.resolve();
      this.now += 1000;
    }
  }
}

const trials: Trial[] = [];
afterEach(() => {
  for (const { lost } of trials.splice(0)) lost.dispose();
});
function trial(): Trial {
  const made = new Trial();
  trials.push(made);
  return made;
}

describe('LostNodes', () => {
  it('tries at once, and each 10 s while the node cannot be reached, logged once', async () => {
    const one = trial();
    await one.follow(25, entryOf(['lost']));
    expect(one.tried).toEqual(['lab r gpu2 at 0', 'lab r gpu2 at 10', 'lab r gpu2 at 20']);
    expect(one.logged).toEqual(['debug r: gpu2 does not join again: gpu2 does not answer.']);
  });

  it('tries once a minute after a quarter of an hour', async () => {
    const one = trial();
    await one.follow(15 * 60 + 1, entryOf(['lost']));
    const before = one.tried.length;
    await one.follow(5 * 60, entryOf(['lost']));
    expect(before).toBe(91);
    expect(one.tried.length - before).toBe(5);
  });

  it('tries ever more seldom where the node refuses, as one whose `agent join` lives', async () => {
    const one = trial();
    one.answer = () => Promise.reject(lives);
    await one.follow(200, entryOf(['lost']));
    expect(one.tried.map((text) => text.split(' at ')[1])).toEqual(['0', '20', '60', '120', '180']);
    expect(one.logged).toEqual(['info r: gpu2 does not join again: `agent join` lives']);
  });

  it('tries nothing while a try is under way, nor once the node has joined', async () => {
    const one = trial();
    let end = (): void => undefined;
    one.answer = () => new Promise((resolve) => (end = resolve));
    await one.follow(60, entryOf(['lost']));
    expect(one.tried).toEqual(['lab r gpu2 at 0']);
    end();
    await one.follow(60, entryOf(['joined']));
    expect(one.tried).toHaveLength(1);
    one.answer = () => Promise.resolve();
    await one.follow(1, entryOf(['lost'])); // once more
    expect(one.tried).toHaveLength(2);
  });

  it('tries each lost node by itself', async () => {
    const one = trial();
    await one.follow(5, entryOf(['lost', 'joined', 'lost']));
    expect(one.tried).toEqual(['lab r gpu2 at 0', 'lab r gpu4 at 0']);
  });

  it('gives up what is under way when it is disposed, and tries no more', async () => {
    const one = trial();
    one.answer = () => Promise.reject(new Cancelled());
    await one.follow(1, entryOf(['lost']));
    one.lost.dispose();
    expect(one.signals.map(({ aborted }) => aborted)).toEqual([true]);
    await one.follow(30, entryOf(['lost']));
    expect(one.tried).toHaveLength(1);
    expect(one.logged).toEqual([]);
  });
});
