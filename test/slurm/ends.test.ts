// How jobs of a real Slurm end before their run does, and what is shown of it: a node that goes
// down, a job that is cancelled, a higher partition, and the time limit.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { whyNoSlurm, type PracticeSlurm } from '../../scripts/practice/slurm.mjs';
import { expectExit, readLinesSoFar, until, type Running } from '../support/harness.js';
import { endless, SlurmBench, training } from './bench.js';

const why = whyNoSlurm();

/** Of a node, or of a GPU, for an hour: a second costs one. */
const price = 3600;

interface Kept {
  slurm: { ended?: { state: string; detail?: string }; goesOn?: boolean };
  earlier?: { from: number; to: number; perHour: number; currency: string }[];
}
interface Listed {
  phase: string;
  queue: { kind: string; state: string; text: string } | null;
  health: { level: string; text: string };
  cost: { so_far: number } | null;
  gpu_hours: number | null;
  state: { started: number; ended: number | null };
}

describe.skipIf(why)(`The end of a job${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let slurm: PracticeSlurm;
  const every = ['--checkpoint-every', '50', '--log-every', '10'];
  const on = (node: string, more: object = {}): object => ({
    slurm: { partition: 'work', lines: [`--nodelist=${node}`], ...more },
  });

  const record = (label: string): Kept =>
    JSON.parse(readFileSync(join(bench.folderOf(label), 'run.json'), 'utf8')) as Kept;
  const listed = async (label: string): Promise<Listed> => {
    const found = (await bench.listed()).find(({ id }) => String(id).includes(`-${label}-`));
    return found as unknown as Listed;
  };
  const job = (label: string): string => slurm.ask('scontrol', 'show', 'job', '-o', bench.jobOf(label));
  const whenOver = (label: string, state: string) =>
    until(`job ${label} to be ${state}`, () => job(label).includes(`JobState=${state} `));

  beforeAll(async () => {
    bench = await SlurmBench.start({
      first: on('n1', { requeue: true, time: '1', stopAhead: 55 }),
      beside: on('n1'),
      second: { ...on('n2', { requeue: true }), pricePerNodeHour: price, currency: 'EUR' },
      gpus: { ...on('n1', { requeue: true, gpusPerNode: 1 }), pricePerGpuHour: price, currency: 'EUR' },
    });
    ({ slurm } = bench);
    // Slurm looks at time limits every 30 s: these two are awaited in the last test.
    const long = [...endless, '--checkpoint-every', '500', '--keep', '100', '--log-every', '10'];
    for (const [profile, name] of [
      ['first', 'limit'],
      ['beside', 'free'],
    ] as const) {
      expectExit(await bench.trainyard('run', profile, '--detach', '--name', name, ...long), 0);
    }
  });
  afterAll(() => bench.stop());

  test('a job that is cancelled in mid-run ends it after a checkpoint, and that is the reason', async () => {
    const client = bench.begin('run', 'slurm', '--name', 'gone', ...endless);
    await until('a step', () => bench.steps('gone') > 0);
    slurm.ask('scancel', bench.jobOf('gone'));
    expectExit(await client.ended, 75);
    expect(client.stdout).toMatch(/reason +Slurm's job \d+ is over: it was cancelled \(CANCELLED\)/);
    expect(await listed('gone')).toMatchObject({
      phase: 'stopped',
      queue: { kind: 'ended', state: 'CANCELLED' },
      health: { level: 'warning' },
    });
    expect(existsSync(join(bench.folderOf('gone'), 'checkpoints'))).toBe(true);
    const said = await bench.trainyard('logs', 'last', '--profile', 'slurm', '--source', 'slurm');
    expectExit(said, 0);
    expect(said.stdout).toMatch(/^slurm +\| .*CANCELLED/m);
  });

  test('a node that is set down in mid-run is the reason of the end, also once Slurm forgot the job', async () => {
    const words = ['--nodes', '2', '--ranks', '2', '--name', 'down'];
    const client = bench.begin('run', 'slurm', ...words, ...endless);
    await until('a step', () => bench.steps('down') > 0);
    slurm.ask('scontrol', 'update', 'nodename=n2', 'state=down', 'reason=power lost');
    const outcome = await client.ended;
    expect([5, 75]).toContain(outcome.code);
    expect(outcome.stdout).toMatch(/reason +.*Slurm's job \d+ is over: a node failed.* \(NODE_FAIL\)/);
    await whenOver('down', 'NODE_FAIL');
    const seen = await listed('down');
    expect(seen.queue).toMatchObject({ kind: 'ended', state: 'NODE_FAIL' });
    expect(['warning', 'error']).toContain(seen.health.level);
    expect(seen.health.text).toContain('a node failed');
    expect(record('down').slurm.ended?.state).toBe('NODE_FAIL');
    await until('the node', () =>
      slurm.ask('sinfo', '-h', '-n', 'n2', '-p', 'work', '-o', '%T').startsWith('idle'),
    );
  });

  let twice: Running;

  test('a job that is given to the queue again keeps the reason until it begins again', async () => {
    const script = 'test -e again && exit 0; touch again; sleep 600 & wait';
    twice = bench.begin('run', 'gpus', '--gpus', '1', '--name', 'own', '--', 'sh', '-c', script);
    await until('its first start', () => existsSync(join(bench.folderOf('own'), 'again')));
    slurm.ask('scontrol', 'requeue', bench.jobOf('own'));
    await until('why', () => record('own').slurm.ended?.state === 'REQUEUED');
  });

  test('a higher partition takes the nodes: the run goes on with the same weights, and all its time is paid', async () => {
    const words = [...training(300), ...every];
    const cut = bench.begin('run', 'second', '--name', 'cut', ...words);
    await until('a checkpoint', () => bench.steps('cut') >= 60);
    const other = ['-N1', '--nodelist=n2', '--exclusive', '-o', '/dev/null', '--wrap', 'sleep 2'];
    slurm.ask('sbatch', '--parsable', '-p', 'urgent', ...other);
    await until('why', () => record('cut').slurm.ended?.state === 'PREEMPTED');
    expectExit(await cut.ended, 0);
    expectExit(await bench.trainyard('run', 'second', '--name', 'whole', ...words), 0);
    expect(bench.weights('cut', '00000300')).toBe(bench.weights('whole', '00000300'));
    expect(job('cut')).toContain('Restarts=1');
    expect(record('cut').slurm.ended).toBeUndefined();
    const { earlier: [first, ...more] = [] } = record('cut');
    expect(more).toEqual([]);
    expect(first).toMatchObject({ perHour: price, currency: 'EUR' });
    const { cost, state } = await listed('cut');
    const seconds = Number(first?.to) - Number(first?.from) + Number(state.ended) - state.started;
    expect(cost?.so_far).toBeCloseTo((price / 3600) * seconds, 5);
  });

  test('the GPUs of a job that was given to the queue again are paid for in each of its starts', async () => {
    expectExit(await twice.ended, 0);
    expect(record('own').slurm.ended).toBeUndefined();
    expect(record('own').earlier).toMatchObject([{ perHour: price, currency: 'EUR' }]);
    const { cost, gpu_hours: hours } = await listed('own');
    expect(cost?.so_far).toBeGreaterThan(0);
    expect(hours).toBeCloseTo((cost?.so_far ?? 0) / price, 9);
    expect((await bench.trainyard('runs', 'slurm')).stdout).toMatch(/ COST +OF WHICH +GPU HOURS +STARTED/);
  });

  test('CPUs alone are asked for where the profile has GPUs', async () => {
    const words = ['--slurm', 'gres=none', '--ranks', '1', '--name', 'bare', '--', 'sh', '-c', 'nproc >&2'];
    const begun = await bench.trainyard('run', 'gpus', ...words);
    expectExit(begun, 0);
    expect(job('own')).toContain('gres:gpu');
    expect(job('bare')).not.toContain('gres:gpu');
    expect(await listed('bare')).toMatchObject({ gpu_hours: null });
  });

  test('a run that is stopped while Slurm ends its job does not begin again', async () => {
    const end = 'while [ ! -e stopped ]; do sleep 0.1; done; exit 1';
    const script = `trap "${end}" TERM; touch here; while :; do sleep 0.1; done`;
    const client = bench.begin('run', 'second', '--name', 'held', '--', 'sh', '-c', script);
    await until('its start', () => existsSync(join(bench.folderOf('held'), 'here')));
    slurm.ask('scancel', '--batch', '--signal=USR1', bench.jobOf('held')); // as ahead of a time limit
    await until('that it shall go on', () => record('held').slurm.goesOn === true);
    const stopping = bench.trainyard('stop', 'held', '--profile', 'slurm');
    await until('the stop', () => existsSync(join(bench.folderOf('held'), 'stop-job.json')));
    writeFileSync(join(bench.folderOf('held'), 'stopped'), '');
    expectExit(await stopping, 0);
    expectExit(await client.ended, 75);
    expect(job('held')).toContain('Restarts=0');
    expect(record('held').slurm.goesOn).toBeUndefined();
  });

  test('a job that may begin again and is cancelled in mid-run does not go on, with no client there', async () => {
    expectExit(await bench.trainyard('run', 'second', '--detach', '--name', 'ended', ...endless), 0);
    await until('a step', () => bench.steps('ended') > 0);
    slurm.ask('scancel', bench.jobOf('ended'));
    await whenOver('ended', 'CANCELLED');
    expect(record('ended').slurm).toMatchObject({ ended: { state: 'CANCELLED' } });
    expect(record('ended').slurm.goesOn).toBeUndefined();
  });

  test('a resumed run that is cancelled while it waits is over for who follows it, and says why', async () => {
    const script = 'trap "" TERM; touch here; while :; do sleep 0.1; done';
    const begun = ['--detach', '--name', 'back', '--', 'sh', '-c', script];
    expectExit(await bench.trainyard('run', 'second', ...begun), 0);
    await until('its start', () => existsSync(join(bench.folderOf('back'), 'here')));
    expectExit(await bench.trainyard('stop', 'back', '--profile', 'second', '--now'), 0);
    await whenOver('back', 'COMPLETED');
    const words = ['-N1', '--nodelist=n2', '--exclusive', '-o', '/dev/null', '--wrap', 'sleep 300'];
    const other = slurm.ask('sbatch', '--parsable', ...words).trim();
    onTestFinished(() => {
      slurm.ask('scancel', other);
    });
    await until('the other job', () =>
      slurm.ask('squeue', '-h', '-j', other, '-o', '%T').includes('RUNNING'),
    );

    /** Resumes it, and takes its job out of the queue once it waits there. */
    const cancelled = async (cancel: () => unknown): Promise<void> => {
      const client = bench.begin('resume', 'back', '--profile', 'second');
      await until('its place', () => client.stdout.includes('in the queue of Slurm as job'));
      expect(record('back').slurm.goesOn).toBe(true);
      await cancel();
      const { stdout } = await client.ended;
      expect(client.child.exitCode, stdout).toBe(75);
      expect(stdout).toMatch(/reason +stopped at once by .*\. Slurm's job \d+ is over: it was cancelled/);
      expect(record('back').slurm).toMatchObject({ goesOn: false, ended: { state: 'CANCELLED' } });
      expect(await listed('back')).toMatchObject({ phase: 'stopped', queue: { state: 'CANCELLED' } });
    };
    await cancelled(() => slurm.ask('scancel', bench.jobOf('back')));
    await cancelled(async () => {
      expectExit(await bench.trainyard('stop', 'back', '--profile', 'second'), 0);
    });
    expect(record('back').slurm.ended?.detail).toMatch(/^in the queue by .+@/);
  });

  test('a time limit of one minute makes a checkpoint ahead, and the weights are those of a run without it', async () => {
    await until('the job to begin again', () => /Restarts=[1-9]/.test(job('limit')), 90);
    const ended = (): number | undefined =>
      readLinesSoFar(join(bench.folderOf('limit'), 'metrics.jsonl')).find(({ kind }) => kind === 'end')?.[
        'step'
      ] as number;
    const stoppedAt = await until('a checkpoint ahead', ended);
    const step = String(Math.ceil((stoppedAt + 1) / 500) * 500).padStart(8, '0');
    for (const label of ['limit', 'free']) {
      const file = join(bench.folderOf(label), `checkpoints/step-${step}/model.safetensors`);
      await until(`step ${step} of ${label}`, () => existsSync(file), 90);
    }
    expect(bench.weights('limit', step)).toBe(bench.weights('free', step));
    for (const label of ['limit', 'free'])
      expectExit(await bench.trainyard('stop', label, '--profile', 'slurm'), 0);
  });

  test('every job is out of the queue when its run is over', async () => {
    expect(readdirSync(bench.runs).length).toBeGreaterThan(0);
    await until('an empty queue', () => slurm.ask('squeue', '-h', '-o', '%i').trim() === '', 30);
  });
});
