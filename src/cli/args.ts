// The command line's own flags: declared per verb, unknown ones refused with the nearest known one.
import { parseArgs } from 'node:util';
import { UserError } from '../core/base/errors.js';
import { nearestOf } from '../core/base/nearest.js';
import { positiveInteger } from '../core/plan/request/flags.js';

export interface Flag {
  name: string;
  /** What its value is called in the help; a flag without one takes none. */
  value?: string;
  help: string;
  /** Stands in place of the flag before it: the two are not given together. */
  alternative?: boolean;
}

export interface Grammar {
  verb: string;
  /** Names of the words it takes; one that ends in `?` may be left out, one in `…` may be repeated. */
  words: readonly string[];
  flags: readonly Flag[];
  /** Takes everything after `--`. */
  rest?: boolean;
  /** How the help shows that; by default `-- COMMAND…`. */
  restWords?: string;
  /** What stands after `--` may be of the trainer: with its verb, or its flags alone. */
  trainer?: 'verb' | 'flags';
}

export interface Args {
  words: string[];
  rest: string[];
  has(flag: string): boolean;
  /** The last one, of a flag that is given more than once. */
  value(flag: string): string | undefined;
  /** Every one, in the order given. */
  all(flag: string): readonly string[];
}

/** A flag that the verb does not have. */
export class UnknownFlag extends UserError {
  constructor(
    /** As it was typed, with its dashes. */
    readonly flag: string,
    what: string,
    hint: string,
  ) {
    super('usage', what, hint);
  }
}

/** Parses what follows the verb. UserError (usage), of a flag that it does not have UnknownFlag. */
export function parseVerb(grammar: Grammar, argv: readonly string[]): Args {
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  const rest = end < 0 ? [] : argv.slice(end + 1);
  const options = Object.fromEntries(
    grammar.flags.map(({ name, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...own],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = grammar.flags.find(({ name }) => token.rawName === `--${name}`);
    if (!flag) throw unknownFlag(grammar, token.rawName);
    if (flag.value === undefined && token.value !== undefined) {
      throw usage(grammar, `--${flag.name} takes no value`);
    }
    if (
      flag.value !== undefined &&
      (token.value === undefined || (!token.inlineValue && token.value.startsWith('--')))
    ) {
      throw usage(grammar, `--${flag.name} needs a value`);
    }
    values.set(flag.name, [...(values.get(flag.name) ?? []), token.value ?? '']);
  }
  if (end >= 0 && grammar.rest !== true) throw usage(grammar, `${grammar.verb} takes nothing after --`);
  const needed = grammar.words.filter((word) => !word.endsWith('?'));
  if (words.length < needed.length) throw missing(grammar, needed[words.length] ?? 'a word');
  const many = grammar.words.at(-1)?.endsWith('…') === true;
  if (words.length > grammar.words.length && !many) {
    const extra = words[grammar.words.length] ?? '';
    const hint = grammar.rest === true ? ' (what is to run stands after --)' : '';
    throw usage(grammar, `"${extra}" is one word too many${hint}`);
  }
  return {
    words,
    rest,
    has: (flag) => values.has(flag),
    value: (flag) => values.get(flag)?.at(-1),
    all: (flag) => values.get(flag) ?? [],
  };
}

/** `run P [--detach] …`, as help and error messages show it. */
export function synopsis(grammar: Grammar): string {
  const words = grammar.words.map((word) => (word.endsWith('?') ? `[${word.slice(0, -1)}]` : word));
  const flags: string[] = [];
  for (const { name, value, alternative } of grammar.flags) {
    if (name === 'help' || name === 'json') continue;
    const text = `--${name}${value === undefined ? '' : ` ${value}`}`;
    const before = alternative === true ? flags.pop() : undefined;
    flags.push(before === undefined ? `[${text}]` : `${before.slice(0, -1)} | ${text}]`);
  }
  const rest = grammar.rest === true ? [grammar.restWords ?? '-- COMMAND…'] : [];
  return ['trainyard', grammar.verb, ...words, ...flags, ...rest].join(' ');
}

/** The whole number above 0 that a flag has. UserError (usage) with an example. */
export function countOf(flag: string, text: string, example: number): number {
  return positiveInteger(text, flag, `Write, for example, ${flag} ${example}`);
}

function missing(grammar: Grammar, word: string): UserError {
  if (word !== 'P') return usage(grammar, `${word} is missing`);
  const hint = `trainyard profiles lists them; see trainyard ${grammar.verb} --help`;
  return new UserError('usage', 'P, the name of a profile, is missing', hint);
}

function usage(grammar: Grammar, what: string): UserError {
  return new UserError('usage', what, `Usage: ${synopsis(grammar)}`);
}

function unknownFlag(grammar: Grammar, raw: string): UnknownFlag {
  const nearest = nearestOf(
    raw.replace(/^-+/, ''),
    grammar.flags.map(({ name }) => name),
  );
  const hint = nearest === undefined ? `See trainyard ${grammar.verb} --help` : `Did you mean --${nearest}?`;
  return new UnknownFlag(raw, `trainyard ${grammar.verb} has no flag ${raw}`, hint);
}
