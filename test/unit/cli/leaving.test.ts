// What the command line says where it goes no further: a login that was given up, an unknown host
// key. The context is a stand-in.
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { followRun } from '../../../src/cli/follow.js';
import type { Output } from '../../../src/cli/output.js';
import { JsonPrinter } from '../../../src/cli/printer.js';
import { terminalPrompter } from '../../../src/cli/prompter.js';
import { Cancelled } from '../../../src/core/base/errors.js';
import { sharedAbort } from '../../../src/core/base/lifecycle.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { nullLogger } from '../../../src/core/base/log.js';

function recorder(): { output: Output; notes: string[] } {
  const notes: string[] = [];
  const nothing = (): void => undefined;
  const note = (text: string): void => {
    notes.push(text);
  };
  return { output: { line: nothing, json: nothing, bytes: nothing, note }, notes };
}

describe('a login that is given up while a run is followed', () => {
  it('is a lost connection, said with how to attach again', async () => {
    const { output } = recorder();
    const node = { client: () => Promise.reject(new Cancelled('no password was given')) };
    const context = { output, node, logger: nullLogger, json: true } as unknown as Context;
    const options = { dir: nodePath('/w/runs/r'), ownsRun: false, tensorboard: false };
    await expect(followRun(context, new JsonPrinter(output), options)).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /login was given up.*the run goes on.*trainyard attach \/w\/runs\/r/,
      ) as string,
    });
  });
});

describe('an unknown host key', () => {
  it('without a terminal is refused, and the command that accepts it names the profile', async () => {
    const { output, notes } = recorder();
    const key = { host: 'gpu1', address: '10.0.0.1', port: 22, type: 'ssh-ed25519', fingerprint: 'SHA256:x' };
    const answer = await terminalPrompter(output, 'lab').trust([{ ...key, key: Buffer.alloc(0) } as never]);
    expect(answer).toBe(false);
    expect(notes.join('\n')).toMatch(
      /accept them in a terminal: trainyard trust lab \(without one: with --yes\)$/,
    );
  });

  it('of a host that is in no profile yet names no profile', async () => {
    const { output, notes } = recorder();
    expect(await terminalPrompter(output, undefined).trust([])).toBe(false);
    expect(notes).toEqual([
      'Compare the fingerprints, then accept them in a terminal: give the command there once more',
    ]);
  });
});

describe('an abort that every node of a cluster listens to', () => {
  it('gives no warning of a leak', async () => {
    const warnings: Error[] = [];
    const take = (warning: Error): void => {
      warnings.push(warning);
    };
    process.on('warning', take);
    const { signal } = sharedAbort();
    for (let node = 0; node < 24; ++node) signal.addEventListener('abort', () => undefined, { once: true });
    await new Promise((wake) => setTimeout(wake, 50));
    process.off('warning', take);
    expect(warnings).toEqual([]);
  });
});
