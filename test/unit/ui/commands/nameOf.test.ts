import { expect, it } from 'vitest';
import { nameOf } from '../../../../src/ui/commands/addCluster/nameOf.js';

it.each([
  [['gpu1', 'gpu2'], 'gpu'],
  [['gpu1.lab.example', 'gpu2.lab.example'], 'gpu'],
  [['node-01', 'node-02'], 'node'],
  [['gpu1'], 'gpu1'],
  [['10.0.0.1', '10.0.0.2'], 'cluster'],
  [['fe80::1'], 'cluster'],
  [['ada', 'bob'], 'cluster'],
])('%j is called %s', (hosts, name) => {
  expect(nameOf(hosts, ['local'])).toBe(name);
});

it('a name that is taken gets a number', () => {
  expect(nameOf(['gpu1', 'gpu2'], ['gpu', 'gpu-2'])).toBe('gpu-3');
});
