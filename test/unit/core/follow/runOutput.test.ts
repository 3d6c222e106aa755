import { expect, it } from 'vitest';
import type { RunDetails } from '../../../../src/core/contracts/agentApi.js';
import { outputFiles } from '../../../../src/core/follow/runOutput.js';

const details = (...names: string[]): RunDetails => ({
  ...{ id: 'r', dir: '/r' as RunDetails['dir'], run: null, state: null, interrupted: false },
  files: Object.fromEntries(names.map((name) => [name, 10])),
  stamps: {},
});

it('follows the logs of the first ranks alone, each behind what an earlier run left', () => {
  const seen: [number, string][] = [];
  const files = outputFiles((rank, text) => seen.push([rank, text]), { 'logs/rank-1.log': 7 });
  const found = files(
    details('logs/rank-1.log', 'logs/eval.log', 'logs/rank-0.log', 'logs/rank-16.log', 'metrics.jsonl'),
  );
  expect(found.map(({ name, start }) => [name, start])).toEqual([
    ['logs/rank-0.log', 0],
    ['logs/rank-1.log', 7],
  ]);
  found[1]?.onLine({ offset: 7, text: 'a line' });
  found[1]?.onUnfinished?.('half');
  expect(seen).toEqual([
    [1, 'a line'],
    [1, 'half'],
  ]);
});
