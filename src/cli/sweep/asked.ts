// The command line of a sweep, as its record keeps it.
import type { AskedSweep } from '../../core/sweep/record.js';
import type { Args, Flag } from '../args.js';

/** These may differ where the same sweep goes on. */
const notKept = ['runs-at-once', 'detach', 'out', 'resume', 'again'];

export function askedOf(args: Args, flags: readonly Flag[], profile: string): AskedSweep {
  const given = flags.filter(({ name }) => args.has(name) && !notKept.includes(name));
  return {
    profile,
    flags: Object.fromEntries(given.map(({ name }) => [name, [...args.all(name)]])),
    rest: [...args.rest],
  };
}

/** As if it was typed once more. */
export function argsOf({ profile, flags, rest }: AskedSweep): Args {
  const all = (flag: string): readonly string[] => flags[flag] ?? [];
  return {
    words: [profile],
    rest,
    has: (flag) => Object.hasOwn(flags, flag),
    value: (flag) => all(flag).at(-1),
    all,
  };
}
