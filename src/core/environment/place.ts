// The Python packages of an own program on its nodes. The head decides on the versions, and the
// other nodes take the same.
import { createHash } from 'node:crypto';
import { basename as fileName } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import { basename, join, pathFromNode, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { EnvironmentRecord } from '../contracts/runSchema.js';
import type { Bootstrap } from '../setup/bootstrap.js';
import type { Installation, Installer } from '../setup/packages.js';
import type { RelayNode } from '../setup/relay.js';
import type { Requirements } from './requirements.js';

/** The packages of a run: those of a file, or those that an earlier start of the run had. */
export type RunPackages = { requirements: Requirements } | { record: EnvironmentRecord };

/** Where they go. */
export interface PackagesPlace {
  profile: Pick<Profile, 'prologue'>;
  /** The head first. */
  nodes: readonly RelayNode[];
  /** `~` is each node's home folder. */
  workdir: NodePath;
  installer: Installer;
}

const pythonSchema = z.object({ python: z.string(), version: z.array(z.int()).check(z.length(3)) });
const lockSchema = z.object({ name: z.string(), lines: z.array(z.string()) });

/** A node, a channel to its set-up program, and the program's Python there. */
interface Channel {
  node: RelayNode;
  bootstrap: Bootstrap;
  /** The file of that Python. */
  python: string;
  version: readonly number[];
}

/**
 * Puts the packages on each of these nodes, where they are not there yet. Resolves with the run's
 * record of them. UserError (preflight, connection), Cancelled.
 */
export async function placePackages(
  packages: RunPackages,
  place: PackagesPlace,
  progress: Progress = {},
): Promise<EnvironmentRecord> {
  const opened: Bootstrap[] = [];
  const open = async (node: RelayNode): Promise<Channel> => {
    const bootstrap = await node.bootstrap(progress.signal);
    opened.push(bootstrap);
    const asked = { prologue: place.profile.prologue };
    return {
      node,
      bootstrap,
      ...(await bootstrap.request('environment-python', asked, pythonSchema, progress)),
    };
  };
  try {
    progress.onProgress?.('looking for the packages');
    const channels = await all(place.nodes.map(open));
    const [head] = channels;
    if (!head) throw new TypeError('a run has a head');
    assertSamePython(channels);
    const decided =
      'record' in packages ? ofRecord(packages.record, head) : await decide(packages, head, place, progress);
    const path = join(place.workdir, 'environments', decided.name);
    await all(channels.map((channel) => make(channel, { ...decided, path }, place, progress)));
    const { requirements, options, lines } = decided;
    return {
      path,
      requirements,
      python: head.version.join('.'),
      options,
      packages: lines.slice(options.length),
    };
  } finally {
    for (const bootstrap of opened) bootstrap.dispose();
  }
}

/** What a node is to have. */
interface Decided {
  /** Of the environment's folder. */
  name: string;
  /** The requirements file, on this machine. */
  requirements: string;
  options: string[];
  /** The options, and behind them the packages with their versions. */
  lines: string[];
  /** For pip in place of those lines: the requirements themselves, whose hashes pip compares. */
  withHashes?: Pick<Requirements, 'text' | 'constraints'>;
}

async function decide(
  { requirements }: { requirements: Requirements },
  head: Channel,
  { workdir, installer }: PackagesPlace,
  progress: Progress,
): Promise<Decided> {
  const { file, text, constraints, options, hashed } = requirements;
  const key = hashOf(text, constraints);
  const { name, lines } = await installer.install(
    { ...head, python: head.version },
    {
      op: 'environment-lock',
      params: { ...shared(file, head), dir: join(workdir, 'environments'), key, options, constraints },
      collection: { runtime: `own-${key}`, requirements: text, own: { constraints } },
    },
    lockSchema,
    named(head.node, progress),
  );
  return {
    name,
    lines,
    options,
    requirements: file,
    ...(hashed ? { withHashes: { text, constraints } } : {}),
  };
}

/** UserError (preflight) where the head's Python is another one by now. */
function ofRecord(
  { path, requirements, options, packages, python }: EnvironmentRecord,
  head: Channel,
): Decided {
  if (minor(head.version) !== minor(python.split('.').map(Number))) {
    const what = `${head.node.name} has Python ${head.version.join('.')} now, and the packages of the run were for Python ${python}`;
    throw new UserError(
      'preflight',
      what,
      'Give that Python to the node, or start a new run with the requirements',
    );
  }
  const name = basename(pathFromNode(path));
  return { name, requirements, options, lines: [...options, ...packages] };
}

async function make(
  channel: Channel,
  { path, requirements, lines, withHashes }: Decided & { path: NodePath },
  { installer }: PackagesPlace,
  progress: Progress,
): Promise<void> {
  const text = withHashes?.text ?? lines.map((line) => `${line}\n`).join('');
  const constraints = withHashes?.constraints ?? '';
  const installation: Installation = {
    op: 'environment',
    params: {
      ...shared(requirements, channel),
      ...{ dir: path, lines, constraints },
      isWhole: withHashes === undefined,
    },
    collection: { runtime: `own-${hashOf(text, constraints)}`, requirements: text, own: { constraints } },
  };
  await installer.install(
    { ...channel, python: channel.version },
    installation,
    z.unknown(),
    named(channel.node, progress),
  );
}

/** What both requests say. */
const shared = (file: string, { python, version }: Channel): object => ({
  ...{ python, version },
  what: `the packages of ${fileName(file)}`,
});

const named = ({ name }: RelayNode, { onProgress, ...rest }: Progress): Progress => ({
  ...rest,
  ...(onProgress ? { onProgress: (text: string) => { onProgress(`${name}: ${text}`); } } : {}),
});

/** UserError (preflight): packages are made for one minor version of Python. */
function assertSamePython([head, ...others]: readonly Channel[]): void {
  const other = others.find(({ version }) => head !== undefined && minor(version) !== minor(head.version));
  if (!head || !other) return;
  const says = ({ node, python, version }: Channel): string =>
    `${node.name} has ${version.join('.')} (${python})`;
  throw new UserError(
    'preflight',
    `the nodes have different Pythons: ${says(head)}, ${says(other)}`,
    'Give them the same one, for example by a prologue in the profile, such as module load python/3.12',
  );
}

const minor = ([major = 0, minorNumber = 0]: readonly number[]): string => `${major}.${minorNumber}`;

const hashOf = (...texts: string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);

/** All of them, or once all have ended the first one's error. */
async function all<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(tasks);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}
