// Wheels made here, for pip to install without an index.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const script = `
import json, sys, zipfile
path, name, files, requires = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
with zipfile.ZipFile(path, "w") as wheel:
    for file, size in files.items():
        wheel.writestr(file, "x" * size)
    info = name + "-1.0.dist-info/"
    needs = "".join("Requires-Dist: %s\\n" % one for one in requires)
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: %s\\nVersion: 1.0\\n%s" % (name, needs))
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;

/**
 * Version 1.0 of `name`, with these files, each of so many bytes, and these requirements. Returns
 * the line that pins it.
 */
export function makeWheel(
  folder: string,
  name: string,
  files: Record<string, number> = {},
  requires: readonly string[] = [],
): string {
  const path = join(folder, `${name}-1.0-py3-none-any.whl`);
  mkdirSync(folder, { recursive: true });
  execFileSync('python3', ['-c', script, path, name, JSON.stringify(files), JSON.stringify(requires)]);
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
  return `${name}==1.0 --hash=sha256:${hash}\n`;
}
