// Runs the tests of this folder inside an extension host: VS Code's test runner calls `run()`, and
// so does the driver.
import { writeFileSync } from 'node:fs';
import type Mocha from 'mocha';
import type { HostTest } from '../driver/protocol.js';
import { defineContributionTests } from './contributions.js';

function execute(mocha: Mocha): Promise<HostTest[]> {
  const results: HostTest[] = [];
  return new Promise((done) => {
    mocha
      .run(() => {
        done(results);
      })
      .on('pass', (test) => results.push({ title: test.fullTitle() }))
      .on('pending', (test) => results.push({ title: test.fullTitle(), skipped: true }))
      .on('fail', (test, error: Error) =>
        results.push({ title: test.fullTitle(), error: error.stack ?? error.message }),
      );
  });
}

export async function run(): Promise<HostTest[]> {
  const { default: Runner } = await import('mocha'); // a module, which not every editor's host can require
  // Results go to the caller; the least talkative reporter there is would still clear a console.
  class Silent extends Runner.reporters.Base {
    override epilogue(): void {
      // Nothing is said at the end.
    }
  }
  const mocha = new Runner({ timeout: 20_000, reporter: Silent });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  defineContributionTests();
  const results = await execute(mocha);
  const file = process.env['TRAINYARD_TEST_RESULT'];
  if (file !== undefined) writeFileSync(file, JSON.stringify(results));
  return results;
}
