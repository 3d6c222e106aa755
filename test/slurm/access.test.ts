// What a person reaches of a run by Slurm: the script before it is sent, a terminal on its compute
// nodes, its plots; and what runs on the login node meanwhile.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type * as nodePty from 'node-pty';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { whyNoSlurm, type PracticeSlurm } from '../../scripts/practice/slurm.mjs';
import { cli, expectExit, parseLines, until } from '../support/harness.js';
import { DapClient } from '../support/dapClient.js';
import { debugpyPython } from '../support/pinnedPython.js';
import { servedPage } from '../support/servedPage.js';
import { endless, SlurmBench, training } from './bench.js';
import { LoginProcesses, processesWith } from './loginProcesses.js';

const why = whyNoSlurm();
const { spawn } = createRequire(import.meta.url)('node-pty') as Pick<typeof nodePty, 'spawn'>;

describe.skipIf(why)(`A run by Slurm is reached${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let slurm: PracticeSlurm;

  beforeAll(async () => {
    bench = await SlurmBench.start({ login: { slurm: { partition: 'work', tensorboard: 'login' } } });
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

  /**
   * While TensorBoard of a run is served: it shows the run's figures and its own page, byte for
   * byte.
   */
  async function seesBoard(label: string, profile: string, look: () => void | Promise<void>): Promise<void> {
    const board = bench.begin('tensorboard', label, '--profile', profile);
    const url = await until('TensorBoard', () => /http:\S+/.exec(board.stdout)?.[0], 60);
    const get = (path: string): Promise<Response> => fetch(new URL(path, url));
    await expect.poll(async () => (await get('data/runs')).json(), { timeout: 30_000 }).toContain('train');
    const page = await get('index.js');
    expect((await page.text()).length).toBeGreaterThan(1_000_000);
    await look();
    board.child.kill('SIGTERM');
    await board.ended;
  }

  const boardsOf = (label: string) =>
    processesWith('tensorboard_server.py').filter(({ words }) => words.includes(bench.folderOf(label)));

  /** Processes of the login node by which something runs beside a job. */
  const stepsOn = (node: string) =>
    processesWith('--overlap').filter(
      ({ words, isOnLoginNode }) => isOnLoginNode && words.includes(`--nodelist=${node}`),
    );

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

    await seesBoard('open', 'slurm', async () => {
      expect(boardsOf('open').map(({ isOnLoginNode }) => isOnLoginNode)).toEqual([false]);
      expect((await login.watch(1)).names).toContain('srun');
    });

    expectExit(await bench.trainyard('stop', 'open', '--profile', 'slurm'), 0);
    const over = await inTerminal(
      ['open', '--profile', 'slurm'],
      'echo "<${SLURMD_NODENAME:-login}>"',
      'exit',
    );
    expect(over.shown).toContain('<login>');
    expectExit(await bench.trainyard('terminal', 'open', 'n1', '--profile', 'slurm'), 2);

    await until('the end of TensorBoard', () => boardsOf('open').length === 0);
    const refused = await bench.trainyard('tensorboard', 'open', '--profile', 'slurm');
    expectExit(refused, 2);
    expect(refused.stderr).toMatch(/open\S* has no nodes that TensorBoard could run on: it is stopped/);
    expect(refused.stderr).toContain('set "tensorboard" to "login" in "slurm" of profile slurm');
    await seesBoard('open', 'login', () => {
      expect(boardsOf('open').map(({ isOnLoginNode }) => isOnLoginNode)).toEqual([true]);
    });
    expectExit(await bench.trainyard('tensorboard', 'open', '--profile', 'login', '--stop'), 0);
    expect(boardsOf('open')).toEqual([]);
  });

  test('the web page of a rank is reached on its compute node, from the queue on', async () => {
    const other = bench.occupy();
    const words = ['--nodes', '2', '--per-slot', '--name', 'page', '--', 'python3', '-c', servedPage];
    expectExit(await bench.trainyard('run', 'slurm', '--detach', ...words), 0);
    const asked = ['page', '--profile', 'slurm'];
    const opened = bench.begin('open', ...asked, '--rank', '1', '--json');
    await until('the queue', () => opened.stderr.includes('waiting until'));
    expect(stepsOn('n2')).toEqual([]);
    slurm.ask('scancel', other);

    const [page] = await until('the page', () => opened.stdout.endsWith('\n') && parseLines(opened.stdout));
    expect(page).toMatchObject({ type: 'page', rank: 1, host: 'n2' });
    const url = String(page?.['url']);
    const answers = await Promise.all([url, url, url].map(async (one) => (await fetch(one)).text()));
    expect(answers).toEqual(['1', '1', '1']);
    expect((await fetch(url.replace('s3', 's4'))).status).toBe(403);
    // All connections have one step of the job: srun, and the process that it starts for itself.
    await until('one step', () => stepsOn('n2').length === 2);
    expect(stepsOn('n1')).toEqual([]);
    opened.child.kill('SIGINT');
    expect(await opened.ended).toMatchObject({ code: 0 });
    await until('the end of the step', () => stepsOn('n2').length === 0);

    expectExit(await bench.trainyard('stop', ...asked, '--now'), 0);
    const ended = await bench.trainyard('open', ...asked);
    expectExit(ended, 2);
    expect(ended.stderr).toContain('nothing of it serves a page');

    // In the queue once more, the address that the first start printed says nothing.
    const before = bench.occupy();
    onTestFinished(() => {
      slurm.ask('scancel', before);
    });
    expectExit(await bench.trainyard('resume', ...asked, '--detach'), 0);
    const waits = bench.begin('open', ...asked);
    await until('the queue', () => waits.stderr.includes('waiting until'));
    expectExit(await bench.trainyard('stop', ...asked), 0);
    expectExit(await waits.ended, 2);
    expect(waits.stderr).not.toContain('answers at');
  });

  test('a rank that waits for a debugger is reached on its compute node', async () => {
    const program = join(slurm.dir, 'train.py');
    writeFileSync(program, "import os; print('rank', os.environ['RANK'], 'goes on', flush=True)\n");
    const words = ['--nodes', '2', '--per-slot', '--name', 'debugged', '--debug', '1'];
    const started = ['run', 'slurm', '--detach', ...words, '--', debugpyPython(), program];
    expectExit(await bench.trainyard(...started), 0);
    const asked = ['debugged', '--profile', 'slurm'];
    const debug = bench.begin('debug', ...asked, '--json');
    const [tunnel] = await until('the tunnel', () => debug.stdout.endsWith('\n') && parseLines(debug.stdout));
    const { port, configuration } = tunnel as unknown as { port: number; configuration: object };
    const client = await DapClient.connect(port);
    await client.ask('initialize', { adapterID: 'test' });
    const attached = client.send('attach', configuration);
    await client.event('initialized');
    expect(stepsOn('n2').length).toBeGreaterThan(0);
    await client.ask('configurationDone');
    await client.answer(attached);
    expectExit(await bench.trainyard('attach', ...asked), 0);
    client.close();
    debug.child.kill('SIGTERM');
    expectExit(await debug.ended, 0);
    const log = readFileSync(join(bench.folderOf('debugged'), 'logs/rank-1.log'), 'utf8');
    expect(log).toBe('rank 1 goes on\n');
  });
});
