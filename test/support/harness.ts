// What the local tests share: the built programs, folders that go away, and child processes that
// are waited for.
import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { demandSchema } from './printedJson.js';

const root = resolve(import.meta.dirname, '../..');
export const trainer = join(root, 'build/native/release/node/bin/trainer');
export const mpiexec = join(root, 'build/toolchain/venv/bin/mpiexec');
export const cli = join(root, 'dist/trainyard.cjs');
export const eventReader = join(root, 'scripts/test/check_events.py');
export const recordTool = join(root, 'scripts/test/check_records.py');

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A folder of its own under the system's temporary one, removed by `remove()`. */
export function temporaryFolder(name: string): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `trainyard-${name}-`));
  return {
    path,
    remove: () => {
      // The supervisor of a run that has just ended may still be writing there.
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

export class Running {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Outcome>;

  constructor(readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = new Promise((done, fail) => {
      child.on('error', fail);
      child.on('close', (code, signal) => {
        done({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }
}

const quiet = {
  OMP_NUM_THREADS: '1',
  MPIR_CVAR_POLLS_BEFORE_YIELD: '1',
  MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM: 'mpir',
};

export function start(command: string, args: string[], options: SpawnOptions = {}): Running {
  return new Running(
    spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
      env: { ...process.env, ...quiet, ...options.env },
    }),
  );
}

/**
 * Of a flag that stands there twice the last one alone: for tests that change one of their common
 * flags.
 */
export function lastOnly(words: readonly string[]): string[] {
  const parts: string[][] = [];
  for (const word of words) {
    if (word.startsWith('--') || parts.length === 0) parts.push([word]);
    else parts.at(-1)?.push(word);
  }
  const last = new Map(parts.map((part, at) => [part[0], at]));
  return parts.filter(([flag], at) => last.get(flag) === at).flat();
}

export const run = (command: string, args: string[], options: SpawnOptions = {}): Promise<Outcome> =>
  start(command, args, options).ended;
export const runTrainer = (args: string[], options: SpawnOptions = {}): Promise<Outcome> =>
  run(trainer, args, options);
/** What it prints with `--json` has to have its schema. */
export async function runCli(args: string[], options: SpawnOptions = {}): Promise<Outcome> {
  const outcome = await run(process.execPath, [cli, ...args], options);
  demandSchema(args, outcome.stdout);
  return outcome;
}
export const runRanks = (ranks: number, args: string[]): Promise<Outcome> =>
  run(mpiexec, ['-launcher', 'fork', '-n', String(ranks), trainer, ...args]);

/** Fails with everything the command printed unless it exited with `code`. */
export function expectExit(outcome: Outcome, code: number): void {
  if (outcome.code === code) return;
  throw new Error(
    `exit ${String(outcome.code ?? outcome.signal)} instead of ${code}\n${outcome.stdout}\n${outcome.stderr}`,
  );
}

export type Line = Record<string, unknown> & { kind: string };

/** The lines of JSON in a text. */
export const parseLines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** The lines of a file that nobody writes any more. Half a line fails. */
export const readLines = (path: string): Line[] => parseLines(readFileSync(path, 'utf8'));

/** The whole lines of a file that is being written. One write is seen in two parts at times. */
export function readLinesSoFar(path: string): Line[] {
  const text = readFileSync(path, 'utf8');
  return parseLines(text.slice(0, text.lastIndexOf('\n') + 1));
}

/** Waits until `probe` gives something, or resolves with something; fails after `seconds`. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  seconds = 60,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

/** Live processes whose environment or command line names `path`. */
export function processesNaming(path: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  )) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (command !== '' && (command.includes(path) || environment.includes(path)))
        found.push(`${pid} ${command.replaceAll('\0', ' ')}`);
    } catch {
      // gone meanwhile, or not ours to read: then it is not one of ours
    }
  }
  return found;
}

export interface Tensor {
  dtype: string;
  shape: number[];
  values: Float32Array;
}

/** A safetensors file's F32 tensors by name. */
export function readTensors(path: string): Map<string, Tensor> {
  const bytes = readFileSync(path);
  const header = Number(bytes.readBigUInt64LE(0));
  const entries = JSON.parse(bytes.subarray(8, 8 + header).toString('utf8')) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, Tensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    if (dtype !== 'F32') continue;
    const data = bytes.subarray(8 + header + data_offsets[0], 8 + header + data_offsets[1]);
    const values = new Float32Array(data.length / 4).map((_, i) => data.readFloatLE(4 * i));
    tensors.set(name, { dtype, shape, values });
  }
  return tensors;
}

/** ||a - b|| / ||b||, in double. */
export function relativeDistance(a: Float32Array, b: Float32Array): number {
  let difference = 0;
  let norm = 0;
  for (const [i, value] of b.entries()) {
    difference += ((a[i] ?? NaN) - value) ** 2;
    norm += value ** 2;
  }
  return norm === 0 ? Math.sqrt(difference) : Math.sqrt(difference / norm);
}

/** The tensor that differs most by norm; fails where one side lacks any. */
export function largestDistance(
  a: Map<string, Tensor>,
  b: Map<string, Tensor>,
): { name: string; distance: number } {
  if ([...a.keys()].join() !== [...b.keys()].join()) throw new Error('other tensors');
  let worst = { name: '', distance: 0 };
  for (const [name, tensor] of a) {
    const distance = relativeDistance(tensor.values, b.get(name)?.values ?? new Float32Array());
    if (!(distance <= worst.distance)) worst = { name, distance };
  }
  return worst;
}

export const checkpointName = (step: number): string => `step-${String(step).padStart(8, '0')}`;

/** SHA-256 of what a checkpoint holds: weights and the optimizer's memory. */
export function fingerprint(dir: string, step: number): string {
  const files = ['model.safetensors', 'optimizer.safetensors'].map((name) =>
    join(dir, 'checkpoints', checkpointName(step), name),
  );
  return files.map((file) => createHash('sha256').update(readFileSync(file)).digest('hex')).join(' ');
}

const newestStep = (dir: string): number => {
  const metrics = join(dir, 'metrics.jsonl');
  if (!existsSync(metrics)) return 0;
  const steps = [...readFileSync(metrics, 'utf8').matchAll(/"kind":"step"[^\n]*"step":(\d+)/g)];
  return Number(steps.at(-1)?.[1] ?? 0);
};

/** Ends a program with SIGKILL once `isThere`, or after it ended by itself. */
async function killWhen(running: Running, what: string, isThere: () => boolean): Promise<void> {
  await until(what, () => isThere() || running.child.exitCode !== null);
  running.child.kill('SIGKILL');
  await running.ended;
}

/** Starts ranks and kills all of them with SIGKILL once metrics show a step of at least `at`. */
export async function killRanksAt(ranks: number, args: string[], dir: string, at: number): Promise<void> {
  const running = start(mpiexec, ['-launcher', 'fork', '-n', String(ranks), trainer, ...args]);
  await killWhen(running, `step ${at} in ${dir}`, () => newestStep(dir) >= at);
}

/** Starts the trainer alone and kills it once `path` is there. Fails where it ended before. */
export async function killTrainerAt(args: string[], path: string): Promise<void> {
  const running = start(trainer, args);
  await killWhen(running, path, () => existsSync(path));
  if (running.child.signalCode !== 'SIGKILL') throw new Error(`the trainer ended by itself, ${path} or not`);
}
