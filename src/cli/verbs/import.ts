import { readFile } from 'node:fs/promises';
import { errorText, exitCodes, UserError } from '../../core/errors.js';
import { parseHosts, seenFromHere } from '../../core/profiles/import.js';
import { profileSchema } from '../../core/profiles/schema.js';
import { check, problemsText } from '../../core/validation.js';
import type { Verb } from '../context.js';

export const importHosts: Verb = {
  verb: 'import',
  summary: 'makes a profile of a hosts file',
  words: ['HOSTFILE'],
  flags: [
    { name: 'name', value: 'N', help: 'how the profile is called' },
    {
      name: 'leader',
      value: 'HOST',
      help: 'how the host that the file calls localhost is reached from here',
    },
  ],
  details: [
    'One host a line: gpu1 slots=8, gpu1:8, me@gpu1:2222, worker|gpu1:2222, or just gpu1. The host named localhost is the head (--leader says how it is reached from here), and the others are reached through it.',
  ],
  async run(context, args) {
    const name = args.value('name');
    if (name === undefined) throw new UserError('usage', '--name is missing', 'Say how to call the profile');
    const path = args.words[0] ?? '';
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      throw new UserError('usage', `${path} cannot be read: ${errorText(error)}`, 'Name a hosts file');
    }
    const profile = check(profileSchema, {
      name,
      kind: 'ssh',
      hosts: seenFromHere(parseHosts(text), args.value('leader')),
    });
    if (!profile.ok) throw new UserError('usage', problemsText(profile.problems), 'Correct the hosts file');
    const known = (await context.profiles.list()).some((each) => each.name === name);
    if (known) throw new UserError('usage', `there is a profile ${name} already`, 'Choose another name');
    await context.profiles.save(profile.data);
    if (context.json) context.output.json({ type: 'profile', ...profile.data });
    else context.output.line(`${name}: ${(profile.data.hosts ?? []).map(({ host }) => host).join(', ')}`);
    return exitCodes.done;
  },
};
