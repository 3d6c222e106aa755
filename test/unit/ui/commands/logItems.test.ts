// Which logs Open Log offers, and in what order.
import { expect, it, vi } from 'vitest';
import { runLogs } from '../../../../src/core/follow/runLogs.js';
import { logItems } from '../../../../src/ui/commands/runs/openLogs.js';

vi.mock('vscode', () => ({}));

const offered = (files: Record<string, number>): string[] =>
  logItems(runLogs(files), files).map(({ label, description }) => [label, description ?? ''].join(': '));

it('offers logs with text first, and says which are empty', () => {
  const files = {
    'logs/rank-0.log': 0,
    'logs/rank-1.log': 0,
    'logs/mpiexec.log': 20,
    'supervisor.log': 1500,
    'logs/eval.log': 0,
  };
  expect(offered(files)).toEqual([
    'supervisor: 1.5 kB',
    'mpiexec: 20 B',
    'rank-0: empty',
    'rank-1: empty',
    'eval: empty',
  ]);
});

it('offers all ranks at once where more than one of them has text', () => {
  const files = { 'logs/rank-0.log': 10, 'logs/rank-1.log': 10, 'logs/eval.log': 0, 'supervisor.log': 5 };
  expect(offered(files)).toEqual([
    'All ranks and the evaluator: ',
    'rank-0: 10 B',
    'rank-1: 10 B',
    'supervisor: 5 B',
    'eval: empty',
  ]);
});
