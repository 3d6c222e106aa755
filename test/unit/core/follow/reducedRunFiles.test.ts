// What comparisons keep of runs that are over.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { CompareReader } from '../../../../src/core/follow/compareReader.js';
import { ReducedRunFiles } from '../../../../src/core/follow/reducedRunFiles.js';
import type { ComparedRun } from '../../../../src/core/compare/comparedRun.js';
import { FakeRun, stateOf } from '../../support/fakeRun.js';
import { evalLine, startLine, stepLine } from '../../support/lines.js';

const folder = mkdtempSync(join(tmpdir(), 'ty-reduced-'));
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('is read once when it is over, and again when anything of it changed', async () => {
  const run = new FakeRun();
  const lines = [startLine(), stepLine(25), evalLine(25, 0.5)];
  run.append('metrics.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const agent = run.connect();
  const node = new AgentNode({ open: () => Promise.resolve(agent.stream()) });
  const dir = nodePath(run.dir);
  const read = async (): Promise<{ reads: number; top1: number | null; run: ComparedRun }> => {
    const client = await node.client();
    const entry = await client.request('run.get', { dir });
    const before = agent.requests.length;
    const found = await new CompareReader(new ReducedRunFiles(folder)).read(client, 'local', entry);
    const reads = agent.requests.slice(before).filter(({ method }) => method === 'metrics.read').length;
    return { reads, top1: found.figures.top1, run: found };
  };
  // Under way it is read each time, and nothing is kept.
  expect(await read()).toMatchObject({ top1: 0.5, reads: 1 });
  expect(await read()).toMatchObject({ top1: 0.5, reads: 1 });
  expect(() => readdirSync(folder)).not.toThrow();
  run.state = stateOf('finished', 2);
  const first = await read();
  expect(first).toMatchObject({ top1: 0.5, reads: 1 });
  const again = await read();
  expect(again.reads).toBe(0);
  expect(again.run).toEqual(first.run);
  // A late evaluation.
  run.append('metrics.jsonl', `${JSON.stringify(evalLine(25, 0.75))}\n`);
  expect(await read()).toMatchObject({ top1: 0.75, reads: 1 });
  // Another file of the same size.
  const other = [startLine(), stepLine(25), evalLine(25, 0.5), evalLine(25, 0.25)];
  run.replace('metrics.jsonl', other.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(await read()).toMatchObject({ top1: 0.25, reads: 1 });
  // A file that was cut.
  run.replace(
    'metrics.jsonl',
    [startLine(), stepLine(25)].map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  expect(await read()).toMatchObject({ top1: null, reads: 1 });
  run.append('metrics.jsonl', `${JSON.stringify(evalLine(25, 0.75))}\n`);
  expect(await read()).toMatchObject({ top1: 0.75, reads: 1 });
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, name), 'something else');
  expect(await read()).toMatchObject({ top1: 0.75, reads: 1 });
  node.dispose();
});
