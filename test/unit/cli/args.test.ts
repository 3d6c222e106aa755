import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countOf, parseVerb, synopsis, UnknownFlag, type Grammar } from '../../../src/cli/args.js';
import { placedFlag } from '../../../src/cli/misplacedFlag.js';
import { editDistance, nearestOf } from '../../../src/core/base/nearest.js';
import { generalHelp, verbHelp } from '../../../src/cli/help.js';
import { verbs } from '../../../src/cli/table.js';
import { wishFlags } from '../../../src/cli/wishes.js';
import { UserError } from '../../../src/core/base/errors.js';

const grammar: Grammar = {
  verb: 'run',
  words: ['P'],
  flags: [
    { name: 'detach', help: '' },
    { name: 'ranks', value: 'N', help: '' },
    { name: 'json', help: '' },
  ],
  rest: true,
};
const failure = (argv: string[], of: Grammar = grammar): string => {
  try {
    parseVerb(of, argv);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ code: 'usage' });
    return (error as UserError).message;
  }
  throw new Error('it was accepted');
};

describe('parseVerb', () => {
  it('takes flags in any place before --, and everything after it as it is', () => {
    const args = parseVerb(grammar, [
      '--json',
      'local',
      '--ranks',
      '2',
      '--',
      'train',
      '--ranks',
      '--detach',
      '--',
    ]);
    expect(args.words).toEqual(['local']);
    expect(args.value('ranks')).toBe('2');
    expect(args.has('json')).toBe(true);
    expect(args.has('detach')).toBe(false);
    expect(args.rest).toEqual(['train', '--ranks', '--detach', '--']);
    expect(parseVerb(grammar, ['local', '--ranks=3']).value('ranks')).toBe('3');
    const twice = parseVerb(grammar, ['local', '--ranks=3', '--ranks', '4']);
    expect([twice.value('ranks'), twice.all('ranks'), twice.all('json')]).toEqual(['4', ['3', '4'], []]);
  });

  it('takes a last word as often as it stands there', () => {
    const many: Grammar = { verb: 'compare', words: ['RUN', 'RUN…'], flags: [] };
    expect(parseVerb(many, ['a', 'b', 'c']).words).toEqual(['a', 'b', 'c']);
    const inMiddle = { verb: 'download', words: ['RUN', 'STEP?', 'DIR'], flags: [] };
    expect(failure(['a'], inMiddle)).toMatch(/DIR is missing\. Usage: trainyard download RUN \[STEP\] DIR/);
    expect(parseVerb(inMiddle, ['a', 'b']).words).toEqual(['a', 'b']);
    expect(failure(['a'], many)).toMatch(/RUN… is missing\. Usage: trainyard compare RUN RUN…/);
  });

  it.each([
    [['local', '--rank', '2'], /no flag --rank\. Did you mean --ranks\?/],
    [['local', '--detached'], /Did you mean --detach\?/],
    [['local', '-x'], /no flag -x\. See trainyard run --help/],
    [['local', '--ranks'], /--ranks needs a value/],
    [['local', '--ranks', '--json'], /--ranks needs a value/],
    [['local', '--detach=yes'], /--detach takes no value/],
    [
      [],
      /^P, the name of a profile, is missing\. trainyard profiles lists them; see trainyard run --help\.$/,
    ],
    [['local', 'train'], /"train" is one word too many \(what is to run stands after --\)/],
  ])('refuses %j', (argv, expected) => {
    expect(failure(argv)).toMatch(expected);
  });

  it('refuses -- where nothing is to run', () => {
    expect(failure(['local', '--', 'x'], { ...grammar, rest: false })).toMatch(/takes nothing after --/);
  });
});

