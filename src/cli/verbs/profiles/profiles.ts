import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../../core/base/errors.js';
import { trainDefaultsText } from '../../../core/plan/request/trainDefaults.js';
import { WorkspaceFile } from '../../../core/presets/workspaceFile.js';
import { withoutKeyFiles } from '../../../core/profiles/shared.js';
import type { Args } from '../../args.js';
import type { Context, Verb } from '../../context.js';
import { table } from '../../format.js';

export const profiles: Verb = {
  verb: 'profiles',
  summary: 'lists the profiles, or prints one to hand it on',
  words: ['P?'],
  flags: [{ name: 'to', value: 'FILE', help: 'put profile P into this file of profiles' }],
  details: [
    'They stand in $TRAINYARD_HOME/profiles.json (default ~/.config/trainyard). The profile local is always there.',
    'With P it is that one, as a file of profiles without key files: "trainyard import FILE.json" takes it. In .vscode/trainyard.json of a workspace the editor offers it to whoever opens that.',
  ],
  async run(context, args) {
    if (args.words[0] !== undefined || args.has('to')) return handOn(context, args);
    const { profiles: all, broken } = await context.profiles.contents();
    for (const { error } of broken) context.output.note(`trainyard: ${error.message}`);
    const code = broken.length === 0 ? exitCodes.done : exitCodes.usage;
    if (context.json) {
      for (const profile of all) context.output.json({ type: 'profile', ...profile });
      return code;
    }
    const rows = all.map(({ name, kind, hosts }) => [
      name,
      kind,
      (hosts ?? []).map(({ host }) => host).join(', '),
    ]);
    for (const line of table(['PROFILE', 'KIND', 'HOSTS'], rows)) context.output.line(line);
    for (const { name, train } of all) {
      if (train) context.output.line(`trainings on ${name}: ${trainDefaultsText(train)}`);
    }
    return code;
  },
};

/** Prints one profile, or puts it into a file. UserError (usage). */
async function handOn(context: Context, args: Args): Promise<number> {
  const [name] = args.words;
  const to = args.value('to');
  if (name === undefined) throw new UserError('usage', 'P is missing', 'Name the profile to hand on');
  const profile = withoutKeyFiles(await context.profiles.get(name));
  const variables = Object.keys(profile.env ?? {});
  if (variables.length > 0) context.output.note(`with the variables ${variables.join(', ')}: no secrets?`);
  if (to !== undefined) {
    const file = new WorkspaceFile(resolve(context.cwd, to));
    await file.saveProfile(profile);
    if (!context.json) context.output.line(`${name} stands in ${file.path}`);
  }
  if (context.json) context.output.json({ type: 'profile', ...profile });
  else if (to === undefined) {
    context.output.line(JSON.stringify({ version: 1, profiles: [profile] }, null, 2));
  }
  return exitCodes.done;
}
