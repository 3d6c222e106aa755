import { expect, it } from 'vitest';
import { RunModel } from '../../../../src/core/model/runModel.js';
import { ReturnedNodes } from '../../../../src/core/model/returnedNodes.js';
import type { RunEvent } from '../../../../src/core/contracts/runSchema.js';

const at = { time: 1, generation: 1 };
const joined = (host: string): RunEvent => ({ ...at, kind: 'node_joined', host });
const lost = (host: string): RunEvent => ({ ...at, kind: 'node_lost', host, reason: 'silent' });
const finished: RunEvent = {
  ...at,
  kind: 'finished',
  phase: 'failed',
  exit_code: 1,
  reason: null,
  seconds: 1,
};

it('tells a node that comes back from one that joins at a start', () => {
  const nodes = new ReturnedNodes();
  const events = [
    joined('gpu1'),
    joined('gpu2'),
    lost('gpu2'),
    joined('gpu1'),
    joined('gpu2'),
    joined('gpu2'),
  ];
  expect(events.map((event) => nodes.add(event))).toEqual([
    ...[undefined, undefined, undefined, undefined],
    'gpu2 is back and joins again',
    undefined,
  ]);
});

it('takes the join of a run that is started anew for no return', () => {
  const nodes = new ReturnedNodes();
  for (const event of [joined('gpu2'), lost('gpu2'), finished]) nodes.add(event);
  expect(nodes.add(joined('gpu2'))).toBeUndefined();
});

it("is what a dashboard's log says of the node", () => {
  const model = new RunModel();
  for (const event of [joined('gpu2'), lost('gpu2'), joined('gpu2')]) model.addEvent(event);
  expect(model.log.since(0).map(({ text }) => text)).toEqual([
    'gpu2 joined',
    'gpu2 was lost: silent',
    'gpu2 is back and joins again',
  ]);
});
