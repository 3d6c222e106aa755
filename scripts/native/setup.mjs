// Makes the native toolchain in the user's cache. Everything else calls it when needed.
import { main } from '../lib/shell.mjs';
import { ensureToolchain } from './toolchain.mjs';

main(() => {
  process.stdout.write(`${ensureToolchain()}\n`);
});
