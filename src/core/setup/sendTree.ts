// A file or folder of this machine sent to a node as a tar archive, which the set-up program there
// unpacks.
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod/mini';
import { errorText, UserError } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import { free } from '../base/memory.js';
import type { NodePath } from '../base/nodePath.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { Bootstrap } from './bootstrap.js';
import type { TarDigest } from '../streams/tarDigest.js';

/** What the set-up program answers when files have arrived. `files` is their number. */
export const unpackedSchema = z.object({ files: z.int(), folder: nodePathSchema, shared: z.boolean() });

/**
 * `folder`: as the node calls it. `shared`: they were there already, on a disk that another node
 * sees too.
 */
export type Received = z.infer<typeof unpackedSchema>;

/** Bytes that are sent at once: the two largest packets that a channel takes. */
const recordBytes = 64 * 1024;

/** Bytes of a file that are read at once. */
const readBytes = 1024 * 1024;

/** Where files come to lie on a node. */
export interface TreeTarget {
  /** The folder. */
  to: NodePath;
  /** The name of the one file there is. */
  as?: string;
  /** Beside `to`, under a name of its own, and only until the channel ends. */
  temporary?: boolean;
}

/**
 * The content of a folder, or a file, comes to lie below `target.to`. Each file appears whole or
 * not at all. `digest` takes all that is sent. UserError (usage, connection, preflight), Cancelled.
 */
export async function sendTree(
  bootstrap: Bootstrap,
  from: string,
  target: TreeTarget,
  progress: Progress = {},
  digest?: TarDigest,
): Promise<Received> {
  const isFolder = (await stat(from)).isDirectory();
  const { create } = await import('tar');
  const options = {
    cwd: isFolder ? from : dirname(from),
    strict: true, // what cannot be read is an error, not left out
    portable: process.platform === 'win32', // where files have no modes of their own
    maxReadSize: readBytes,
  };
  // A name that begins with @ would be that of an archive.
  const archive = create(options, [isFolder ? '.' : `./${basename(from)}`]);
  const end = new AbortController();
  try {
    const input = spending(bootstrap.input('unpack', { ...target, blocks: 1 }), digest);
    // Where the node refuses, its words come with the answer, and the sending only breaks off.
    const sending = pipeline(recordsOf(archive, from), input, { signal: end.signal }).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof UserError) throw error;
        return error;
      },
    );
    const [broken, received] = await Promise.all([
      sending,
      bootstrap.answer('unpack', unpackedSchema, progress),
    ]);
    if (broken !== undefined) {
      throw new UserError('connection', `the copy was not received whole: ${errorText(broken)}`, 'Try again');
    }
    return received;
  } finally {
    end.abort();
  }
}

/** The archive in records, each with memory of its own; the last is the rest. UserError (usage). */
async function* recordsOf(archive: AsyncIterable<Buffer>, from: string): AsyncGenerator<Buffer, void> {
  let record = Buffer.allocUnsafeSlow(recordBytes);
  let filled = 0;
  try {
    for await (const chunk of archive) {
      for (let at = 0; at < chunk.length;) {
        const taken = chunk.copy(record, filled, at);
        at += taken;
        filled += taken;
        if (filled < recordBytes) continue;
        yield record;
        record = Buffer.allocUnsafeSlow(recordBytes);
        filled = 0;
      }
    }
  } catch (error) {
    const what = `${from} cannot be read: ${errorText(error)}`;
    throw new UserError('usage', what, 'Check that its files can be read', { cause: error });
  }
  if (filled > 0) yield record.subarray(0, filled);
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
