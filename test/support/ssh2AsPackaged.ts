// ssh2 as the package has it (scripts/build/build.mjs): without its native parts, where `npm ci`
// built some. For vitest's `setupFiles`, since this must come before ssh2 is loaded.
import { existsSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('ssh2/package.json'));
const native = join(folder, 'lib/protocol/crypto/build/Release/sshcrypto.node');
if (existsSync(native)) require.cache[native] = Object.assign(new Module(native), { loaded: true });
