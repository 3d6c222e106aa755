// What `run` does between the end of its start and the first line of its run. The machine and the
// config folder are stand-ins.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { parseVerb } from '../../../src/cli/args.js';
import { Context } from '../../../src/cli/context.js';
import type { LiveExports } from '../../../src/cli/liveExports.js';
import { startAndStay } from '../../../src/cli/startAndStay.js';
import { AgentNode } from '../../../src/core/agent/agentNode.js';
import { UserError } from '../../../src/core/base/errors.js';
import { nullLogger } from '../../../src/core/base/log.js';
import type { RunRequest } from '../../../src/core/plan/request/request.js';
import { FakeRun, stateOf } from '../support/fakeRun.js';

const folder = mkdtempSync(join(tmpdir(), 'trainyard-start-'));
// No folder, so that nothing can be written into it.
const home = join(folder, 'home');
writeFileSync(home, '');
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const exports = {
  begin: () => undefined,
  leave: () => undefined,
  finish: (code: number) => Promise.resolve(code),
} as unknown as LiveExports;

let run: FakeRun;
let said: string[];
let stops: string[];
beforeEach(() => {
  run = new FakeRun();
  said = [];
  stops = [];
});

/** `onGet`: as the run is asked about for the first time. */
function start(words: readonly string[], onGet: () => void): Promise<number> {
  const take = (text: string): void => {
    said.push(text);
  };
  const output = { line: take, note: take, json: () => undefined, bytes: () => undefined };
  const env = { TRAINYARD_HOME: home };
  const context = new Context(output, false, '/', '/', env, nullLogger);
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  let asked = false;
  const client = node.client.bind(node);
  node.client = () => {
    if (!asked) onGet();
    asked = true;
    return client();
  };
  const machine = {
    ...{ node, dispose: () => undefined, start: () => Promise.resolve({ id: 'r', dir: run.dir }) },
    stop: (_: string, mode: string) => {
      stops.push(mode);
      run.state = stateOf('stopped', 2);
      run.append('events.jsonl', '{"time":1,"generation":1,"kind":"stopped","phase":"stopped"}\n');
      return Promise.resolve();
    },
  };
  const chosen = { chosen: machine, chosenProfile: { name: 'lab', kind: 'ssh' } };
  Object.assign(context, chosen);
  const grammar = { verb: 'run', words: [], flags: [{ name: 'detach', help: '' }] };
  return startAndStay(context, parseVerb(grammar, words), {} as RunRequest, exports).finally(() => {
    node.dispose();
  });
}

it('a run that cannot be noted is shown, and is no failure', async () => {
  expect(await start(['--detach'], () => undefined)).toBe(0);
  expect(said.join('\n')).toMatch(/r is not noted: [^]*run {5}r\nfolder {2}\/w\/runs\/r/);
});

it('says which run it is before the first question about it fails', async () => {
  const lost = (): never => {
    throw new UserError('connection', 'the link is lost', '');
  };
  await expect(start([], lost)).rejects.toThrow('the link is lost');
  expect(said.join('\n')).toMatch(/run {5}r\nfolder {2}\/w\/runs\/r/);
});

it('Ctrl-C before the run is followed stops it', async () => {
  const listeners = process.listenerCount('SIGINT');
  await start([], () => process.emit('SIGINT'));
  expect(stops).toEqual(['checkpoint']);
  expect(process.listenerCount('SIGINT')).toBe(listeners);
});
