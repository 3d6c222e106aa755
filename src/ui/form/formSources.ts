// What the run form can be filled in from: runs that were started here, and those of the list.
import type { Backend } from '../backend.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { ownFirst } from '../../core/model/measured.js';
import { runName } from '../../core/model/runName.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { Preset } from '../../core/contracts/presetSchema.js';
import type { AskedRun } from '../../core/plan/request/commandLine.js';
import { withKept } from '../../core/plan/request/keptWishes.js';
import { presetRun } from '../../core/presets/presetRun.js';
import { silenceAgain } from '../../core/plan/request/ownWishes.js';
import { timeLimitAgain, typedOf } from '../../core/plan/request/recordedRun.js';
import { joinWords } from '../../core/plan/request/argv.js';
import type { FormChoice } from '../../webview/formProtocol.js';
import type { RecentRun } from '../recentRuns.js';

/** Runs of the list that are offered. */
const mostRuns = 30;
/** Characters of a line. */
const longest = 70;

/** One run to fill the form in from. */
export interface FormSource extends FormChoice {
  /** UserError (usage) for a preset whose words or wishes are none. */
  run: () => AskedRun;
}

/**
 * Presets, what was started here lately, newest first, and then the runs of the list. `profile` is
 * for presets that name none.
 */
export const runSources = (
  presets: readonly Preset[],
  profile: string,
  recent: readonly RecentRun[],
  { monitor }: Pick<Backend, 'monitor'>,
): FormSource[] => [
  ...presets.map((preset) => ({
    value: `preset ${preset.name}`,
    label: cut(`${preset.name}: ${preset.command}`),
    group: 'Presets of this workspace',
    run: () => presetRun(preset, profile),
  })),
  ...recent.map((run, index) => ({
    value: `recent ${index}`,
    label: cut(`${run.profile}: ${joinWords(run.words)}`),
    group: 'Started here lately',
    run: () => run,
  })),
  ...ownFirst(monitor.all)
    .slice(0, mostRuns)
    .flatMap(({ profile, run }) => {
      const asked = askedOf(profile, run.entry);
      if (!asked) return [];
      const label = cut(`${runName(run.entry)} on ${profile}: ${joinWords(asked.words)}`);
      return [{ value: `run ${profile} ${run.entry.dir}`, label, group: 'Runs', run: () => asked }];
    }),
];

/** The same run once more, in a folder of its own and without its name. */
function askedOf(profile: string, { run, about }: RunOverview['entry']): AskedRun | undefined {
  if (!run) return undefined;
  const { code, ...typed } = typedOf(run);
  const { cwd } = run;
  return {
    profile,
    ...typed,
    ...timeLimitAgain(run),
    ...silenceAgain(run),
    ...(cwd === undefined || run.profile.kind !== 'local' ? {} : { cwd }),
    ...(code === undefined ? {} : { codeFolder: code.record.folder }),
    ...(about && about.tags.length > 0 ? { tags: about.tags } : {}),
  };
}

/**
 * What asks for a run like this one, under the same name; undefined where its record cannot be
 * read.
 */
export function againOf(profile: Profile, details: RunOverview['entry']): AskedRun | undefined {
  const asked = askedOf(profile.name, details);
  const name = details.about?.name ?? '';
  return asked && { ...withKept(profile, asked), ...(name === '' ? {} : { name }) };
}

const cut = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`);
