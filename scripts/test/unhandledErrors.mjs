// A reporter of vitest. It writes how many errors came outside of the tests, such as rejected
// promises that nobody waited for: vitest's JSON report does not count them.
import { writeFileSync } from 'node:fs';

/** @import { Reporter, Vitest } from 'vitest/node' */

/** @implements {Reporter} */
export default class UnhandledErrors {
  #path = '';

  /** @param {Vitest} vitest */
  onInit(vitest) {
    const { outputFile } = vitest.config;
    if (typeof outputFile === 'object') this.#path = outputFile['unhandledErrors'] ?? '';
  }

  /**
   * @param {unknown} _modules
   * @param {readonly unknown[]} errors
   */
  onTestRunEnd(_modules, errors) {
    writeFileSync(this.#path, String(errors.length));
  }
}
