import { describe, expect, it } from 'vitest';
import { execExit } from '../../../src/cli/verbs/cluster/exec.js';
import { UserError } from '../../../src/core/base/errors.js';

const ended = (code: number | null, error?: Error): Parameters<typeof execExit>[0][number] => ({
  code,
  error,
});
const unreached = ended(null, new UserError('connection', 'gpu2 was not reached', 'Look at it'));
const noAgent = ended(null, new UserError('preflight', 'gpu3 has no space', 'Make some'));

describe('the exit code of exec', () => {
  it.each([
    ['nothing failed', [ended(0), ended(0)], 0],
    ['no host was reached', [unreached, unreached], 3],
    ['one host was not reached', [ended(0), unreached], 3],
    ['one host was not reached, and on one the command failed', [ended(7), unreached], 5],
    ['a signal ended it', [ended(null), unreached], 5],
    ['it could not be started on one', [noAgent, unreached], 5],
  ])('%s', (_, endings, code) => {
    expect(execExit(endings)).toBe(code);
  });
});
