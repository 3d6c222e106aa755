// `import FILE.json`: a profile that somebody has handed on.
import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../../core/base/errors.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import { WorkspaceFile } from '../../../core/presets/workspaceFile.js';
import { reviewOf } from '../../../core/profiles/shared.js';
import type { Args } from '../../args.js';
import type { Context } from '../../context.js';
import { saveNew } from './newProfile.js';

/** Saves it, and prints what it would do. Returns the exit code. UserError (usage). */
export async function importProfile(context: Context, args: Args): Promise<number> {
  const excess = ['ssh-config', 'hosts', 'leader'].filter((flag) => args.has(flag));
  if (excess.length > 0) {
    const what = `a file of profiles was given together with --${excess.join(', --')}`;
    throw new UserError('usage', what, 'Leave that out');
  }
  const [path] = args.words;
  if (path === undefined) throw new UserError('usage', 'FILE is missing', 'Name a file of profiles');
  const found = await profileIn(new WorkspaceFile(resolve(context.cwd, path)), args.value('profile'));
  const profile = { ...found, name: args.value('name') ?? found.name };
  await saveNew(context, profile, 'Correct the file');
  if (context.json) return exitCodes.done;
  context.output.line(`${profile.name}: saved`);
  for (const line of reviewOf(profile)) context.output.line(`  ${line}`);
  return exitCodes.done;
}

/** UserError (usage), naming those there are. */
async function profileIn(file: WorkspaceFile, wanted: string | undefined): Promise<Profile> {
  const all = await file.profiles();
  const names = all.map(({ name }) => name).join(', ');
  const hint = names === '' ? 'Name a file of profiles' : `Choose one of its profiles by --profile: ${names}`;
  if (wanted === undefined) {
    const [only, ...others] = all;
    if (only && others.length === 0) return only;
    const number = all.length === 0 ? 'no profile' : 'more than one profile';
    throw new UserError('usage', `${file.path} has ${number}`, hint);
  }
  const found = all.find(({ name }) => name === wanted);
  if (found) return found;
  throw new UserError('usage', `${file.path} has no profile named ${wanted}`, hint);
}
