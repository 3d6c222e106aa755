// What a checkpoint makes of chosen pictures, by the trainer where the run lies.
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join as joinHere } from 'node:path';
import * as z from 'zod/mini';
import { readRemote } from '../agent/remoteFile.js';
import { errorText, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import { join, pathOfThisNode, type NodePath } from '../base/nodePath.js';
import { plural } from '../base/plural.js';
import type { Progress } from '../base/progress.js';
import { check } from '../base/validation.js';
import type { Machine } from '../cluster/nodes/machine.js';
import { SshMachine } from '../cluster/sshMachine.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Checkpoint } from '../contracts/checkpointSchema.js';
import { threadsBeside } from './evaluate.js';

/**
 * One picture. `top5`: the likeliest classes, the likeliest first; empty where it cannot be read.
 */
export interface Prediction {
  file: string;
  top5: { class: string; probability: number }[];
}

const lineSchema = z.object({
  path: z.string(),
  top5: z.array(z.object({ class: z.string(), probability: z.number() })),
});

/** Pictures at a time: their answers are read whole. */
const mostPictures = 10_000;
/** Bytes. */
const mostOutput = 64 * 1024 * 1024;

/**
 * Asks the checkpoint about files of this machine, on the CPU in fp32, with the pixels of an
 * evaluation. They are copied beside the run for as long as it takes. A prediction for each file,
 * in their order. UserError (usage, failed, preflight, connection), Cancelled.
 */
export async function predictPictures(
  machine: Machine,
  entry: RunEntry,
  checkpoint: Pick<Checkpoint, 'path' | 'step'>,
  files: readonly string[],
  { logger = nullLogger, ...progress }: Progress & { logger?: Logger } = {},
): Promise<Prediction[]> {
  await assertPictures(files);
  if (entry.run?.program !== 'trainer') {
    const what = `${entry.id} is a run of an own program, whose checkpoints are its own`;
    throw new UserError('usage', what, 'Choose a run of the trainer');
  }
  const here = await mkdtemp(joinHere(tmpdir(), 'trainyard-predict-'));
  try {
    const names = await gather(files, here);
    if (names.every((name) => name === undefined)) return files.map((file) => ({ file, top5: [] }));
    const isHere = !(machine instanceof SshMachine);
    const folder = isHere
      ? pathOfThisNode(here)
      : join(entry.dir, `predict-${randomBytes(6).toString('hex')}`);
    try {
      if (!isHere) await put(machine, here, folder, progress);
      const sent = names.filter((name) => name !== undefined).length;
      progress.onProgress?.(`predicting ${plural(sent, 'picture')} with step ${checkpoint.step}`);
      const lines = await ask(machine, join(entry.dir, checkpoint.path), entry, folder, progress);
      const byName = new Map(lines.map(({ path, top5 }) => [basename(path), top5]));
      return files.map((file, index) => ({ file, top5: byName.get(names[index] ?? '') ?? [] }));
    } finally {
      if (!isHere) await clear(machine, folder, logger);
    }
  } finally {
    await rm(here, { recursive: true, force: true });
  }
}

async function assertPictures(files: readonly string[]): Promise<void> {
  if (files.length === 0) throw new UserError('usage', 'there is no picture', 'Name JPEG or PNG files');
  if (files.length > mostPictures) {
    const hint = 'Name fewer, or use trainer predict on the node';
    throw new UserError('usage', `${files.length} pictures are more than ${mostPictures}`, hint);
  }
  for (const file of files) {
    const isFile = await stat(file).then(
      (info) => info.isFile(),
      (error: unknown) => {
        throw new UserError('usage', errorText(error), 'Name JPEG or PNG files', { cause: error });
      },
    );
    if (!isFile) throw new UserError('usage', `${file} is no file`, 'Name JPEG or PNG files');
  }
}

/**
 * Copies them into `folder`, each under a name with the suffix of what it is, by which the trainer
 * knows a picture. Returns the names in the order of the files; undefined for what is no picture.
 */
async function gather(files: readonly string[], folder: string): Promise<(string | undefined)[]> {
  await mkdir(folder, { recursive: true });
  const names: (string | undefined)[] = [];
  for (const [index, file] of files.entries()) {
    const suffix = await pictureSuffix(file);
    const name = suffix === undefined ? undefined : `${String(index).padStart(5, '0')}${suffix}`;
    if (name !== undefined) await copyFile(file, joinHere(folder, name));
    names.push(name);
  }
  return names;
}

const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** By its first bytes; undefined for what is neither JPEG nor PNG. UserError (usage). */
async function pictureSuffix(file: string): Promise<'.jpg' | '.png' | undefined> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0);
      const start = buffer.subarray(0, bytesRead);
      if (start.subarray(0, 3).equals(jpegStart)) return '.jpg';
      return start.equals(pngStart) ? '.png' : undefined;
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new UserError('usage', errorText(error), 'Name files that you may read', { cause: error });
  }
}

async function put(machine: SshMachine, here: string, folder: NodePath, progress: Progress): Promise<void> {
  const [head] = machine.nodes;
  progress.onProgress?.('copying the pictures');
  await machine.copy(head ? [head] : [], here, folder, progress);
}

/** What is left there takes nothing from what came of it, and says no more of what failed. */
async function clear(machine: SshMachine, folder: NodePath, logger: Logger): Promise<void> {
  try {
    await machine.removeFolder(folder);
  } catch (error) {
    logger.log('warn', `pictures are left in ${folder}: ${errorText(error)}`);
  }
}

async function ask(
  machine: Machine,
  checkpoint: NodePath,
  entry: RunEntry,
  folder: NodePath,
  progress: Progress,
): Promise<z.infer<typeof lineSchema>[]> {
  const { cores } = await machine.node.hello();
  const out = join(folder, 'predictions.jsonl');
  const threads = ['--threads', String(threadsBeside(entry, cores))];
  await machine.runTrainer(
    ['predict', '--checkpoint', checkpoint, '--data', folder, '--out', out, ...threads],
    progress,
  );
  const text = (await readRemote(await machine.node.client(), out, 0, mostOutput)).toString('utf8');
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    const read = check(lineSchema, JSON.parse(line));
    if (read.ok) return [read.data];
    throw new UserError('failed', `${out} cannot be read`, 'Report this with the log');
  });
}
