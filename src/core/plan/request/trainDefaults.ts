// What a profile adds to a training that does not say otherwise.
import type { Profile } from '../../contracts/profileSchema.js';
import { plural } from '../../base/plural.js';
import { trainerVerb, withoutTrainer } from './flags.js';
import type { TypedRun } from './request.js';
import { joinWords } from './argv.js';

/** These belong to a number of ranks. */
const ofRanks: readonly string[] = ['--threads', '--servers'];
/** Each of these has no meaning with some of the others. */
const ofSums: readonly string[] = [
  '--strategy',
  '--servers',
  '--allreduce',
  '--gradient-type',
  '--bucket-size',
  '--comm',
];

type Asked = Pick<TypedRun, 'words' | 'ranks' | 'nodes' | 'hosts' | 'gpus' | 'runDir'>;

/** What is added. */
type Added = Pick<NonNullable<Profile['train']>, 'ranks' | 'flags'>;

/** The same run with `addedDefaults`. */
export function withTrainDefaults<R extends Asked>(run: R, profile: Profile): R {
  const { ranks, flags = [] } = addedDefaults(run, profile) ?? {};
  if (ranks === undefined && flags.length === 0) return run;
  const head = run.words[0] === 'trainer' ? 2 : 1;
  const words = [...run.words.slice(0, head), ...flags, ...run.words.slice(head)];
  return { ...run, words, ...(ranks === undefined ? {} : { ranks }) };
}

/**
 * What the profile has for a training that leaves it open. Ranks and threads are one choice, and
 * how gradients are summed is one: where the run says anything of it, nothing of it is added.
 * Undefined where nothing is: also of what is no training, or goes on in a folder.
 */
export function addedDefaults(run: Asked, { train }: Profile): Added | undefined {
  const words = withoutTrainer(run.words);
  if (train === undefined || trainerVerb(words) !== 'train') return undefined;
  const given = new Set(words.map((word) => word.replace(/=.*/s, '')));
  if (run.runDir !== undefined || given.has('--run-dir')) return undefined;
  const { ranks: asked, nodes, hosts, gpus } = run;
  const saysRanks = [asked, nodes, hosts, gpus].some((one) => one !== undefined) || given.has('--threads');
  const own = flagsOf(train.flags ?? []);
  const leavesSums = !ofSums.some((flag) => given.has(flag)) && !(saysRanks && own.some(isServed));
  const flags = own.filter(([word = '']) => {
    const flag = word.replace(/=.*/s, '');
    return (
      !given.has(flag) && !(saysRanks && ofRanks.includes(flag)) && (leavesSums || !ofSums.includes(flag))
    );
  });
  const ranks = saysRanks ? undefined : train.ranks;
  if (flags.length === 0 && ranks === undefined) return undefined;
  return { ...(ranks === undefined ? {} : { ranks }), flags: flags.flat() };
}

/** For people: `2 ranks, --threads 1 (bake-off of 2026-11-25 …)`. */
export function trainDefaultsText({ ranks, flags = [], why }: NonNullable<Profile['train']>): string {
  const parts = [...(ranks === undefined ? [] : [plural(ranks, 'rank')]), joinWords(flags)];
  return `${parts.filter((part) => part !== '').join(', ')}${why === undefined ? '' : ` (${why})`}`;
}

/** Whether a flag with its values asks for servers. */
const isServed = (words: readonly string[]): boolean =>
  /^--strategy[ =]parameter-server/.test(words.join(' '));

/** Each flag with its values. */
function flagsOf(words: readonly string[]): string[][] {
  const flags: string[][] = [];
  for (const word of words) {
    if (word.startsWith('--')) flags.push([word]);
    else flags.at(-1)?.push(word);
  }
  return flags;
}
