// The outside half of the driver's channel.
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { HostFile, Method, Methods, Reply } from '../driver/protocol.js';

const pause = (ms: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

/** Asks until there is an answer; what stood in the way last is in the error. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  seconds = 30,
): Promise<T> {
  let last = 'nothing yet';
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    try {
      const found = await ask();
      if (found !== undefined) return found;
    } catch (error) {
      last = String(error);
    }
    await pause(200);
  }
  throw new Error(`no ${what} after ${seconds} s: ${last}`);
}

export class HostClient {
  /** `folder` is what TRAINYARD_TEST_DRIVER names. */
  constructor(private readonly folder: string) {}

  /** The newest extension host, or nothing before there is one. */
  current(): HostFile | undefined {
    try {
      return JSON.parse(readFileSync(join(this.folder, 'host.json'), 'utf8')) as HostFile;
    } catch {
      return undefined;
    }
  }

  /**
   * Waits for a host other than `old`. A window is loaded in 10 s where nothing else runs, and in
   * more than 30 s beside another editor on two cores.
   */
  next(old?: number): Promise<HostFile> {
    const other = (): HostFile | undefined => {
      const host = this.current();
      return host && host.pid !== old ? host : undefined;
    };
    return until('extension host', other, 90);
  }

  async ask<M extends Method>(method: M, params: Methods[M]['params']): Promise<Methods[M]['result']> {
    const host = this.current();
    if (!host) throw new Error('no extension host is there yet');
    const reply = await exchange(host.socket, JSON.stringify({ method, params }));
    if ('error' in reply) throw new Error(`${method}: ${reply.error}`);
    return reply.result;
  }

  command(id: string, ...args: unknown[]): Promise<unknown> {
    return this.ask('command', { id, args });
  }
}

function exchange(path: string, line: string): Promise<Reply> {
  return new Promise((done, fail) => {
    let text = '';
    const socket = createConnection(path, () => {
      socket.write(`${line}
`);
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', fail).on('close', () => {
      if (text === '') fail(new Error('the extension host went away'));
      else done(JSON.parse(text) as Reply);
    });
  });
}
