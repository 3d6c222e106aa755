import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requirementsFor } from '../../../../src/core/setup/wheels.js';

const text = readFileSync(join(import.meta.dirname, '../../../../native/runtime/requirements.txt'), 'utf8');
const packages = (kept: string): string[] =>
  kept.split('\n').flatMap((line) => /^(\S+==\S+)/.exec(line)?.[1] ?? []);

describe('requirementsFor', () => {
  it.each([
    [3, 9],
    [3, 10],
    [3, 11],
    [3, 12],
    [3, 14],
  ])('names each package once for Python %i.%i', (major, minor) => {
    const kept = requirementsFor(text, [major, minor, 1]);
    const names = packages(kept).map((line) => line.split('==')[0]);
    expect(new Set(names).size).toBe(names.length);
    for (const name of ['mpich', 'onednn-cpu-gomp', 'tensorboard', 'numpy', 'protobuf']) {
      expect(names).toContain(name);
    }
    expect(kept).not.toContain(' ; ');
    for (const [index, line] of kept.split('\n').entries()) {
      if (/^\S+==/.test(line)) expect(kept.split('\n')[index + 1], line).toMatch(/^ +--hash=sha256:/);
    }
  });

  it('chooses by the condition', () => {
    const lines =
      "a==1 ; python_full_version < '3.10' \\\n    --hash=sha256:0\na==2 ; python_full_version >= '3.10' \\\n    --hash=sha256:1\n    # via b\nb==3 \\\n    --hash=sha256:2\n";
    expect(requirementsFor(lines, [3, 9])).toBe(
      'a==1 \\\n    --hash=sha256:0\nb==3 \\\n    --hash=sha256:2\n',
    );
    expect(packages(requirementsFor(lines, [3, 13]))).toEqual(['a==2', 'b==3']);
    expect(() => requirementsFor("a==1 ; sys_platform == 'win32' \\", [3, 9])).toThrow(/not understood/);
  });
});
