// The other end of the askpass program: a private socket where ssh's questions arrive.
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Disposable } from '../../base/lifecycle.js';
import { writeAskpass } from './askpassProgram.js';

/** Characters of a question. */
const longestQuestion = 64 * 1024;
const questionSchema = z.object({ token: z.string(), prompt: z.string(), hint: z.string() });

/** Undefined: no answer; ssh then goes on without. */
export type Answerer = (prompt: string, hint: string) => Promise<string | undefined>;

/** Owns its socket; the folder belongs to the caller and is its user's alone. */
export class Askpass implements Disposable {
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** For SSH_ASKPASS. */
    readonly program: string,
  ) {}

  static async start(folder: string, answer: Answerer): Promise<Askpass> {
    const path = join(folder, 'ask');
    const token = randomBytes(16).toString('hex');
    const server = createServer({ allowHalfOpen: true });
    const askpass = new Askpass(server, await writeAskpass(folder, path, token));
    server.on('connection', (socket) => {
      askpass.open.add(socket);
      socket.on('error', () => socket.destroy()); // ssh took its program away: nobody waits for the answer
      socket.on('close', () => askpass.open.delete(socket));
      void serve(socket, token, answer);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    return askpass;
  }

  dispose(): void {
    this.server.close();
    for (const socket of this.open) socket.destroy();
  }
}

async function serve(socket: Socket, token: string, answer: Answerer): Promise<void> {
  const question = await readQuestion(socket, token);
  const text = question && (await answer(question.prompt, question.hint));
  if (socket.destroyed) return;
  if (text === undefined) socket.end();
  else socket.end(JSON.stringify({ answer: text }));
}

function readQuestion(socket: Socket, token: string): Promise<{ prompt: string; hint: string } | undefined> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('close', () => {
      resolve(undefined);
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0 && text.length < longestQuestion) return;
      resolve(parseQuestion(text.slice(0, end), token));
    });
  });
}

function parseQuestion(line: string, token: string): { prompt: string; hint: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined; // no question of ours
  }
  const parsed = z.safeParse(questionSchema, value);
  return parsed.success && parsed.data.token === token ? parsed.data : undefined;
}
