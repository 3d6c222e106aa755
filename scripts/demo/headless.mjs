// The main job without a window: a run through the command-line tool, then what it left is checked
// and summed up.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { capture, step } from '../lib/shell.mjs';
import { demoTraining } from './data.mjs';
import { byLines } from './messages.mjs';

/** @import { Message, Summary } from './messages.mjs' */

/** @typedef {Record<string, { scalars?: Record<string, unknown>, graph?: boolean }>} EventRuns */
/** @typedef {{ valid: boolean }} Checkpoint */

/**
 * Starts the run attached to this terminal; its summary comes back as the last JSON line.
 * @param {string} cli
 * @param {readonly string[]} args
 * @returns {Promise<{ code: number | null, summary: Summary | undefined }>}
 */
function trainAttached(cli, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { stdio: ['inherit', 'pipe', 'inherit'] });
    /** @type {Summary | undefined} */
    let summary;
    const take = byLines((message) => {
      if (message.type === 'summary') summary = message;
      else show(message);
    });
    child.stdout.setEncoding('utf8').on('data', take);
    // The tool itself answers Ctrl-C (once: stop after a checkpoint; twice: now), so that its
    // summary still arrives.
    const ignore = () => {};
    process.on('SIGINT', ignore);
    child.on('error', reject);
    child.on('close', (code) => {
      process.off('SIGINT', ignore);
      resolve({ code, summary });
    });
  });
}

/** @param {Message} message */
function show(message) {
  if (message.type !== 'metric') return;
  const { line } = message;
  if (line.kind === 'step' && line.step % 50 === 0) {
    process.stderr.write(
      `  step ${String(line.step).padStart(5)}  epoch ${line.epoch.toFixed(1).padStart(5)}  loss ${line.loss.toFixed(4)}  top-1 ${(100 * line.top1).toFixed(1).padStart(5)}%  ${line.images_per_sec.toFixed(0).padStart(5)} images/s\n`,
    );
  }
  if (line.kind === 'eval')
    process.stderr.write(
      `  step ${String(line.step).padStart(5)}  validation top-1 ${(100 * line.top1).toFixed(1)}%\n`,
    );
}

/**
 * What TensorBoard's own reader finds in the run's event files.
 * @param {string} python
 * @param {string} runDir
 * @returns {EventRuns}
 */
function readEvents(python, runDir) {
  const read = capture(python, [join(root, 'scripts/test/check_events.py'), runDir]);
  if (!read.ok) throw new Error(`TensorBoard's reader failed on ${runDir}: ${read.stderr}`);
  return JSON.parse(read.stdout).runs;
}

/**
 * @param {Summary} summary
 * @param {EventRuns} events
 * @param {readonly Checkpoint[]} checkpoints
 */
function problems(summary, events, checkpoints) {
  /**
   * @param {string} run
   * @param {readonly string[]} tags
   */
  const missing = (run, tags) =>
    tags.filter((tag) => !events[run]?.scalars?.[tag]).map((tag) => `event files of '${run}' lack ${tag}`);
  return [
    ...(summary.best_top1 >= 0.9 ? [] : [`validation top-1 is ${summary.best_top1}, below 0.9`]),
    ...(checkpoints.filter((checkpoint) => checkpoint.valid).length >= 3
      ? []
      : ['fewer than three valid checkpoints']),
    ...missing('train', ['loss', 'top1', 'lr', 'images_per_sec']),
    ...missing('eval', ['loss', 'top1']),
    ...(events['train']?.graph ? [] : ["event files of 'train' lack the model's graph"]),
  ];
}

/**
 * Returns the exit code.
 * @param {{ cli: string, data: string, started: number, epochs: string, ranks: string }} demo
 */
export async function runHeadless({ cli, data, started, epochs, ranks }) {
  step(`training resnet20 on ${join(data, 'train')} with ${ranks} ranks`);
  const own = ['run', 'local', '--json', '--ranks', ranks, '--name', 'demo'];
  const { code, summary } = await trainAttached(cli, [...own, '--', ...demoTraining(data, epochs)]);
  if (!summary) throw new Error(`the run ended without a summary (exit ${code})`);
  if (code !== 0) {
    process.stderr.write(`the run ended with exit ${code}: ${summary.reason}\n`);
    return code ?? 1;
  }
  const runtime = capture(process.execPath, [cli, 'runtime', '--json']);
  const { python } = JSON.parse(runtime.stdout.trim().split('\n').at(-1) ?? '');
  const events = readEvents(python, summary.dir);
  const listed = capture(process.execPath, [cli, 'checkpoints', summary.dir, '--verify', '--json']);
  /** @type {Checkpoint[]} */
  const checkpoints = listed.stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const found = problems(summary, events, checkpoints);
  process.stdout.write(
    [
      '',
      `run          ${summary.id}`,
      `folder       ${existsSync(summary.dir) ? summary.dir.replace(homedir(), '~') : summary.dir}`,
      `ranks        ${ranks}, one process each`,
      `images/s     ${summary.images_per_sec.toFixed(1)}`,
      `time         ${summary.seconds.toFixed(1)} s of training, ${((Date.now() - started) / 1000).toFixed(1)} s in all`,
      `accuracy     ${(100 * summary.best_top1).toFixed(1)}% best, ${(100 * summary.top1).toFixed(1)}% last (validation top-1)`,
      `checkpoints  ${checkpoints.filter((checkpoint) => checkpoint.valid).length} valid`,
      `event files  train: ${Object.keys(events['train']?.scalars ?? {}).join(', ')}${events['train']?.graph ? ', graph' : ''}; eval: ${Object.keys(events['eval']?.scalars ?? {}).join(', ')}`,
      '',
    ].join('\n'),
  );
  for (const problem of found) process.stderr.write(`error: ${problem}\n`);
  return found.length === 0 ? 0 : 1;
}