describe('the usage line', () => {
  it('shows flags that stand in place of each other together, and what stands after --', () => {
    const flags = [
      { name: 'csv', help: '' },
      { name: 'to', value: 'X', help: '', alternative: true },
      { name: 'all', help: '' },
    ];
    const shown = synopsis({ verb: 'v', words: ['P?'], flags, rest: true, restWords: '[-- FLAGS…]' });
    expect(shown).toBe('trainyard v [P] [--csv | --to X] [--all] [-- FLAGS…]');
    expect(synopsis(grammar)).toBe('trainyard run P [--detach] [--ranks N] -- COMMAND…');
  });

  it('is not needed for a count: there is an example', () => {
    expect(countOf('--ranks', '3', 2)).toBe(3);
    expect(() => countOf('--ranks', '0', 2)).toThrow(
      '--ranks must be a whole number from 1, not "0". Write, for example, --ranks 2.',
    );
  });
});

describe('suggestions', () => {
  it('count edits as people make them', () => {
    expect(editDistance('rnu', 'run')).toBe(1);
    expect(editDistance('jsn', 'json')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
    expect(nearestOf('atach', ['attach', 'run'])).toBe('attach');
    expect(nearestOf('zzzzzz', ['attach', 'run'])).toBeUndefined();
  });

  it('agree with a metric', () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      }),
    );
  });
});

describe('a flag of the trainer before --', () => {
  const grammar: Grammar = { verb: 'run', words: ['P'], flags: [{ name: 'ranks', value: 'N', help: 'h' }] };
  const of = async (
    trainer: Grammar['trainer'],
    argv: string[],
    help: string | undefined,
  ): Promise<string> => {
    const own = { ...grammar, rest: true, ...(trainer ? { trainer } : {}) };
    try {
      parseVerb(own, argv);
    } catch (error) {
      if (!(error instanceof UnknownFlag)) throw error;
      return (await placedFlag(error, own, argv, () => Promise.resolve(help))).message;
    }
    throw new Error('it was taken');
  };
  const help = '  --model TEXT REQUIRED  mlp (28 px)\n  --lr FLOAT:>0..10=0.1  rate';

  it('is told its place', async () => {
    const there = '--lr is a flag of the trainer. Write it after "-- train".';
    expect(await of('verb', ['lab', '--lr', '1'], help)).toBe(there);
    expect(await of('verb', ['lab', 'eval', '--lr', '1'], help)).toContain('after "-- eval"');
    expect(await of('flags', ['r', '--lr', '1'], help)).toContain('after "--"');
  });

  it('is an unknown flag where the trainer has none of the name, or has no say', async () => {
    expect(await of('verb', ['lab', '--rnaks', '1'], help)).toContain('Did you mean --ranks?');
    expect(await of(undefined, ['lab', '--lr', '1'], help)).toContain('See trainyard run --help');
    expect(await of('verb', ['lab', 'train', '--lr', '1'], undefined)).toBe(
      'trainyard run has no flag --lr. Flags of the trainer stand after "-- train".',
    );
    expect(await of('verb', ['lab', '--lr', '1'], undefined)).toContain('See trainyard run --help');
  });
});

describe('the table of verbs', () => {
  it('has every verb of the contracts, each with help', () => {
    const names = verbs.map(({ verb }) => verb);
    const contract =
      'profiles import trust check gpus exec copy stage run runs compare report sweep tag attach logs resume run-from stop checkpoints eval predict export download tensorboard debug open terminal tunnel delete kill-leftovers clean mcp runtime';
    expect([...names].sort()).toEqual(contract.split(' ').sort());
    for (const verb of verbs) {
      const text = verbHelp(verb).join('\n');
      expect(text).toContain(synopsis(verb));
      for (const { name, help } of verb.flags) {
        expect(help, `${verb.verb} --${name}`).not.toBe('');
        expect(text).toContain(`--${name}`);
      }
      expect(generalHelp(verbs).join('\n')).toContain(verb.summary);
    }
  });

  it('takes every wish of a run for the trials of a sweep too', () => {
    const taken = verbs.find(({ verb }) => verb === 'sweep')?.flags.map(({ name }) => name);
    expect(taken).toEqual(expect.arrayContaining(wishFlags.map(({ name }) => name)));
  });
});
