// What every later step of .ci/run stands on.
import { ensurePackages } from './lib/prepare.mjs';
import { main } from './lib/shell.mjs';
import { ensureToolchain } from './lib/toolchain.mjs';

main(() => {
  ensurePackages();
  ensureToolchain();
});
