// The native toolchain, made by programs that stand in for Python, pip, apt and dpkg.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../../scripts/lib/paths.mjs';
import { temporaryFolder } from '../support/temporary.js';

const here = temporaryFolder();
const programs = join(here, 'programs');
const libgomp = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/lib/x86_64-linux-gnu'].some(
  (folder) => existsSync(join(folder, 'libgomp.so.1')),
);

/** `python -m venv FOLDER` makes one whose `python -m pip` brings a cmake with an absolute path. */
const python = `#!/bin/sh
[ "$2" = venv ] || exit 0
mkdir -p "$3/bin" "$3/lib/python3.11/site-packages/ziglang"
cat > "$3/bin/python" <<END
#!/bin/sh
printf '#!$3/bin/python\\\\n' > "$3/bin/cmake"
END
chmod +x "$3/bin/python"
`;
const apt = '#!/bin/sh\n[ "$1" = download ] && : > "$3.deb"\nexit 0\n';

/** Kills the process right after its first rename of a folder that was partial. */
const killed = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  rename(from, to);
  if (from.includes('.partial-')) process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();
`;

beforeAll(() => {
  mkdirSync(programs);
  const texts = { python3: python, 'apt-get': apt, 'apt-cache': '#!/bin/sh\necho it\n', dpkg: '#!/bin/sh\n' };
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(programs, name), text, { mode: 0o755 });
  }
  writeFileSync(join(here, 'killed.mjs'), killed);
});

/** A clone and a cache of their own. */
function fresh(): {
  setup: (...words: string[]) => ReturnType<typeof spawnSync>;
  toolchains: () => string[];
} {
  const folder = mkdtempSync(join(here, 'clone-'));
  for (const part of ['lib', 'native', 'requirements']) {
    cpSync(join(root, 'scripts', part), join(folder, 'scripts', part), { recursive: true });
  }
  const cache = join(folder, 'cache');
  return {
    setup: (...words) =>
      spawnSync(process.execPath, [...words, join(folder, 'scripts/native/setup.mjs')], {
        encoding: 'utf8',
        env: { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}`, XDG_CACHE_HOME: cache },
      }),
    toolchains: () =>
      readdirSync(join(cache, 'trainyard/toolchain')).map((name) => join(cache, 'trainyard/toolchain', name)),
  };
}

/** The program that a script of the toolchain is run by. */
const interpreter = (toolchain: string): string => readFileSync(join(toolchain, 'venv/bin/cmake'), 'utf8');

describe.skipIf(!libgomp)('a toolchain', () => {
  it('has scripts that name its own folder', () => {
    const { setup, toolchains } = fresh();
    const { status, stdout } = setup();
    expect(status).toBe(0);
    const [toolchain = '', ...others] = toolchains();
    expect(others).toEqual([]);
    expect(stdout).toBe(`${toolchain}\n`);
    expect(interpreter(toolchain)).toBe(`#!${toolchain}/venv/bin/python\n`);
  });

  it('is whole as soon as it is there, also after a kill', () => {
    const { setup, toolchains } = fresh();
    expect(setup('--import', pathToFileURL(join(here, 'killed.mjs')).href).signal).toBe('SIGKILL');
    const [toolchain = ''] = toolchains();
    expect(interpreter(toolchain)).toBe(`#!${toolchain}/venv/bin/python\n`);
    expect(setup().status).toBe(0);
    expect(toolchains()).toEqual([toolchain]);
  });
});
