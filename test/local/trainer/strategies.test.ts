// Strategies: those in lockstep are the same mathematics whoever keeps the variables; the
// asynchronous one learns.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMetric, type Metric } from '../../../src/core/contracts/metricsSchema.js';
import { form } from '../../cluster/support/form.js';
import {
  checkpointName,
  cli,
  expectExit,
  lastOnly,
  fingerprint,
  killRanksAt,
  largestDistance,
  mpiexec,
  processesNaming,
  readLines,
  readTensors,
  run,
  runCli,
  runRanks,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
  until,
} from '../../support/harness.js';
import type { Outcome } from '../../support/harness.js';

const folder = temporaryFolder('strategies');
const data = join(folder.path, 'data');
const dirOf = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:4x120', '--to', data, '--validation', '0.1']), 0);
});
afterAll(folder.remove);

const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    'train',
    '--model',
    'mlp',
    '--data',
    join(data, 'train'),
    '--run-dir',
    dirOf(name),
    '--lr',
    '0.05',
    ...more,
  ]);
const weights = (name: string, step: number): ReturnType<typeof readTensors> =>
  readTensors(join(dirOf(name), 'checkpoints', checkpointName(step), 'model.safetensors'));
const metrics = (name: string): Metric[] => readLines(join(dirOf(name), 'metrics.jsonl')).map(parseMetric);
const ofKind = <K extends Metric['kind']>(name: string, kind: K): Extract<Metric, { kind: K }>[] =>
  metrics(name).filter((line): line is Extract<Metric, { kind: K }> => line.kind === kind);

/** Ranks on `hosts` hosts, as far as they can tell: they go by TRAINYARD_HOST. */
function runOnHosts(hosts: number, ranksEach: number, args: string[]): Promise<Outcome> {
  const words = Array.from({ length: hosts }, (_, host) => [
    ...(host === 0 ? [] : [':']),
    '-n',
    String(ranksEach),
    '-env',
    'TRAINYARD_HOST',
    `host${host}`,
    trainer,
    ...args,
  ]);
  return run(mpiexec, ['-launcher', 'fork', ...words.flat()]);
}

const strategies = [
  ['mirrored'],
  ['multi-worker', '--allreduce', 'ring'],
  ['multi-worker', '--allreduce', 'tree'],
  ['multi-worker', '--allreduce', 'hierarchical'],
  ['central-storage'],
  ['parameter-server', '--servers', '1'],
  ['parameter-server', '--servers', '2'],
];
const serversOf = (flags: string[]): number => Number(flags[flags.indexOf('--servers') + 1] ?? 0);
const extraRanks = (flags: string[]): number => (flags.includes('--servers') ? serversOf(flags) : 0);

describe('in lockstep, any number of workers equals one rank of the joint batch', () => {
  beforeAll(async () => {
    expectExit(await runTrainer(training('mlp', '--batch-size', '32', '--steps', '10')), 0);
    const norm = ['--model', 'resnet20', '--batch-size', '32', '--steps', '1', '--sync-batch-norm'];
    expectExit(await runTrainer(training('norm', ...norm)), 0);
  });

  it.each(strategies.map((flags) => ({ flags, title: flags.join(' ') })))(
    '$title: mlp, ten steps, on 1, 2 and 4 workers, each tensor within 1e-6 by norm',
    async ({ flags, title }) => {
      for (const workers of [1, 2, 4]) {
        const name = `mlp ${title} ${workers}`.replaceAll(' ', '-');
        const batch = ['--batch-size', String(32 / workers), '--steps', '10'];
        const outcome = await runRanks(
          workers + extraRanks(flags),
          training(name, ...batch, '--strategy', ...flags),
        );
        expectExit(outcome, 0);
        expect(largestDistance(weights(name, 10), weights('mlp', 10)).distance, name).toBeLessThan(1e-6);
        expect(ofKind(name, 'start')[0]).toMatchObject({
          strategy: flags[0],
          world: workers,
          global_batch: 32,
          servers: extraRanks(flags),
        });
        expect(ofKind(name, 'step').at(-1)?.world).toBe(workers);
        expect(new Set(ofKind(name, 'host').map(({ rank }) => rank)).size).toBe(workers + extraRanks(flags));
        const timed = ofKind(name, 'host').flatMap((line) => ((line.compute_ms ?? 0) > 0 ? [line.rank] : []));
        expect(timed, 'servers make no steps').toEqual(Array.from({ length: workers }, (_, rank) => rank));
      }
    },
  );

  it.each(strategies.map((flags) => ({ flags, title: flags.join(' ') })))(
    '$title: resnet20 with --sync-batch-norm, one step on 2 and 4 workers, within 1e-6',
    async ({ flags, title }) => {
      for (const workers of [2, 4]) {
        const name = `norm ${title} ${workers}`.replaceAll(' ', '-');
        const model = ['--model', 'resnet20', '--sync-batch-norm', '--steps', '1'];
        const outcome = await runRanks(
          workers + extraRanks(flags),
          training(name, ...model, '--batch-size', String(32 / workers), '--strategy', ...flags),
        );
        expectExit(outcome, 0);
        expect(largestDistance(weights(name, 1), weights('norm', 1)).distance, name).toBeLessThan(1e-6);
      }
    },
  );

  it.each([
    ['lars', ['--optimizer', 'lars', '--lr', '1']],
    ['adamw', ['--optimizer', 'adamw', '--lr', '0.001', '--weight-decay', '0.05']],
    ['adam, clipped, in micro-batches', ['--optimizer', 'adam', '--lr', '0.001', '--clip-norm', '0.3']],
  ])('%s: what servers and rank 0 keep is what everyone would', async (title, recipe) => {
    // Against as many mirrored workers: near 0, Adam makes much of the rounding of a gradient.
    const name = title.split(',')[0] ?? '';
    const parts = ['--batch-size', '8', '--accumulate', '2', '--steps', '6', ...recipe];
    expectExit(await runRanks(2, training(name, ...parts)), 0);
    for (const flags of strategies.filter(([kind]) => kind !== 'mirrored' && kind !== 'multi-worker')) {
      const other = `${name}-${flags.join('-')}`;
      const outcome = await runRanks(
        2 + extraRanks(flags),
        training(other, ...parts, '--strategy', ...flags),
      );
      expectExit(outcome, 0);
      expect(largestDistance(weights(other, 6), weights(name, 6)).distance, other).toBeLessThan(1e-6);
    }
  });
});

