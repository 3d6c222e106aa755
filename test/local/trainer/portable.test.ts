// What the programs need of a node's C library: no more than a check of the node demands.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { oldestGlibc } from '../../../src/core/setup/probe.js';
import { trainer } from '../../support/harness.js';

const [major, newest] = oldestGlibc;

it.each(['agent', 'trainer'])(`%s needs no glibc symbol above ${major}.${newest}`, (program) => {
  const text = readFileSync(join(dirname(trainer), program), 'latin1');
  const versions = [...text.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  expect(versions.length).toBeGreaterThan(3);
  expect(Math.max(...versions)).toBeLessThanOrEqual(newest);
});
