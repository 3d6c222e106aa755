// What `run` and `attach` say at the end of a run whose metrics.jsonl was replaced meanwhile.
import { expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { followRun } from '../../../src/cli/follow.js';
import { JsonPrinter } from '../../../src/cli/printer.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { AgentNode } from '../../../src/core/agent/agentNode.js';
import { FakeRun, stateOf } from '../support/fakeRun.js';
import { evalLine, startLine, stepLine } from '../support/lines.js';

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