describe('all-reduce over hosts', () => {
  it('auto takes the hierarchical one where several hosts have several ranks, and weights agree', async () => {
    expectExit(await runTrainer(training('joint', '--batch-size', '32', '--steps', '10')), 0);
    for (const [hosts, ranksEach, chosen] of [
      [2, 2, 'hierarchical'],
      [4, 1, 'library'],
    ] as const) {
      const name = `hosts-${hosts}x${ranksEach}`;
      const outcome = await runOnHosts(
        hosts,
        ranksEach,
        training(name, '--batch-size', '8', '--steps', '10'),
      );
      expectExit(outcome, 0);
      expect(ofKind(name, 'start')[0]).toMatchObject({ strategy: 'multi-worker', all_reduce: chosen });
      expect(largestDistance(weights(name, 10), weights('joint', 10)).distance).toBeLessThan(1e-6);
    }
  });
  it('servers are spread over the hosts', async () => {
    const flags = ['--batch-size', '16', '--steps', '2', '--strategy', 'parameter-server', '--servers', '2'];
    expectExit(await runOnHosts(2, 2, training('spread', ...flags)), 0);
    expect(ofKind('spread', 'end')[0]?.servers).toMatchObject([
      { rank: 1, host: 'host0' },
      { rank: 3, host: 'host1' },
    ]);
  });
});

describe('parameter-server-async', () => {
  it('learns the drawn images, and says how stale and how busy', async () => {
    const flags = ['--batch-size', '16', '--epochs', '12', '--lr', '0.01', '--augment', 'none'];
    const outcome = await runRanks(
      4,
      training('async', ...flags, '--strategy', 'parameter-server-async', '--servers', '1'),
    );
    expectExit(outcome, 0);
    const evaluated = await runTrainer([
      'eval',
      '--run-dir',
      dirOf('async'),
      '--data',
      join(data, 'train'),
      '--once',
    ]);
    expectExit(evaluated, 0);
    expect(ofKind('async', 'eval')[0]?.top1).toBeGreaterThan(0.6); // four classes: 0.25 by chance
    const [end] = ofKind('async', 'end');
    const [plan] = ofKind('async', 'start');
    expect(end?.servers).toHaveLength(1);
    const server = end?.servers?.[0];
    expect(server?.updates).toBe(3 * (plan?.total_steps ?? 0)); // a worker's push each
    expect(server?.staleness).toBeGreaterThan(0);
    const pushed = ofKind('async', 'step').reduce((sum, line) => sum + (line.images ?? 0), 0);
    expect(pushed).toBe(16 * 3 * (plan?.total_steps ?? 0)); // every worker's, up to the last
    expect(server?.busy).toBeGreaterThan(0);
    expect(server?.busy).toBeLessThan(1);
    expect(ofKind('async', 'step').every((line) => (line.staleness ?? -1) >= 0)).toBe(true);
  });
  it('one worker alone is never stale', async () => {
    const flags = ['--batch-size', '16', '--steps', '8', '--strategy', 'parameter-server-async'];
    expectExit(await runRanks(2, training('async-one', ...flags)), 0);
    expect(ofKind('async-one', 'end')[0]?.servers?.[0]).toMatchObject({ staleness: 0, updates: 8 });
  });
});

