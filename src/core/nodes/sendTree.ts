// A file or folder of this machine sent to a node as a tar archive, which the set-up program there unpacks.
import { spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod/mini';
import { errorText, UserError } from '../errors.js';
import type { Progress } from '../machine.js';
import type { Bootstrap } from './bootstrap.js';
import { LineTail } from './localConnection.js';

const unpackedSchema = z.object({ files: z.int() });

/**
 * The content of folder `from` comes to lie below `to`. With `file`, `from` is a file, which comes to lie in `to`, as `file.as` where that is
 * given. Each file appears whole or not at all. Nothing else can follow on this channel. UserError (usage, connection, preflight), Cancelled.
 */
export async function sendTree(
  bootstrap: Bootstrap,
  from: string,
  to: string,
  progress: Progress = {},
  file?: { as: string | undefined },
): Promise<number> {
  const words = file ? ['-C', dirname(from), '--', basename(from)] : ['-C', from, '.'];
  const params = file?.as === undefined ? { to } : { to, as: file.as };
  const tar = spawn('tar', ['-cf', '-', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
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
    const sending = pipeline(tar.stdout, bootstrap.input('unpack', params)).then(
      () => undefined,
      (error: unknown) => error,
    );
    const [code, , { files }] = await Promise.all([
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
    return files;
  } finally {
    tar.kill();
  }
}
