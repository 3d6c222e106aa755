// The Python packages of an own program on its nodes. The first node decides on the versions, and
// the other nodes take the same.
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
import { assertFits } from './fits.js';
import { assertDecided } from './lines.js';
import type { Requirements } from './requirements.js';

/** The packages of a run: those of a file, or those that an earlier start of the run had. */
export type RunPackages = { requirements: Requirements } | { record: EnvironmentRecord };

/** Where they go. */
export interface PackagesPlace {
  profile: Pick<Profile, 'prologue' | 'env'>;
  /** Those with ranks; the first one decides on the versions. */
  nodes: readonly RelayNode[];
  /** `~` is each node's home folder. */
  workdir: NodePath;
  installer: Installer;
}

const pythonSchema = z.object({
  python: z.string(),
  version: z.array(z.int()).check(z.length(3)),
  /** `t`: without a global lock. */
  flags: z.string(),
  markers: z.record(z.string(), z.string()),
});
/** An environment's folder: its content, and the Python that it is for. */
const folderName = /^[0-9a-f]{16}-py\d+\.\d+t?$/;
const lockSchema = z.object({ name: z.string().check(z.regex(folderName)), lines: z.array(z.string()) });

/** A node, a channel to its set-up program, and the program's Python there. */
interface Channel {
  node: RelayNode;
  bootstrap: Bootstrap;
  /** The file of that Python. */
  python: string;
  version: readonly number[];
  flags: string;
  /** What the conditions of requirements ask for (PEP 508). */
  markers: Readonly<Record<string, string>>;
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
    const asked = asRank(place);
    return {
      node,
      bootstrap,
      ...(await bootstrap.request('environment-python', asked, pythonSchema, progress)),
    };
  };
  try {
    progress.onProgress?.('looking for the packages');
    const channels = await all(place.nodes.map(open));
    const [first] = channels;
    if (!first) throw new TypeError('a run has nodes');
    assertSamePython(channels);
    if ('requirements' in packages) {
      const { fits, file } = packages.requirements;
      for (const { node, markers } of channels) {
        assertFits(fits, fileName(file), { name: node.name, markers });
      }
    }
    const decided =
      'record' in packages
        ? ofRecord(packages.record, first)
        : await decide(packages, first, place, progress);
    const path = join(place.workdir, 'environments', decided.name);
    await all(channels.map((channel) => make(channel, { ...decided, path }, place, progress)));
    const { requirements, options, packages: decidedOn, withHashes, hashed } = decided;
    return {
      path,
      requirements,
      python: first.version.join('.'),
      options,
      packages: decidedOn,
      ...(withHashes || hashed ? { hashed: true } : {}),
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
  /** With their versions. */
  packages: string[];
  /** For pip in place of those lines: the requirements themselves, whose hashes pip compares. */
  withHashes?: Pick<Requirements, 'text' | 'constraints' | 'isWhole'>;
  /** Of a record: the hashes are not known any more. */
  hashed?: boolean | undefined;
}

async function decide(
  { requirements }: { requirements: Requirements },
  first: Channel,
  place: PackagesPlace,
  progress: Progress,
): Promise<Decided> {
  const { file, text, constraints, options, hashed, isWhole } = requirements;
  const key = hashOf(text, constraints);
  const { markers } = first;
  const { name, lines } = await place.installer.install(
    { ...first, python: first.version },
    {
      op: 'environment-lock',
      params: {
        ...shared(file, first, place),
        ...{ dir: join(place.workdir, 'environments'), key, options, constraints, hashed, isWhole },
      },
      collection: {
        ...{ runtime: `own-${key}`, requirements: text },
        own: { constraints, markers, isWhole },
      },
    },
    lockSchema,
    named(first.node, progress),
  );
  const packages = lines.slice(options.length);
  assertDecided(options, packages, first.node.name);
  return {
    name,
    packages,
    options,
    requirements: file,
    ...(hashed ? { withHashes: { text, constraints, isWhole } } : {}),
  };
}

/** UserError (preflight) where the first node has another Python by now, or the record is none. */
function ofRecord(
  { path, requirements, options, packages, python, hashed }: EnvironmentRecord,
  first: Channel,
): Decided {
  const name = basename(pathFromNode(path));
  assertDecided(options, packages, first.node.name);
  if (!folderName.test(name)) {
    const what = `${first.node.name} names ${path} as the folder of the run's packages`;
    throw new UserError('preflight', what, 'Start a new run with the requirements');
  }
  if (minor(first.version) !== minor(python.split('.').map(Number))) {
    const what = `${first.node.name} has Python ${first.version.join('.')} now, and the packages of the run were for Python ${python}`;
    throw new UserError(
      'preflight',
      what,
      'Give that Python to the node, or start a new run with the requirements',
    );
  }
  return { name, requirements, options, packages, hashed };
}

async function make(
  channel: Channel,
  { path, requirements, options, packages, withHashes, hashed }: Decided & { path: NodePath },
  place: PackagesPlace,
  progress: Progress,
): Promise<void> {
  const lines = [...options, ...packages];
  const text = withHashes?.text ?? lines.map((line) => `${line}\n`).join('');
  const constraints = withHashes?.constraints ?? '';
  const isWhole = withHashes?.isWhole ?? true;
  const installation: Installation = {
    op: 'environment',
    params: {
      ...shared(requirements, channel, place),
      ...{ dir: path, lines, constraints, isWhole, isThere: hashed },
    },
    collection: {
      ...{ runtime: `own-${hashOf(text, constraints)}`, requirements: text },
      own: { constraints, markers: channel.markers, isWhole },
    },
  };
  await place.installer.install(
    { ...channel, python: channel.version },
    installation,
    z.unknown(),
    named(channel.node, progress),
  );
}

/** What both requests say. */
const shared = (file: string, { python, version, flags }: Channel, place: PackagesPlace): object => ({
  ...{ python, version, flags, ...asRank(place) },
  what: `the packages of ${fileName(file)}`,
});

/** pip and the Python are started as the ranks will be. */
const asRank = ({ profile: { prologue, env } }: PackagesPlace): object => ({ prologue, env });

const named = ({ name }: RelayNode, { onProgress, ...rest }: Progress): Progress => ({
  ...rest,
  ...(onProgress
    ? {
        onProgress: (text: string) => {
          onProgress(`${name}: ${text}`);
        },
      }
    : {}),
});

const kindOf = ({ version, flags }: Channel): string => minor(version) + flags;

/** UserError (preflight): packages are made for one minor version of Python. */
function assertSamePython([first, ...others]: readonly Channel[]): void {
  const other = others.find((one) => first !== undefined && kindOf(one) !== kindOf(first));
  if (!first || !other) return;
  const says = ({ node, python, version, flags }: Channel): string =>
    `${node.name} has ${version.join('.')}${flags} (${python})`;
  throw new UserError(
    'preflight',
    `the nodes have different Pythons: ${says(first)}, ${says(other)}`,
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
