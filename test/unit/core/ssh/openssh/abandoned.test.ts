import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { removeAbandoned } from '../../../../../src/core/ssh/openssh/abandoned.js';

const parent = mkdtempSync(join(tmpdir(), 'trainyard-abandoned-'));
afterAll(() => {
  rmSync(parent, { recursive: true, force: true });
});

it('removes folders of connections in which nobody listens, and no other', async () => {
  const make = (name: string): string => {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, 'askpass'), 'x');
    return join(parent, name);
  };
  const [dead, living, young, other] = ['trainyard-mux-a', 'trainyard-mux-b', 'trainyard-mux-c', 'else'].map(
    make,
  );
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(living!, 'c'), resolve));
  const old = Date.now() / 1000 - 600;
  for (const folder of [dead!, living!, other!]) utimesSync(folder, old, old);
  await removeAbandoned(parent);
  expect([dead, living, young, other].map((folder) => existsSync(folder!))).toEqual([
    false,
    true,
    true,
    true,
  ]);
  await new Promise((resolve) => server.close(resolve));
});
