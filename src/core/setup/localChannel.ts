// The set-up program on this machine, where the node is this machine: the same words, without SSH.
import { spawn } from 'node:child_process';
import type { SshChannel } from '../ssh/base/transport.js';
import { Bootstrap } from './bootstrap.js';

/** Milliseconds that it may take to end once nobody speaks with it. */
const patience = 3000;

/** A conversation with the set-up program here. UserError (preflight, connection), Cancelled. */
export function openLocalBootstrap(program: string, signal?: AbortSignal): Promise<Bootstrap> {
  return Bootstrap.open({ where: 'this machine', exec: localChannel }, program, signal);
}

function localChannel(command: string): Promise<SshChannel> {
  const child = spawn('sh', ['-c', command], { stdio: 'pipe' });
  const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('error', () => {
      resolve({ code: 127, signal: null });
    });
    child.on('close', (code, signal) => {
      resolve({ code, signal });
    });
  });
  const { stdin, stdout, stderr } = child;
  const dispose = (): void => {
    stdin.end();
    const impatient = setTimeout(() => child.kill('SIGKILL'), patience);
    impatient.unref();
    child.on('exit', () => {
      clearTimeout(impatient);
    });
  };
  return Promise.resolve({ stdin, stdout, stderr, closed, dispose });
}
