import { readFile } from 'node:fs/promises';
import { exitCodes, UserError } from '../../../core/base/errors.js';
import { parseHosts, seenFromHere } from '../../../core/profiles/import.js';
import type { Host, Profile } from '../../../core/contracts/profileSchema.js';
import { configuredHosts } from '../../../core/ssh/config/configuredHosts.js';
import type { Context, Verb } from '../../context.js';
import { errorWords } from '../../remedies.js';
import { importProfile } from './importProfile.js';
import { importSlurm } from './importSlurm.js';
import { saveNew } from './newProfile.js';

export const importHosts: Verb = {
  verb: 'import',
  summary:
    'makes a profile of a hosts file, of hosts of your SSH configuration, of a Slurm partition, or of a file of profiles',
  words: ['FILE?'],
  flags: [
    {
      name: 'ssh-config',
      help: 'of your own SSH configuration instead: list its hosts, or take those of --hosts',
    },
    { name: 'hosts', value: 'A,B', help: 'with --ssh-config: these' },
    {
      name: 'slurm',
      value: 'HOST|P',
      help: 'of a Slurm cluster, by its login node or a profile of it: list the partitions and what is free, or take one',
    },
    {
      name: 'partition',
      value: 'P',
      help: 'with --slurm: runs go there; by default to the default partition',
    },
    { name: 'profile', value: 'P', help: 'which one of a file of profiles' },
    { name: 'name', value: 'N', help: 'how the profile is called; by default as in the file of profiles' },
    {
      name: 'leader',
      value: 'HOST',
      help: 'how the host that the file calls localhost is reached from here',
    },
  ],
  details: [
    'A hosts file has one host a line: gpu1 slots=8, gpu1:8, me@gpu1:2222, worker|gpu1:2222, or just gpu1. The host named localhost is the head (--leader says how it is reached from here), and the others are reached through it.',
    'A file of profiles is what "trainyard profiles P --to FILE" writes, or .vscode/trainyard.json of a workspace. What the profile would do is printed. Nothing connects before you use it.',
  ],
  async run(context, args) {
    if (args.has('slurm')) return importSlurm(context, args);
    if (args.has('partition')) {
      throw new UserError('usage', '--partition was given without --slurm', 'Name the login node by --slurm');
    }
    if (args.has('ssh-config') && args.value('hosts') === undefined) return listConfigured(context);
    if (args.has('profile') || args.words[0]?.endsWith('.json')) return importProfile(context, args);
    const listed = args.has('ssh-config')
      ? await chosenOf(args.value('hosts') ?? '')
      : seenFromHere(parseHosts(await readHosts(args.words[0])), args.value('leader'));
    const name = args.value('name');
    if (name === undefined) throw new UserError('usage', '--name is missing', 'Say how to call the profile');
    const profile: Profile = { name, kind: 'ssh', hosts: listed };
    await saveNew(context, profile, 'Correct the hosts file');
    if (!context.json) context.output.line(`${name}: ${listed.map(({ host }) => host).join(', ')}`);
    return exitCodes.done;
  },
};

async function readHosts(path: string | undefined): Promise<string> {
  const hint = 'Name a hosts file or a file of profiles, or use --ssh-config';
  if (path === undefined) throw new UserError('usage', 'FILE is missing', hint);
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
      known.length > 0
        ? `It names: ${known.join(', ')}`
        : 'It names none. Import a file with a line for each host: trainyard import FILE --name NAME',
    );
  });
}