describe('many processes', () => {
  const [workers, servers] = form([27, 3] as const, [90, 10] as const);
  it(`${workers} workers and ${servers} servers finish, and agree with one rank of the joint batch`, async () => {
    const flags = ['--data', 'synthetic:10x32', '--steps', '3', '--log-every', '3'];
    expectExit(await runTrainer(training('one', ...flags, '--batch-size', String(workers))), 0);
    const args = training('many', ...flags, '--batch-size', '1', '--strategy', 'parameter-server');
    expectExit(await runRanks(workers + servers, [...args, '--servers', String(servers)]), 0);
    expect(largestDistance(weights('many', 3), weights('one', 3)).distance).toBeLessThan(1e-6);
    const peaks = ofKind('many', 'host').map(({ memory_peak }) => memory_peak / 1e6);
    const [least, most] = [Math.min(...peaks), Math.max(...peaks)].map((peak) => peak.toFixed(0));
    process.stdout.write(`memory of a process: ${least} to ${most} MB\n`);
    expect(peaks).toHaveLength(workers + servers);
    expect(Math.max(...peaks)).toBeLessThan(200);
    const kept = ofKind('many', 'end')[0]?.servers?.map(({ parameters }) => parameters) ?? [];
    expect(kept).toHaveLength(servers);
    expect(Math.max(...kept) / Math.min(...kept)).toBeLessThan(1.2);
  });
});

describe('stop and resume', () => {
  const steps = 30;
  const long = (name: string, ...flags: string[]): string[] =>
    training(name, '--batch-size', '8', '--checkpoint-every', '4', '--log-every', '1', ...flags);

  it.each([
    { title: 'central-storage', ranks: 2, flags: ['central-storage'] },
    { title: 'parameter-server', ranks: 4, flags: ['parameter-server', '--servers', '2'] },
  ])('$title: killed and resumed, the same bits as one left alone', async ({ title, ranks, flags }) => {
    const args = (name: string): string[] => [
      ...long(name, '--model', 'resnet20', '--steps', String(steps)),
      '--strategy',
      ...flags,
    ];
    expectExit(await runRanks(ranks, args(`${title}-alone`)), 0);
    const name = `${title}-killed`;
    for (const at of [6, 15, 23]) await killRanksAt(ranks, args(name), dirOf(name), at);
    expectExit(await runRanks(ranks, args(name)), 0);
    expect(fingerprint(dirOf(name), steps)).toBe(fingerprint(dirOf(`${title}-alone`), steps));
    expect(ofKind(name, 'start').some((line) => line.resumed_from !== null)).toBe(true);
  });

  it.each(['central-storage', 'parameter-server', 'parameter-server-async'])(
    '%s: SIGTERM ends all ranks after the same step and a checkpoint',
    async (kind) => {
      const name = `stop-${kind}`;
      const args = long(name, '--steps', '100000', '--strategy', kind);
      const running = start(mpiexec, ['-launcher', 'fork', '-n', '3', trainer, ...args]);
      await until('training', () => metricsText(name).includes('"step":6,'));
      running.child.kill('SIGTERM');
      const outcome = await running.ended;
      expect(outcome.stderr).not.toContain('error');
      const [end] = ofKind(name, 'end');
      expect(end?.reason).toBe('stopped');
      expect(ofKind(name, 'checkpoint').at(-1)?.step).toBe(end?.step);
    },
  );
});

const metricsText = (name: string): string => {
  try {
    return readFileSync(join(dirOf(name), 'metrics.jsonl'), 'utf8');
  } catch {
    return '';
  }
};

