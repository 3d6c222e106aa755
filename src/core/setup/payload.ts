// What is put on a node, and by which names: content decides them, so nothing is sent twice and
// nothing is replaced in use.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cudaReleases, type CudaRelease } from './cudaBuild.js';
import { cudaLibraryName, readCudaLibrary, scriptsOf, type NativeSources } from './sources.js';

/** One file that is put on a node. `sha256` is in hex. */
export interface PayloadFile {
  /** Below the node folder. */
  name: string;
  bytes: Buffer;
  sha256: string;
  executable: boolean;
}

/**
 * Everything that is put on a node, and the names that it gets there. `hashes` are SHA-256 in hex.
 */
export interface Payload {
  files: readonly PayloadFile[];
  /** Name of the node folder, 16 hex digits. */
  node: string;
  requirements: string;
  /** The pinned line of pip itself, for nodes whose Python comes without it. */
  pip: string;
  /** Name of the runtime's folder, 16 hex digits. */
  runtime: string;
  hashes: { agent: string; trainer: string; requirements: string };
  /** For nodes with a GPU, one for each build of libtrainer_cuda.so that is there. */
  cuda: readonly CudaPayload[];
  /** The set-up program's text. */
  bootstrap: string;
}

/** NVIDIA's libraries for one build of libtrainer_cuda.so: the text that pins their wheels. */
export interface PinnedLibraries {
  release: CudaRelease;
  requirements: string;
}

/** What a node with a GPU gets beside the programs. */
export interface CudaPayload extends PinnedLibraries {
  library: PayloadFile;
  /** Name of the node folder that has it too, 16 hex digits. */
  node: string;
}

/**
 * All of native/node but `laterParts`, in the order that makes one program of them: what others
 * use first, what runs it last.
 */
const bootstrapParts = [
  'wire',
  'beats',
  'owner',
  'lease',
  'driver',
  'probe',
  'install',
  'runtime',
  'cuda',
  'archive',
  'relay',
  'copies',
  'code/manifest',
  'code/store',
  'code/streams',
  'code/snapshot',
  'code/folders',
  'forward',
  'leases',
  'slurm',
  'verbs',
];

/** Compiled on the node at the first need only, since most channels have none. */
const laterParts: Readonly<Record<string, readonly string[]>> = {
  STAGE: ['stage/tree', 'stage/record', 'stage/target', 'stage/address', 'stage/stage'],
  CHECK: ['check/facts', 'check/reading', 'check/reachability'],
  FILES: ['files'],
  ENVIRONMENT: ['environment'],
};

/**
 * Reads the payload from the files of this installation. Rejects with the error of the file system
 * where one cannot be read.
 */
export async function readPayload(sources: NativeSources): Promise<Payload> {
  const [agent, trainer, ...scripts] = await Promise.all([
    readOne('bin/agent', sources.agent, true),
    readOne('bin/trainer', sources.trainer, true),
    ...scriptsOf(sources).map(({ name, path }) => readOne(name, path, false)),
  ]);
  const files = [agent, trainer, ...scripts];
  const requirements = await readFile(sources.requirements, 'utf8');
  const pip = await readFile(join(dirname(sources.requirements), 'pip.txt'), 'utf8');
  const requirementsHash = sha256(requirements);
  return {
    files,
    node: nameOf(files),
    requirements,
    pip,
    runtime: requirementsHash.slice(0, 16),
    hashes: { agent: agent.sha256, trainer: trainer.sha256, requirements: requirementsHash },
    cuda: (await Promise.all(cudaReleases.map((release) => readCuda(sources, files, release)))).flat(),
    bootstrap: await readBootstrap(sources),
  };
}

/** The set-up program's text. Rejects with the error of the file system. */
export async function readBootstrap({ bootstrap }: Pick<NativeSources, 'bootstrap'>): Promise<string> {
  const read = async (parts: readonly string[]): Promise<string> =>
    (await Promise.all(parts.map((part) => readFile(join(bootstrap, `${part}.py`), 'utf8')))).join('\n\n');
  const later = await Promise.all(
    Object.entries(laterParts).map(async ([part, files]) => [part, await read(files)] as const),
  );
  // Text as JSON writes it is text to Python too.
  return `LATER = ${JSON.stringify(Object.fromEntries(later))}\n${await read(bootstrapParts)}`;
}

async function readCuda(
  sources: NativeSources,
  files: readonly PayloadFile[],
  release: CudaRelease,
): Promise<CudaPayload[]> {
  const bytes = await readCudaLibrary(sources, release);
  if (bytes === undefined) return [];
  const library = fileOf(cudaLibraryName, bytes, false);
  return [{ ...(await readPinned(sources, release)), library, node: nameOf([...files, library]) }];
}

/** Rejects with the error of the file system. */
export async function readPinned({ cuda }: NativeSources, release: CudaRelease): Promise<PinnedLibraries> {
  return { release, requirements: await readFile(cuda[release].requirements, 'utf8') };
}

const nameOf = (files: readonly PayloadFile[]): string =>
  sha256(files.map((file) => file.sha256).join('')).slice(0, 16);

async function readOne(name: string, path: string, executable: boolean): Promise<PayloadFile> {
  return fileOf(name, await readFile(path), executable);
}

function fileOf(name: string, bytes: Buffer, executable: boolean): PayloadFile {
  return { name, bytes, sha256: sha256(bytes), executable };
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
