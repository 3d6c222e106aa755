// Runs by a real Slurm: one controller and two compute nodes on this machine, each with a boot id
// of its own, and a real sshd as login node. Driven by the command line, as a person does it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { RunFile } from '../../src/core/contracts/runSchema.js';
import { whyNoSlurm, type PracticeSlurm } from '../../scripts/practice/slurm.mjs';
import { expectExit, readLines, until } from '../support/harness.js';
import { endless, SlurmBench, training } from './bench.js';

const why = whyNoSlurm();

describe.skipIf(why)(`Slurm${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let slurm: PracticeSlurm;

  const begin = (...words: string[]) => bench.begin(...words);
  const trainyard = (...words: string[]) => bench.trainyard(...words);
  const listed = () => bench.listed();
  const folderOf = (label: string) => bench.folderOf(label);
  const jobOf = (label: string) => bench.jobOf(label);
  const steps = (label: string) => bench.steps(label);
  const weights = (label: string, step: string) => bench.weights(label, step);

  beforeAll(async () => {
    bench = await SlurmBench.start({
      again: { slurm: { partition: 'work', requeue: true } },
      slow: { slurm: { partition: 'work', requeue: true, time: '3' }, prologue: 'sleep 20' },
      wrong: { slurm: { partition: 'no"such\\one' } },
    });
    ({ slurm } = bench);
  });
  afterAll(() => bench.stop());

  test('a check tells the partition, and one that is not there', async () => {
    const good = await trainyard('check', 'slurm');
    expectExit(good, 0);
    expect(good.stdout).toMatch(/slurm +ok +slurm-wlm .*, work: 2 of 2 nodes idle/);
    const bad = await trainyard('check', 'wrong');
    expectExit(bad, 4);
    expect(bad.stdout).toContain('Slurm has no partition no"such\\one');
  });

  test('a run over two nodes finishes, each rank on a node of its own, and nothing of it is left', async () => {
    const outcome = await trainyard(
      'run',
      'slurm',
      '--nodes',
      '2',
      '--ranks',
      '2',
      '--name',
      'two',
      ...training(40),
    );
    expectExit(outcome, 0);
    const dir = folderOf('two');
    const ranks = [0, 1].map(
      (rank) =>
        JSON.parse(readFileSync(join(dir, `exits/gen-1-rank-${rank}.json`), 'utf8')) as { host: string },
    );
    expect(ranks.map(({ host }) => host)).toEqual(['n1', 'n2']);
    await until('the job to be over', () =>
      slurm.ask('scontrol', 'show', 'job', '-o', jobOf('two')).includes('JobState=COMPLETED'),
    );
    expect(readFileSync(join(dir, 'slurm.sh'), 'utf8')).toContain('#SBATCH --partition="work"\n');
    expect(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8'))).toMatchObject({ minNodes: 2 });
    expectExit(await trainyard('delete', 'two', '--profile', 'slurm', '--yes'), 0);
    expect(existsSync(dir)).toBe(false);
  });

  test('an own program has its packages on every compute node', async () => {
    const requirements = join(dirname(bench.runs), 'requirements.txt');
    writeFileSync(requirements, 'six\n');
    const own = ['python3', '-c', 'import six, sys; print(six.__version__, sys.prefix)'];
    const words = [
      '--name',
      'packages',
      '--nodes',
      '2',
      '--per-node',
      '--requirements',
      requirements,
      '--',
      ...own,
    ];
    expectExit(await trainyard('run', 'slurm', ...words), 0);
    const dir = folderOf('packages');
    const { environment } = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunFile;
    const [name = ''] = readdirSync(join(dirname(bench.runs), 'environments')).sort();
    const path = join(dirname(bench.runs), 'environments', name);
    const line = `${environment?.packages[0]?.replace('six==', '') ?? ''} ${path}\n`;
    const said = [0, 1].map((rank) => readFileSync(join(dir, `logs/rank-${rank}.log`), 'utf8'));
    expect(said).toEqual([line, line]);
  });

  test('what Slurm refuses is said in its words, and leaves nothing', async () => {
    const outcome = await trainyard('run', 'wrong', '--name', 'refused', ...training(5));
    expectExit(outcome, 4);
    expect(outcome.stderr).toContain('Slurm refused the job');
    expect(outcome.stderr).toContain('invalid partition specified: no"such\\one');
    expect(readdirSync(bench.runs).filter((name) => name.includes('refused'))).toEqual([]);
  });

  test('what one run asks of Slurm goes before its profile, and stays in its record', async () => {
    const asked = ['--slurm', 'partition=work', '--slurm', 'time=7', '--slurm', 'requeue=true'];
    const outcome = await trainyard('run', 'wrong', '--name', 'asked', ...asked, ...training(5));
    expectExit(outcome, 0);
    const dir = folderOf('asked');
    const script = readFileSync(join(dir, 'slurm.sh'), 'utf8');
    for (const line of ['--partition="work"', '--time="7"', '--requeue']) {
      expect(script).toContain(`#SBATCH ${line}\n`);
    }
    expect(script).not.toContain('no-requeue');
    const { slurm: record } = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { slurm: object };
    expect(record).toMatchObject({
      asked: { partition: 'work', time: '7', requeue: true },
      requeue: true,
    });
    const elsewhere = await trainyard('run', 'local', '--slurm', 'qos=a', ...training(5));
    expectExit(elsewhere, 2);
    expect(elsewhere.stderr).toContain('profile local has no queue of Slurm');
  }, 120_000);

  test('a run waits with its place and the reason, is not deleted, and leaves the queue when it is stopped', async () => {
    const other = bench.occupy();
    onTestFinished(() => {
      slurm.ask('scancel', other);
    });
    expectExit(await trainyard('run', 'slurm', '--detach', '--name', 'waits', ...endless), 0);
    await until(
      'a reason',
      () => slurm.ask('squeue', '-h', '-t', 'PD', '-o', '%r').includes('Resources'),
      20,
    );
    const [run] = await listed();
    expect(run).toMatchObject({
      phase: 'queued',
      queue: { kind: 'waiting', place: 1, reason: 'Resources', job: jobOf('waits') },
    });
    expect((await trainyard('runs', 'slurm')).stdout).toMatch(
      /queued.*place 1 in work; it is next, and waits for nodes to be free; Slurm expects a start at/,
    );
    const refused = await trainyard('delete', 'waits', '--yes');
    expectExit(refused, 2);
    expect(refused.stderr).toContain(`is Slurm's job ${jobOf('waits')}, which is not over`);
    const follower = begin('attach', 'waits');
    await until('its place', () => follower.stdout.includes('in the queue of Slurm as job'));
    expectExit(await trainyard('stop', 'waits'), 0);
    expectExit(await follower.ended, 75);
    expect(slurm.ask('squeue', '-h', '-o', '%i')).not.toContain(jobOf('waits'));
    expect((await listed())[0]).toMatchObject({ phase: 'stopped', queue: null });
  });

  test('the programs of a run that waits are not removed, also where its folder is elsewhere', async () => {
    const other = bench.occupy();
    onTestFinished(() => {
      slurm.ask('scancel', other);
    });
    const workdir = dirname(bench.runs);
    const dir = join(dirname(workdir), 'elsewhere');
    const words = ['--detach', '--run-dir', dir, ...endless];
    expectExit(await trainyard('run', 'slurm', ...words), 0);
    const refused = await trainyard('clean', 'slurm');
    expectExit(refused, 4);
    expect(refused.stderr).toMatch(/the run \S+\/elsewhere is Slurm's job \d+, which is not over/);
    expect(existsSync(join(workdir, 'node'))).toBe(true);
    expectExit(await trainyard('stop', dir, '--profile', 'slurm'), 0);
  });

  test('a run on another machine is seen from the login node, stops after a checkpoint, and goes on', async () => {
    const client = begin('run', 'slurm', '--name', 'stops', ...endless);
    await until('a step', () => steps('stops') > 0);
    await expect
      .poll(async () => (await listed())[0], { timeout: 20_000 })
      .toMatchObject({
        phase: 'running',
        elsewhere: 'n1',
        queue: { kind: 'running', state: 'RUNNING' },
      });
    expectExit(await trainyard('stop', 'stops'), 0);
    expectExit(await client.ended, 75);
    const dir = folderOf('stops');
    const [first] = readdirSync(join(dir, 'checkpoints')).sort().reverse();
    const stoppedAt = Number(first?.slice('step-'.length));
    const on = ['run', 'slurm', '--run-dir', dir, ...training(stoppedAt + 20)];
    const outcome = await trainyard(...on);
    expectExit(outcome, 0);
    expect(outcome.stdout).toContain(`resumed from ${first ?? ''}`);
    const created = readLines(join(dir, 'events.jsonl')).filter(({ kind }) => kind === 'created');
    expect(created).toHaveLength(1);
  });

  test('the warning of the time limit makes a checkpoint, and the job goes on with the same weights', async () => {
    const length = ['--checkpoint-every', '100', '--log-every', '10'];
    const whole = begin('run', 'again', '--name', 'whole', ...training(400, ...length));
    const cut = begin('run', 'again', '--name', 'cut', ...training(400, ...length));
    await until('steps', () => steps('cut') >= 20);
    slurm.ask('scancel', '--batch', '--signal=USR1', jobOf('cut')); // as Slurm does it ahead of the limit
    expectExit(await cut.ended, 0);
    expectExit(await whole.ended, 0);
    expect(cut.stdout).toContain('stopped at step');
    expect(cut.stdout).toContain('resumed from step-');
    expect(weights('cut', '00000400')).toBe(weights('whole', '00000400'));
    expect(slurm.ask('scontrol', 'show', 'job', '-o', jobOf('cut'))).toContain('Restarts=1');
  });

  test('a run without a step before the warning does not go back into the queue, and says why', async () => {
    const client = begin('run', 'slow', '--name', 'nowhere', ...endless);
    await until('its supervisor', () => existsSync(join(folderOf('nowhere'), 'state.json')));
    slurm.ask('scancel', '--batch', '--signal=USR1', jobOf('nowhere'));
    expectExit(await client.ended, 75);
    expect(client.stderr).toContain('note: of its time limit of 180 s the run has 60 s or less');
    expect(client.stdout).toMatch(
      /reason +its time limit was near before it made a step, so it does not go back/,
    );
    await until('the job to be over', () =>
      slurm.ask('scontrol', 'show', 'job', '-o', jobOf('nowhere')).includes('JobState=COMPLETED'),
    );
    expect(slurm.ask('scontrol', 'show', 'job', '-o', jobOf('nowhere'))).toContain('Restarts=0');
    const never = await trainyard('run', 'slow', '--slurm', 'time=2', ...endless);
    expectExit(never, 2);
    expect(never.stderr).toContain('the run is to stop 120 s before its time limit of 120 s');
  });

  test('a run whose supervisor is killed is interrupted, with what Slurm says of its job', async () => {
    const client = begin('run', 'slurm', '--name', 'killed', ...endless);
    await until('a step', () => steps('killed') > 0);
    const state = JSON.parse(readFileSync(join(folderOf('killed'), 'state.json'), 'utf8')) as {
      supervisor: { pid: number };
    };
    process.kill(state.supervisor.pid, 'SIGKILL');
    expectExit(await client.ended, 5);
    expect(client.stdout + client.stderr).toMatch(
      /Slurm's job \d+ is over: its script failed with exit code 1/,
    );
  });
});
