// Figures of a node that no longer answers.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { NamedNode } from '../../../../src/core/cluster/nodes/machine.js';
import { ageText, ClusterFigures, freshSample } from '../../../../src/ui/tree/clusterFigures.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('get old before the eyes of who looks, though the node gives neither figures nor an error', async () => {
  let answers = 0;
  const client = {
    request: () => (answers++ === 0 ? Promise.resolve({ gpus: [] }) : new Promise(() => undefined)),
  };
  const node = { hello: () => Promise.resolve({ cores: 2 }), client: () => Promise.resolve(client) };
  const changed = vi.fn();
  const figures = new ClusterFigures([{ name: 'gpu1', node } as unknown as NamedNode], changed);
  figures.start();
  await vi.advanceTimersByTimeAsync(100);
  expect(freshSample(figures.host('gpu1'))).toBeDefined();
  changed.mockClear();
  await vi.advanceTimersByTimeAsync(7900);
  expect(changed).toHaveBeenCalled();
  expect(freshSample(figures.host('gpu1'))).toBeUndefined();
  expect(ageText(figures.host('gpu1'))).toBe('no figures for 8 s, trying again');
  figures.stop();
  changed.mockClear();
  await vi.advanceTimersByTimeAsync(3000);
  expect(changed).not.toHaveBeenCalled();
  figures.dispose();
});
