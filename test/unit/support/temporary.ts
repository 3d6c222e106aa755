import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder that goes away after the file's tests. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'trainyard-unit-'));
  afterAll(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}
