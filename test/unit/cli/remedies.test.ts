import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/core/base/errors.js';
import { errorWords, remedyText } from '../../../src/cli/remedies.js';
import { everyRemedy, sentenceWithoutStop, stop } from '../support/remedies.js';

describe('remedies in the terminal', () => {
  it.each(everyRemedy)('says what to do: $kind', (remedy) => {
    const text = remedyText(remedy);
    expect(text).toMatch(sentenceWithoutStop);
    expect(text).not.toMatch(/undefined|\[object|Trainyard: /);
    expect(errorWords(new UserError('usage', 'it broke', remedy))).toBe(`it broke. ${text}${stop(text)}`);
  });

  it('has one sentence for each, so that no two can be mixed up', () => {
    const texts = everyRemedy.map(remedyText);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('names flags and commands of the command line', () => {
    const fewer = { kind: 'fewerRanks', profile: 'lab', ranks: 4, words: [], moreSlots: false } as const;
    expect(remedyText(fewer)).toBe('Use --ranks 4 or fewer');
    expect(remedyText({ kind: 'startRun' })).toContain('trainyard run local');
    expect(remedyText({ kind: 'chooseProfile', names: ['local', 'lab'] })).toBe(
      'Choose one of: local, lab, or make one with: trainyard import',
    );
    expect(remedyText({ kind: 'askAgain', host: 'a', first: { kind: 'correctKeyFile', host: 'a' } })).toBe(
      'Correct identityFile in the profile, or the file. Give the command again to be asked once more',
    );
  });

  it('leaves plain words as they are', () => {
    expect(errorWords(new UserError('usage', 'it broke', 'Mend it'))).toBe('it broke. Mend it.');
    expect(errorWords(new Error('a\nb'))).toBe('a b');
    expect(errorWords('text')).toBe('text');
  });
});
