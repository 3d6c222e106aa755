import { readFile } from 'node:fs/promises';
import { exitCodes, UserError } from '../../core/base/errors.js';
import { parseHosts, seenFromHere } from '../../core/profiles/import.js';
import { profileSchema, type Host } from '../../core/contracts/profileSchema.js';
import { configuredHosts } from '../../core/ssh/config/configuredHosts.js';
import { check, problemsText } from '../../core/base/validation.js';
import type { Context, Verb } from '../context.js';
import { errorWords } from '../remedies.js';

export const importHosts: Verb = {
  verb: 'import',
  summary: 'makes a profile of a hosts file, or of hosts of your SSH configuration',
  words: ['HOSTFILE?'],
  flags: [
    {
      name: 'ssh-config',
      help: 'of your own SSH configuration instead: list its hosts, or take those of --hosts',
    },
    { name: 'hosts', value: 'A,B', help: 'with --ssh-config: these' },
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
    if (args.has('ssh-config') && args.value('hosts') === undefined) return listConfigured(context);
    const listed = args.has('ssh-config')
      ? await chosenOf(args.value('hosts') ?? '')
      : seenFromHere(parseHosts(await readHosts(args.words[0])), args.value('leader'));
    const name = args.value('name');
    if (name === undefined) throw new UserError('usage', '--name is missing', 'Say how to call the profile');
    const profile = check(profileSchema, { name, kind: 'ssh', hosts: listed });
    if (!profile.ok) throw new UserError('usage', problemsText(profile.problems), 'Correct the hosts file');
    const known = (await context.profiles.list()).some((each) => each.name === name);
    if (known) throw new UserError('usage', `there is a profile ${name} already`, 'Choose another name');
    await context.profiles.save(profile.data);
    if (context.json) context.output.json({ type: 'profile', ...profile.data });
    else context.output.line(`${name}: ${(profile.data.hosts ?? []).map(({ host }) => host).join(', ')}`);
    return exitCodes.done;
  },
};

async function readHosts(path: string | undefined): Promise<string> {
  const hint = 'Name a hosts file, or use --ssh-config';
  if (path === undefined) throw new UserError('usage', 'HOSTFILE is missing', hint);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UserError('usage', `${path} cannot be read: ${errorWords(error)}`, hint);
  }
}

async function listConfigured(context: Context): Promise<number> {
  const hosts = await configuredHosts();
  if (context.json) context.output.json({ type: 'hosts', hosts });
  else for (const host of hosts) context.output.line(host);
  if (hosts.length === 0) context.output.note('your SSH configuration names no host');
  return exitCodes.done;
}

/**
 * Those of the configuration: everything else of them stays there, and is read at each connection.
 */
async function chosenOf(names: string): Promise<Host[]> {
  const known = await configuredHosts();
  return names.split(',').map((host) => {
    if (known.includes(host)) return { host };
    throw new UserError(
      'usage',
      `your SSH configuration names no host ${host}`,
      `It names: ${known.join(', ')}`,
    );
  });
}
