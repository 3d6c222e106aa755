// What every later step of .ci/run stands on.
import { ensurePackages } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { ensureToolchain } from '../native/toolchain.mjs';

main(() => {
  ensurePackages();
  ensureToolchain();
});
