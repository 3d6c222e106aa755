// Starts client.ts as a process and speaks with it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { until } from '../../support/harness.js';
import type { Figures, Order, Report, Setup } from './client.js';

const root = join(import.meta.dirname, '../../..');

export type State = Extract<Report, { report: 'state' }> & { at: number };

/** The program's path: below the repository, where it finds ssh2. */
async function bundled(): Promise<string> {
  const outfile = join(root, 'build', 'tests', `client-${process.pid}.cjs`);
  mkdirSync(join(root, 'build', 'tests'), { recursive: true });
  await build({
    entryPoints: [join(import.meta.dirname, 'client.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    mainFields: ['module', 'main'],
    external: ['ssh2'],
    logLevel: 'warning',
  });
  return outfile;
}

export class ClientProcess {
  /** Kinds of what a person was asked, in their order. */
  readonly asked: string[] = [];
  state: State | undefined;
  private readonly answers = new Map<number, Report>();
  private nextId = 1;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (report: Report) => {
      if (report.report === 'asked') this.asked.push(report.kind);
      else if (report.report === 'state') this.state = { ...report, at: Date.now() };
      else this.answers.set(report.id, report);
    });
  }

  static async start(setup: Setup, env: Record<string, string> = {}): Promise<ClientProcess> {
    const child = spawn(process.execPath, ['--expose-gc', await bundled()], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    });
    await once(child, 'spawn');
    const client = new ClientProcess(child);
    client.send({ order: 'follow', setup });
    return client;
  }

  answer(secret: string | undefined): void {
    this.send({ order: 'answer', secret });
  }

  async use(): Promise<void> {
    const id = this.nextId++;
    this.send({ order: 'use', id });
    const report = await this.answerOf(id);
    if (report.report === 'used' && report.problem !== undefined) throw new Error(report.problem);
  }

  async figures(): Promise<Figures> {
    const id = this.nextId++;
    this.send({ order: 'figures', id });
    const report = await this.answerOf(id);
    if (report.report !== 'figures') throw new Error(`answered ${report.report}`);
    return report.figures;
  }

  /** As when the lid is closed: not one instruction more until `wakeUp`. */
  fallAsleep(): void {
    this.child.kill('SIGSTOP');
  }

  wakeUp(): void {
    this.child.kill('SIGCONT');
  }

  /** Follows, with a step beyond `step`, as it said after `since`. */
  following(step: number, since: number, limit: number): Promise<State> {
    return until(
      `the client to be attached, beyond step ${step}`,
      () => {
        const { state } = this;
        if (state?.problem !== undefined) throw new Error(`it follows no more: ${state.problem}`);
        return state && state.at > since && state.connected && state.step > step && state;
      },
      limit,
    );
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  private answerOf(id: number): Promise<Report> {
    return until(
      'an answer of the client',
      () => {
        const { exitCode, signalCode } = this.child;
        if (exitCode !== null || signalCode !== null)
          throw new Error(`the client has ended: ${String(exitCode ?? signalCode)}`);
        const found = this.answers.get(id);
        this.answers.delete(id);
        return found;
      },
      120,
    );
  }

  private send(order: Order): void {
    this.child.send(order);
  }
}
