// What the programs need of a node's C library: they are built for glibc 2.28 and must not ask for
// more.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { trainer } from '../../support/harness.js';

const newest = 28;

it.each(['agent', 'trainer'])('%s needs no glibc symbol above 2.28', (program) => {
  const text = readFileSync(join(dirname(trainer), program), 'latin1');
  const versions = [...text.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  expect(versions.length).toBeGreaterThan(3);
  expect(Math.max(...versions)).toBeLessThanOrEqual(newest);
});
