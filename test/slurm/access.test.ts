// What a person reaches of a run by Slurm: the script before it is sent, a terminal on its compute
// nodes, its plots; and what runs on the login node meanwhile.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type * as nodePty from 'node-pty';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoSlurm, type PracticeSlurm } from '../../scripts/practice/slurm.mjs';
import { cli, expectExit, until } from '../support/harness.js';
import { endless, SlurmBench, training } from './bench.js';
import { LoginProcesses } from './loginProcesses.js';

const why = whyNoSlurm();
const { spawn } = createRequire(import.meta.url)('node-pty') as Pick<typeof nodePty, 'spawn'>;

describe.skipIf(why)(`A run by Slurm is reached${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let slurm: PracticeSlurm;

  beforeAll(async () => {
    bench = await SlurmBench.start();
    ({ slurm } = bench);
  });
  afterAll(() => bench.stop());

  /** What a terminal shows after these lines, and how it ended. */
  async function inTerminal(words: string[], ...lines: string[]): Promise<{ shown: string; code: number }> {
    const env = { ...process.env, TRAINYARD_HOME: bench.home };
    const pty = spawn(process.execPath, [cli, 'terminal', ...words], { cols: 150, rows: 30, env });
    let shown = '';
    pty.onData((text) => (shown += text));
    const ended = new Promise<number>((resolve) => {
      pty.onExit(({ exitCode }) => {
        resolve(exitCode);
      });
    });
    await until('the shell', () => shown.includes('terminal on '));
    for (const line of lines) pty.write(`${line}\r`);
    return { code: await ended, shown };
  }

  test('the batch script is shown before it is sent, and the one that was sent lies in the run folder', async () => {
    const words = ['--nodes', '2', '--ranks', '2', '--name', 'shown', ...training(5)];
    const shown = await bench.trainyard('run', 'slurm', '--show-script', ...words);
    expectExit(shown, 0);
    expect(shown.stdout).toMatch(/^#!\/bin\/bash\n#SBATCH --partition="work"\n/);
    expect(shown.stdout).toContain('#SBATCH --nodes=2\n');
    expect(readdirSync(bench.runs)).toEqual([]);
    expect(slurm.ask('squeue', '-h', '-o', '%i')).toBe('');
    expectExit(await bench.trainyard('run', 'slurm', ...words), 0);
    const sent = readFileSync(join(bench.folderOf('shown'), 'slurm.sh'), 'utf8');
    const withoutId = (text: string): string => text.replace(/\d{8}-\d{6}-shown-[0-9a-f]{4}/g, 'ID');
    expect(withoutId(shown.stdout)).toBe(withoutId(sent));
    const here = await bench.trainyard('run', 'local', '--show-script', ...words);
    expectExit(here, 2);
    expect(here.stderr).toContain('profile local has no queue');
  });

  test('a run is reached by terminals on its compute nodes and by TensorBoard, and the login node stays idle', async () => {
    const more = ['--nodes', '2', '--ranks', '2', '--name', 'open'];
    expectExit(await bench.trainyard('run', 'slurm', '--detach', ...more, ...endless), 0);
    await until('a step', () => bench.steps('open') > 0);
    const login = new LoginProcesses(join(slurm.dir, 'slurm.conf'));
    await expect.poll(async () => (await login.watch(1)).names, { timeout: 30_000 }).toEqual([]);

    const follower = bench.begin('attach', 'open', '--profile', 'slurm');
    await until('figures', () => follower.stdout.includes('images/s'));
    await pause(2000); // what is read at the beginning is behind it
    const { names, share } = await login.watch(10);
    const line = `login node: ${names.join(', ')}; ${(100 * share).toFixed(2)}% of a core`;
    process.stdout.write(`${line}\n`);
    expect(names).toContain('agent');
    // sshd has the connection; the others ask Slurm, four times a minute.
    const known = ['agent', 'sshd', 'python3', 'squeue', 'scontrol', 'sh', 'bash'];
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(share).toBeLessThan(0.01);
    follower.child.kill('SIGTERM');
    await follower.ended;

    const say = 'echo "<$SLURMD_NODENAME:$SLURM_JOB_ID:$TRAINYARD_RUN_DIR>"';
    const at = `${bench.jobOf('open')}:${bench.folderOf('open')}`;
    const first = await inTerminal(['open', '--profile', 'slurm'], say, 'exit 7');
    expect(first.shown).toContain(`<n1:${at}>`);
    expect(first.code).toBe(7);
    const other = await inTerminal(['open', 'n2', '--profile', 'slurm'], say, 'exit');
    expect(other.shown).toContain(`<n2:${at}>`);
    const none = await bench.trainyard('terminal', 'open', 'n9', '--profile', 'slurm');
    expectExit(none, 2);
    expect(none.stderr).toMatch(/n9 is no node of .*Its nodes are n1, n2/);

    const board = bench.begin('tensorboard', 'open', '--profile', 'slurm');
    const url = await until('TensorBoard', () => /http:\S+/.exec(board.stdout)?.[0]);
    const runs = async (): Promise<unknown> => (await fetch(new URL('data/runs', url))).json();
    await expect.poll(runs, { timeout: 30_000 }).toContain('train');
    board.child.kill('SIGTERM');
    await board.ended;

    expectExit(await bench.trainyard('stop', 'open', '--profile', 'slurm'), 0);
    const over = await inTerminal(
      ['open', '--profile', 'slurm'],
      'echo "<${SLURMD_NODENAME:-login}>"',
      'exit',
    );
    expect(over.shown).toContain('<login>');
    expectExit(await bench.trainyard('terminal', 'open', 'n1', '--profile', 'slurm'), 2);
  });
});
