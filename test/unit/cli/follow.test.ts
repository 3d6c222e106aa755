// What `run` and `attach` say at the end of a run whose metrics.jsonl was replaced meanwhile.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { followRun } from '../../../src/cli/follow.js';
import { JsonPrinter } from '../../../src/cli/printer.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { AgentNode } from '../../../src/core/agent/agentNode.js';
import { FakeRun, stateOf } from '../support/fakeRun.js';
import { evalLine, startLine, stepLine } from '../support/lines.js';

/** Whose advice it is. */
const trainer = join(import.meta.dirname, '../../../native/trainer/train/loop/train.cpp');

const json = (value: object): string => `${JSON.stringify(value)}\n`;

it('the summary tells of the lines that are there now', async () => {
  const run = new FakeRun();
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  run.append('events.jsonl', '');
  run.append('metrics.jsonl', json(startLine()) + json(stepLine(20)) + json(evalLine(20, 0.9)));
  const said: Record<string, unknown>[] = [];
  const nothing = (): void => undefined;
  const output = {
    line: nothing,
    json: (value: object) => said.push(value as Record<string, unknown>),
    bytes: nothing,
    note: nothing,
  };
  const here = { machine: {}, currentProfile: { name: 'local' } };
  const context = { output, node, logger: nullLogger, json: true, ...here } as unknown as Context;
  const options = { dir: nodePath(run.dir), ownsRun: false, tensorboard: false };
  const end = followRun(context, new JsonPrinter(output), options);
  const metrics = (): number => said.filter(({ type }) => type === 'metric').length;
  await expect.poll(metrics).toBe(3);
  run.replace('metrics.jsonl', json(startLine({ resumed_from: 'step-00000020' })) + json(stepLine(30)));
  await expect.poll(metrics).toBe(5);
  run.state = stateOf('finished', 2);
  const how = { phase: 'finished', exit_code: 0, reason: null, seconds: 60 };
  run.append('events.jsonl', json({ time: 1, generation: 1, kind: 'finished', ...how }));
  expect(await end).toBe(0);
  expect(said.at(-1)).toMatchObject({ type: 'summary', step: 30, best_top1: null });
  node.dispose();
});

it('a training that diverged is said to need a new run, not a resume', async () => {
  const reason = /"(Lower --lr[^"]*)"/.exec(readFileSync(trainer, 'utf8'))?.[1];
  const run = new FakeRun();
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  run.append('metrics.jsonl', '');
  run.state = { ...stateOf('failed', 2), reason: `rank 0: the loss is not finite. ${reason}` };
  run.append('events.jsonl', json({ time: 1, generation: 1, kind: 'finished', phase: 'failed' }));
  const notes: string[] = [];
  const nothing = (): void => undefined;
  const note = (text: string): void => {
    notes.push(text);
  };
  const output = { line: nothing, json: nothing, bytes: nothing, note };
  const here = { machine: {}, currentProfile: { name: 'lab' } };
  const context = { output, node, logger: nullLogger, json: true, ...here } as unknown as Context;
  const options = { dir: nodePath(run.dir), ownsRun: false, tensorboard: false };
  await followRun(context, new JsonPrinter(output), options);
  expect(notes).toEqual([
    'a new run, with a lower rate, is started with: trainyard run lab -- train … --lr RATE',
  ]);
  node.dispose();
});
