// A file or folder of this machine sent to a node as a tar archive, which the set-up program there unpacks.
import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod/mini';
import { errorText, UserError } from '../errors.js';
import type { Progress } from '../machine.js';
import { free } from '../memory.js';
import type { Bootstrap } from './bootstrap.js';
import { LineTail } from './localConnection.js';
import type { TarDigest } from './tarDigest.js';

export const unpackedSchema = z.object({ files: z.int(), folder: z.string(), shared: z.boolean() });

/** `folder`: as the node calls it. `shared`: they were there already, on a disk that another node sees too. */
export type Received = z.infer<typeof unpackedSchema>;

/** Of 512 bytes. tar's own records of 10 KiB would each become a packet; these fill the two largest that a channel takes. */
const blocks = 128;

/** Where files come to lie on a node. */
export interface TreeTarget {
  /** The folder. */
  to: string;
  /** The name of the one file there is. */
  as?: string;
  /** Beside `to`, under a name of its own, and only until the channel ends. */
  temporary?: boolean;
}

/**
 * The content of a folder, or a file, comes to lie below `target.to`. Each file appears whole or not at all. `digest` takes all that is
 * sent. UserError (usage, connection, preflight), Cancelled.
 */
export async function sendTree(
  bootstrap: Bootstrap,
  from: string,
  target: TreeTarget,
  progress: Progress = {},
  digest?: TarDigest,
): Promise<Received> {
  const isFolder = (await stat(from)).isDirectory();
  const words = isFolder ? ['-C', from, '.'] : ['-C', dirname(from), '--', basename(from)];
  const tar = spawn('tar', ['-b', String(blocks), '-cf', '-', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = new LineTail();
  tar.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said.push(chunk);
  });
  const ended = new Promise<number | null>((settle, reject) => {
    tar.on('error', reject);
    tar.on('close', settle);
  });
  try {
    // Where the node refuses, its words come with the answer, and the sending only breaks off.
    const sending = pipeline(
      tar.stdout,
      spending(bootstrap.input('unpack', { ...target, blocks }), digest),
    ).then(
      () => undefined,
      (error: unknown) => error,
    );
    const [code, , received] = await Promise.all([
      ended,
      sending,
      bootstrap.answer('unpack', unpackedSchema, progress),
    ]);
    if (code !== 0) {
      const what = `tar could not read ${from}: ${said.lines().at(-1) ?? `exit ${code ?? '?'}`}`;
      throw new UserError('usage', what, 'Check that its files can be read');
    }
    const broken = await sending;
    if (broken !== undefined) {
      throw new UserError('connection', `the copy was not received whole: ${errorText(broken)}`, 'Try again');
    }
    return received;
  } finally {
    tar.kill();
  }
}

/** Writes to `input`, and frees each piece that went. Its end does not end `input`. */
function spending(input: Writable, digest: TarDigest | undefined): Writable {
  return new Writable({
    write: (piece: Buffer, _encoding, done) => {
      try {
        digest?.update(piece);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      input.write(piece, (error) => {
        if (!error) free(piece);
        done(error);
      });
    },
  });
}
