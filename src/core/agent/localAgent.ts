// `agent serve` as a child of this process.
import { spawn } from 'node:child_process';
import { errorText, UserError } from '../base/errors.js';
import { LineTail } from '../streams/lineTail.js';
import type { AgentStream } from './agentClient.js';

/**
 * Starts the agent apart from the terminal (setsid), so that a Ctrl-C there reaches this process
 * only. UserError (connection) when it cannot be started.
 */
export async function openLocalAgent(agent: string): Promise<AgentStream> {
  const child = spawn(agent, ['serve'], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const stderr = new LineTail();
  let ending: string | undefined;
  let startError: Error | undefined;
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr.push(chunk);
  });
  child.on('exit', (code, signal) => {
    ending = signal === null ? `exit ${code ?? '?'}` : `signal ${signal}`;
  });
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => {
      resolve();
    });
  });
  await new Promise<void>((resolve) => {
    child.on('spawn', resolve);
    child.on('error', (error) => {
      startError ??= error;
      resolve();
    });
  });
  if (startError) {
    const what = `${agent} cannot be started: ${errorText(startError)}`;
    throw new UserError('connection', what, { kind: 'reinstall' });
  }
  return {
    input: child.stdout,
    output: child.stdin,
    where: 'this machine',
    closed,
    stderrTail: () => stderr.lines(),
    ending: () => ending,
    dispose: () => {
      child.stdin.end();
      const impatient = setTimeout(() => child.kill('SIGKILL'), 3000);
      impatient.unref();
      child.on('exit', () => {
        clearTimeout(impatient);
      });
      child.unref();
    },
  };
}