describe('refused by name', () => {
  it.each([
    [2, ['--strategy', 'parameter-server', '--servers', '2'], /--servers 2 leaves none of 2 ranks/],
    [1, ['--strategy', 'parameter-server'], /leaves none of 1 rank /],
    [1, ['--servers', '2'], /--servers has no meaning with --strategy auto.*parameter-server/],
    [
      1,
      ['--strategy', 'central-storage', '--allreduce', 'ring'],
      /--allreduce has no meaning with --strategy central/,
    ],
    [
      1,
      ['--strategy', 'parameter-server-async', '--sync-batch-norm'],
      /--sync-batch-norm has no meaning with .*-async/,
    ],
    [
      1,
      ['--strategy', 'parameter-server-async', '--lr-scale-by-world'],
      /--lr-scale-by-world has no meaning/,
    ],
    [1, ['--strategy', 'parameter-sever'], /parameter-server/],
  ])('%i ranks with %j', async (ranks, flags, message) => {
    const args = training('refused', ...flags);
    const outcome = ranks === 1 ? await runTrainer(args) : await runRanks(ranks, args);
    if (ranks === 1) expectExit(outcome, 2);
    expect(outcome.code).not.toBe(0);
    expect(outcome.stderr).toMatch(message);
  });
  it('mirrored on several hosts', async () => {
    const outcome = await runOnHosts(2, 1, training('spread-mirror', '--strategy', 'mirrored'));
    expect(outcome.code).not.toBe(0);
    expect(outcome.stderr).toContain('Use --strategy multi-worker');
  });
});

describe('through trainyard', () => {
  it('run with servers: ranks are all processes, the summary counts the workers', async () => {
    const flags = ['--batch-size', '16', '--steps', '12', '--strategy', 'parameter-server', '--servers', '1'];
    const outcome = await runCli([
      'run',
      'local',
      '--ranks',
      '2',
      '--json',
      '--',
      ...training('cli', ...flags),
    ]);
    expectExit(outcome, 0);
    const state = JSON.parse(readFileSync(join(dirOf('cli'), 'state.json'), 'utf8')) as unknown;
    expect(state).toMatchObject({ phase: 'finished', exitCode: 0, world: 2 });
    expect(ofKind('cli', 'start')[0]).toMatchObject({ world: 1, servers: 1, global_batch: 16 });
    const summary = outcome.stdout.split('\n').find((line) => line.includes('"type":"summary"'));
    expect(JSON.parse(summary ?? '')).toMatchObject({ servers: [{ rank: 1, updates: 12, staleness: 0 }] });
  });

  // Servers are processes of their own, and this machine may have two cores only.
  const home = dirOf('home');
  const room = { env: { TRAINYARD_HOME: home } };
  beforeAll(() => {
    const profile = { name: 'local', kind: 'local', hosts: [{ host: 'localhost', slots: 4 }] };
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  });
  const served = (name: string, ...more: string[]): string[] => [
    'run',
    'local',
    '--ranks',
    '3',
    '--no-evaluator',
    '--',
    ...training(name, '--batch-size', '8', '--strategy', 'parameter-server', '--servers', '2', ...more),
  ];
  const stateOf = (name: string): unknown =>
    JSON.parse(readFileSync(join(dirOf(name), 'state.json'), 'utf8'));

  it('a worker whose loss is no number ends the servers too, with the reason', async () => {
    const outcome = await runCli(served('diverges', '--steps', '200', '--lr', '1e6'), room);
    expectExit(outcome, 5);
    expect(outcome.stdout + outcome.stderr).toContain('is not a finite number');
    expect(stateOf('diverges')).toMatchObject({ phase: 'failed', exitCode: 3 });
    await until('all ranks to end', () => processesNaming(dirOf('diverges')).length === 0, 20);
  });
  it('a server that is killed is named, and nobody waits for it', async () => {
    const name = 'server-killed';
    const running = start(
      process.execPath,
      [cli, ...served(name, '--steps', '100000', '--log-every', '1')],
      room,
    );
    await until('training', () => metricsText(name).includes('"step":6,'));
    const state = stateOf(name) as { ranks: { rank: number; pid: number }[] };
    process.kill(state.ranks.find(({ rank }) => rank === 2)?.pid ?? -1, 'SIGKILL');
    const outcome = await running.ended;
    expectExit(outcome, 5);
    expect(outcome.stdout + outcome.stderr).toMatch(/rank 2.*(signal 9|lost|killed)/);
    await until('all ranks to end', () => processesNaming(dirOf(name)).length === 0, 20);
  });
  it('a stop request leaves a checkpoint, from which another strategy goes on', async () => {
    const name = 'stopped';
    const running = start(
      process.execPath,
      [cli, ...served(name, '--steps', '400', '--log-every', '1')],
      room,
    );
    await until('training', () => metricsText(name).includes('"step":6,'));
    expectExit(await runCli(['stop', dirOf(name)], room), 0);
    expectExit(await running.ended, 75);
    expect(stateOf(name)).toMatchObject({ phase: 'stopped', exitCode: 75 });
    const { step } = ofKind(name, 'checkpoint').at(-1) ?? { step: 0 };
    const more = ['--batch-size', '8', '--steps', String(step + 5), '--strategy', 'central-storage'];
    expectExit(await runRanks(1, training(name, ...more)), 0);
    expect(ofKind(name, 'start').at(-1)?.resumed_from).toBe(checkpointName(step));
  });
});
