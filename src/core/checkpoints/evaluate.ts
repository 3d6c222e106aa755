// One checkpoint evaluated now, by the trainer where the run lies.
import { readRemote } from '../agent/remoteFile.js';
import type { AgentClient } from '../agent/agentClient.js';
import { UserError } from '../base/errors.js';
import { assertPassed } from '../base/checks.js';
import { join, nodePath, pathOfThisNode } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { check } from '../base/validation.js';
import type { Machine } from '../cluster/nodes/machine.js';
import { SshMachine } from '../cluster/sshMachine.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Checkpoint } from '../contracts/checkpointSchema.js';
import { metricSchema, type Metric } from '../contracts/metricsSchema.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { onHead } from '../plan/evaluated.js';
import { absolutePaths } from '../plan/request/flags.js';
import { checkData, checkRemoteData } from '../plan/preflight.js';
import { namedData } from '../plan/request/request.js';
import { ByteTail } from '../streams/tail.js';

/** What an evaluation found; `top1` and `top5` are fractions. */
export type Evaluation = Extract<Metric, { kind: 'eval' }>;

/**
 * Threads for work beside a run: one while ranks compute on the node, else every core.
 */
export const threadsBeside = (entry: RunEntry, cores: number): number =>
  isOver(statusOf(entry)) ? cores : 1;

/**
 * Evaluates a checkpoint on `data`, on the CPU in fp32. The trainer adds the result to the run's
 * metrics and event files, as the evaluator does. A path is one of the node, where `~` is the home
 * folder. UserError (usage, preflight, failed, connection), Cancelled.
 */
export async function evaluateCheckpoint(
  machine: Machine,
  entry: RunEntry,
  checkpoint: Pick<Checkpoint, 'path' | 'step'>,
  data: string | undefined,
  progress: Progress = {},
): Promise<Evaluation> {
  const { dir, id } = entry;
  if (data === undefined) {
    const what = `nobody knows on which images ${id} is evaluated`;
    throw new UserError('usage', what, 'Name a folder of images on the node');
  }
  const images = await lookedAt(machine, entry, data);
  const metrics = join(dir, 'metrics.jsonl');
  const client = await machine.node.client();
  const before = (await client.request('run.get', { dir })).files['metrics.jsonl'] ?? 0;
  const { cores } = await machine.node.hello();
  progress.onProgress?.(`evaluating step ${checkpoint.step} on ${images}`);
  const flags = ['--once', '--checkpoint', join(dir, checkpoint.path), '--data', images];
  const threads = ['--threads', String(threadsBeside(entry, cores))];
  await machine.runTrainer(['eval', '--run-dir', dir, ...flags, ...threads], progress);
  const found = (await linesSince(await machine.node.client(), metrics, before)).filter(
    (line): line is Evaluation => line.kind === 'eval' && line.step === checkpoint.step,
  );
  const last = found.at(-1);
  if (last) return last;
  throw new UserError('failed', `the evaluation of step ${checkpoint.step} left no line in ${metrics}`, '');
}

/** `data` as the trainer on the node of the run is given it. It is there, where it is a path. */
async function lookedAt(machine: Machine, { run }: RunEntry, data: string): Promise<string> {
  const { home } = await machine.node.hello();
  const head = machine instanceof SshMachine ? machine.nodes[0] : undefined;
  const cwd = head ? nodePath('~') : pathOfThisNode(process.cwd());
  const [, given = data] = absolutePaths(['--data', data], cwd);
  const images = onHead(given, home);
  const named = namedData('data', images);
  const found = head
    ? await checkRemoteData(named, (paths) => head.look(paths), run?.profile.name)
    : await checkData(named);
  const host = (head ?? machine.nodes[0])?.name;
  assertPassed(found.map((each) => (host === undefined ? each : { ...each, host })));
  return images;
}

async function linesSince(
  client: AgentClient,
  path: Parameters<typeof readRemote>[1],
  from: number,
): Promise<Metric[]> {
  const pieces: Metric[] = [];
  const bytes = await readRemote(client, path, from, mostBytes);
  for (const { text } of new ByteTail(from).push(from, bytes) ?? []) {
    let raw: unknown;
    try {
      raw = JSON.parse(text);
    } catch {
      continue; // a line that was cut short says nothing
    }
    const line = check(metricSchema, raw);
    if (line.ok) pieces.push(line.data);
  }
  return pieces;
}

/** Bytes of new metrics that are looked through: a run under way writes beside the evaluation. */
const mostBytes = 64 * 1024 * 1024;
