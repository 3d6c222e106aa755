import { describe, expect, it } from 'vitest';
import { errorText, errorWords, remedyOf, UserError } from '../../../../src/core/base/errors.js';

describe('UserError', () => {
  it('reads WHAT. WHAT TO DO. in one line', () => {
    expect(new UserError('usage', 'no run is named "x"', 'Write more of the id').message).toBe(
      'no run is named "x". Write more of the id.',
    );
    expect(new UserError('usage', 'really?', 'Did you mean y?').message).toBe('really? Did you mean y?');
    expect(new UserError('failed', 'two\n  lines\r\n', '').message).toBe('two lines.');
  });

  it('leaves a remedy to the words of a user interface', () => {
    const remedy = { kind: 'startRun' } as const;
    const error = new UserError('usage', 'there are no runs', remedy);
    expect(error.message).toBe('there are no runs.');
    expect(remedyOf(error)).toEqual(remedy);
    expect(errorWords(error, ({ kind }) => `do ${kind}`)).toBe('there are no runs. do startRun.');
    // As it comes from another copy of the class.
    const foreign = Object.assign(new Error('x.'), { what: 'x', hint: remedy });
    expect(errorWords(foreign, ({ kind }) => kind)).toBe('x. startRun.');
    const plain = new UserError('usage', 'no', 'Yes');
    expect([remedyOf(plain), remedyOf(new Error('x')), remedyOf('x')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(errorWords(plain, String)).toBe('no. Yes.');
    expect(errorWords('a\nb', String)).toBe('a b');
  });

  it('has the exit codes of the contracts', () => {
    const codes = (['usage', 'connection', 'preflight', 'failed'] as const).map(
      (code) => new UserError(code, '', '').exitCode,
    );
    expect(codes).toEqual([2, 3, 4, 5]);
  });
});

it('errorText takes anything', () => {
  expect(errorText(new Error('a\nb'))).toBe('a b');
  expect(errorText('text')).toBe('text');
  expect(errorText(undefined)).toBe('undefined');
});
