// A real Slurm with its login node, and the command line beside it, as the files of this suite use
// them.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPracticeSlurm, type PracticeSlurm, type SlurmOptions } from '../../scripts/practice/slurm.mjs';
import { linkRuntime } from '../cluster/support/hosts.js';
import { cli, expectExit, readLinesSoFar, start, type Outcome, type Running } from '../support/harness.js';

/** A training of drawn images on one thread a rank. */
export const training = (steps: number, ...more: string[]): string[] => [
  ...['--', 'train', '--model', 'mlp', '--data', 'synthetic', '--steps', String(steps), '--threads', '1'],
  ...more,
];
/** A training that does not end by itself. */
export const endless = training(100_000_000);

/** A Slurm of two nodes, profiles for it, and what the tests ask of both. */
export class SlurmBench {
  private constructor(
    readonly slurm: PracticeSlurm,
    readonly home: string,
    /** Where the runs lie, on the login node. */
    readonly runs: string,
  ) {}

  /** `more`: what each further profile has in place of the usual one's fields. */
  static async start(
    more: Readonly<Record<string, object>> = {},
    options: SlurmOptions = {},
  ): Promise<SlurmBench> {
    const slurm = await startPracticeSlurm(options);
    const home = join(slurm.dir, 'trainyard');
    mkdirSync(home, { mode: 0o700 });
    copyFileSync(slurm.login.knownHosts, join(home, 'known_hosts'));
    const others = Object.entries(more).map(([name, fields]) => ({ ...slurm.profile, name, ...fields }));
    const profiles = { version: 1, profiles: [slurm.profile, ...others] };
    writeFileSync(join(home, 'profiles.json'), JSON.stringify(profiles));
    const workdir = join(slurm.login.nodes[0]?.home ?? '', '.trainyard');
    linkRuntime(workdir);
    const runs = join(workdir, 'runs');
    mkdirSync(runs, { mode: 0o700 });
    return new SlurmBench(slurm, home, runs);
  }

  stop(): Promise<void> {
    return this.slurm.stop();
  }

  begin(...words: string[]): Running {
    return start(process.execPath, [cli, ...words], { env: { ...process.env, TRAINYARD_HOME: this.home } });
  }

  trainyard(...words: string[]): Promise<Outcome> {
    return this.begin(...words).ended;
  }

  async listed(): Promise<Record<string, unknown>[]> {
    const outcome = await this.trainyard('runs', 'slurm', '--json');
    expectExit(outcome, 0);
    return outcome.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  folderOf(label: string): string {
    return join(this.runs, readdirSync(this.runs).find((name) => name.includes(`-${label}-`)) ?? 'none');
  }

  jobOf(label: string): string {
    const run = JSON.parse(readFileSync(join(this.folderOf(label), 'run.json'), 'utf8')) as {
      slurm: { job: string };
    };
    return run.slurm.job;
  }

  steps(label: string): number {
    const file = join(this.folderOf(label), 'metrics.jsonl');
    const last = existsSync(file) ? readLinesSoFar(file).findLast(({ kind }) => kind === 'step') : undefined;
    return Number(last?.['step'] ?? 0);
  }

  weights(label: string, step: string): string {
    return createHash('sha256')
      .update(readFileSync(join(this.folderOf(label), `checkpoints/step-${step}/model.safetensors`)))
      .digest('hex');
  }

  /** Takes both nodes, so that whoever comes next waits; the job's number. */
  occupy(...more: string[]): string {
    const words = ['--parsable', '-N2', '--exclusive', ...more, '-o', '/dev/null', '--wrap', 'sleep 300'];
    return this.slurm.ask('sbatch', ...words).trim();
  }
}
