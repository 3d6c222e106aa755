// The halves of a data set on a node: what is trained on, and what validates.
import { homedir } from 'node:os';
import { basename, dirname, join, pathOfThisNode, withHome, type NodePath } from '../base/nodePath.js';
import { lookAtData } from './formData.js';
import type { Machine } from './nodes/machine.js';
import { SshMachine } from './sshMachine.js';

/** What a run trains on and, where it is apart, what validates. */
export interface Halves {
  data: NodePath;
  evalData?: NodePath;
}

const training = 'train';
const validating = ['validation', 'val', 'test'];

/**
 * Those of a folder: folders of classes, or TFRecord shards. A folder that is one half itself, or
 * has none, is `data` as it is. UserError (connection, preflight) where it cannot be read.
 */
export async function halvesOf(machine: Machine, folder: NodePath): Promise<Halves> {
  const { folders, others } = await machine.list(folder);
  const below = (names: readonly string[]): NodePath[] => names.map((name) => join(folder, name));
  if (folders.includes(training)) {
    const [evalData] = below(validating.filter((name) => folders.includes(name)));
    return { data: join(folder, training), ...(evalData === undefined ? {} : { evalData }) };
  }
  if (folders.length === 0 && others > 0) {
    const [data, ...rest] = await there(machine, below([training, ...validating]));
    if (data !== undefined && basename(data) === training && rest[0]) return { data, evalData: rest[0] };
  }
  const evalData = await validationBeside(machine, folder);
  return { data: folder, ...(evalData === undefined ? {} : { evalData }) };
}

/** The half that validates beside one that is called `train`. UserError (connection). */
export async function validationBeside(machine: Machine, data: NodePath): Promise<NodePath | undefined> {
  if (basename(data) !== training) return undefined;
  const beside = validating.map((name) => join(dirname(data), name));
  return (await there(machine, beside))[0];
}

/** Which of these all nodes have, in their order. */
async function there(machine: Machine, paths: readonly NodePath[]): Promise<NodePath[]> {
  const home = pathOfThisNode(homedir());
  const isHere = !(machine instanceof SshMachine);
  const named = paths.map((path) => ({ name: 'data' as const, path: isHere ? withHome(home, path) : path }));
  const looks = await lookAtData(machine, named);
  return paths.filter((_, at) =>
    looks[at]?.found.every(({ what }) => what === 'folder' || what === 'shards'),
  );
}
