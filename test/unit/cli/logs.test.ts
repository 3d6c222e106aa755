// `logs --follow --json` of a run that ends in the middle of a line.
import { expect, it } from 'vitest';
import { parseVerb } from '../../../src/cli/args.js';
import type { Context } from '../../../src/cli/context.js';
import { logs } from '../../../src/cli/verbs/logs.js';
import { AgentNode } from '../../../src/core/agent/agentNode.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { FakeRun, stateOf } from '../support/fakeRun.js';

it('a last line without a newline is a line, once the run is over', async () => {
  const run = new FakeRun();
  run.append('events.jsonl', '{"time":1,"generation":1,"kind":"finished","phase":"failed"}\n');
  run.append('metrics.jsonl', '');
  run.append('logs/rank-0.log', 'begun\nKilled');
  run.state = stateOf('failed', 2);
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  const said: object[] = [];
  const json = (value: object): void => {
    said.push(value);
  };
  const context = {
    ...{ json: true, node, logger: nullLogger, output: { json, note: () => undefined } },
    resolveRun: () => Promise.resolve({ dir: run.dir }),
  } as unknown as Context;
  const args = parseVerb(logs, ['r', '--follow', '--grep', 'kill', '--ignore-case']);
  expect(await logs.run(context, args)).toBe(0);
  expect(said).toEqual([{ type: 'log', source: 'rank-0', offset: 6, text: 'Killed' }]);
  node.dispose();
});
