// What a person asks for, read once: from a command line, from the editor's form, or from the
// record of an earlier run. Whoever comes after looks at fields, never at words.
import { UserError } from '../../base/errors.js';
import type { RunCode } from '../../code/place.js';
import { assertProgramSent } from '../../code/program.js';
import {
  isAbsolute,
  isInHome,
  nodePath,
  pathOfThisNode,
  resolve,
  type NodePath,
} from '../../base/nodePath.js';
import type { DebugRecord } from '../../contracts/debugSchema.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { slurmTexts } from '../../slurm/wish.js';
import { stageSpec, type StageSpec } from '../../stage/spec.js';
import type { RunQueue } from '../../contracts/runQueueSchema.js';
import type { DeviceChoice, ReportRecord, RunAbout, RunBudget } from '../../contracts/runSchema.js';
import type { SlurmWish } from '../../contracts/slurmSchema.js';
import { givenAbout } from './about.js';
import { budgetOf } from './budget.js';
import { assertDebuggedRank, debugOf } from './debugWish.js';
import { gpuWishOf, type GpuWish } from './gpuWish.js';
import { flagValue } from './flagValue.js';
import { assertEachTaken, wishedHosts } from './hostWish.js';
import { assertNothingOfOwn } from './ownOnly.js';
import { wishedShare } from './share.js';
import { absolutePaths, cleanLabel, runLabel, trainerVerb, withoutFlag, withoutTrainer } from './flags.js';

/** What a rank computes on. */
export type Device = DeviceChoice['used'];

/** As it was typed or chosen. */
export interface TypedRun {
  profile: Profile;
  /** A trainer verb and its flags, or any command. */
  words: readonly string[];
  /** What an earlier run computed on, whose words these are: nobody asked for that device anew. */
  deviceBefore?: Device | undefined;
  /**
   * Folder of this machine, against which relative paths are read where this machine is the node.
   */
  cwd: string;
  ranks?: number;
  /** How many of the profile's nodes to use. */
  nodes?: number;
  /** Those of its hosts on which ranks may be, by their names; not beside `nodes`. */
  hosts?: readonly string[];
  /**
   * Of an own program: one process for each slot, or one for each node. Left out: one process, or
   * as many as `ranks` says.
   */
  per?: 'slot' | 'node';
  /** `2` or `0,2`: see `gpuWishOf`. */
  gpus?: string;
  /** Queue for GPUs that are held, rather than being refused. */
  wait?: boolean;
  /** Nobody stays with the run: where it waits, it waits by itself. */
  detached?: boolean;
  /** Runs that share so many slots, and this one's place among them. */
  slots?: RunSlots;
  /** Part of the run's id, in place of the model or program. */
  label?: string;
  /** What the run is called; also part of its id where `label` is left out. */
  name?: string;
  tags?: readonly string[];
  notes?: string;
  tensorboard?: boolean;
  /** False: checkpoints are not evaluated while training. */
  evaluator?: boolean;
  /** A further folder with event files of an own program, relative to where it starts. */
  logdir?: string;
  /** The user's code that goes along. */
  code?: RunCode | undefined;
  /** What the run may cost, in the profile's currency; in place of the profile's. */
  budget?: number;
  /** Whether it stops after a checkpoint then; in place of the profile's. */
  budgetStop?: boolean;
  /** Seconds after which it stops with a checkpoint. */
  timeLimit?: number;
  /**
   * Seconds without output after which an own program is ended, 0 for never. In place of the
   * profile's.
   */
  silenceTimeout?: number;
  /** Of an own program: a folder below the run's, in place of the profile's. */
  share?: string;
  /** Of an own program: a file of this machine that names the Python packages that it needs. */
  requirements?: string;
  /** The rank of an own program in Python that waits for a debugger. */
  debug?: number;
  /** What is asked of Slurm, in place of what the profile says. */
  slurm?: SlurmWish;
  /** The run folder, as `--run-dir` among the trainer's flags. */
  runDir?: string;
  /** What is put on the nodes' own disks before, in place of the profile's. */
  stage?: StageSpec;
  /** The report that starts it. */
  report?: ReportRecord;
}

/** Of runs that take turns: see `slots` of run.json. */
type RunSlots = NonNullable<RunQueue['slots']>;

/** Images that a request names by their place, or what it stages. */
export interface NamedData {
  name: 'data' | 'eval-data' | 'stage';
  path: NodePath;
}

interface Common {
  profile: Profile;
  /** Part of the run's id. */
  label: string;
  /** Undefined where neither name, tags nor notes were given. */
  about: RunAbout | undefined;
  ranks: number | undefined;
  nodes: number | undefined;
  /** The only hosts on which ranks may be; undefined where none are named. */
  hosts: readonly string[] | undefined;
  /** Of each node of the run; undefined for as many as the ranks take. */
  gpus: GpuWish | undefined;
  /** Queues until enough GPUs are free. */
  wait: boolean;
  /** It does so by itself, on its nodes. */
  detached: boolean;
  /** It waits by itself for one of them. */
  slots: RunSlots | undefined;
  tensorboard: boolean;
  /** Only where the profile has a price. */
  budget: RunBudget | undefined;
  /** Seconds. */
  timeLimit: number | undefined;
  /** What is asked of Slurm in place of the profile; undefined where that is nothing. */
  slurm: SlurmWish | undefined;
  /** The folder that the user named for the run. */
  runDir: NodePath | undefined;
  /**
   * What it computes on: `auto` for a training that does not say. Undefined for what else does not
   * say. An own program may ask for GPUs too.
   */
  device: DeviceChoice['asked'] | undefined;
  /** What the earlier run computed on whose words were taken; undefined where there is none. */
  deviceBefore: Device | undefined;
  /** Empty for an own program, whose flags are its own affair. */
  data: readonly NamedData[];
  /** What is put on the nodes' own disks before. */
  stage: StageSpec | undefined;
  /** The report that starts it; undefined for what somebody starts. */
  report: ReportRecord | undefined;
  /** Computes on every slot that there is. Anything else is one process unless told how many. */
  everySlot: boolean;
}

/** A training: the supervisor names the run folder to it, and may evaluate its checkpoints. */
interface TrainRequest extends Common {
  kind: 'train';
  /** `train` and the trainer's flags, without `--device` and `--run-dir`. */
  argv: readonly string[];
  /** The `--data` of the evaluator; undefined where there is none. */
  evaluatedOn: string | undefined;
}

/** One of our trainer's other verbs, or a program of the user's. */
interface CommandRequest extends Common {
  kind: 'command';
  /** Whether `argv` is a verb of our trainer, whose program is named by the node. */
  ofTrainer: boolean;
  /** One process on each node, which starts the workers of its slots itself. */
  perNode: boolean;
  /** A measurement of the nodes: one rank on each, however many slots it has. */
  oneEach?: boolean;
  /** Of our trainer without `--device`; of another program as it was typed. */
  argv: readonly string[];
  /** Where it starts; undefined on a cluster, where that is the run folder. */
  cwd: NodePath | undefined;
  /** A further folder with its event files; relative to where it starts. */
  logdir: string | undefined;
  /** Seconds without output after which it is ended. Undefined and 0: never. */
  silenceTimeout: number | undefined;
  /** The folder that other nodes get from the head before each start. */
  share: string | undefined;
  /** A file of this machine that names its Python packages, which its nodes get. */
  requirements: string | undefined;
  /** The rank that waits for a debugger. */
  debug: DebugRecord | undefined;
  /** What goes along to the nodes; the program then starts in it. Never for our trainer. */
  code: RunCode | undefined;
}

/** What a person asked for: a training by our trainer, or any other command. */
export type RunRequest = TrainRequest | CommandRequest;

/** UserError (usage) for words that make no run. */
export function requestOf(typed: TypedRun): RunRequest {
  const request = readRequest(typed);
  assertEachTaken(request);
  if (!request.everySlot) assertDebuggedRank(request, request.ranks ?? 1);
  if (!request.wait || request.device === 'cuda' || request.device === 'auto') return request;
  const what = 'there is nothing to wait for: this run takes no GPUs';
  throw new UserError('usage', what, 'Ask for GPUs, or start it without waiting');
}

function readRequest(typed: TypedRun): RunRequest {
  const { profile } = typed;
  const isHere = profile.kind === 'local';
  // A folder of the user's machine means nothing on a node.
  const cwd = isHere ? pathOfThisNode(typed.cwd) : nodePath('~');
  const words = withoutTrainer(typed.words);
  if (words[0] === undefined) {
    throw new UserError('usage', 'there is nothing to run', { kind: 'nameCommand' });
  }
  const verb = trainerVerb(words);
  const trains = verb === 'train';
  if (trains && typed.logdir !== undefined) {
    throw new UserError(
      'usage',
      'a training by our trainer has its event files in the run folder',
      'Leave out the log folder',
    );
  }
  const flags = absolutePaths(trains ? withoutFlag(words, '--run-dir') : words, cwd);
  const runDir = typed.runDir ?? (trains ? onlyValue(words, '--run-dir') : undefined);
  const common = {
    profile,
    label: labelOf(typed, words),
    about: givenAbout(typed),
    ranks: typed.ranks,
    nodes: typed.nodes,
    hosts: wishedHosts(typed),
    gpus: typed.gpus === undefined ? undefined : gpuWishOf(typed.gpus, 'the wish for GPUs'),
    wait: typed.wait ?? false,
    detached: typed.detached ?? false,
    slots: typed.slots,
    deviceBefore: typed.deviceBefore,
    tensorboard: typed.tensorboard ?? false,
    budget: budgetOf(typed),
    timeLimit: typed.timeLimit,
    slurm: slurmOf(typed),
    runDir: runDir === undefined ? undefined : resolve(cwd, runDir),
    stage: typed.stage ?? (profile.stage && stageSpec(profile.stage)),
    report: typed.report,
  };
  const inFolder = isHere ? cwd : undefined;
  if (verb === undefined) {
    const wantsGpu = common.gpus !== undefined || flagValue(words, '--device') === 'cuda';
    const device = wantsGpu ? 'cuda' : undefined;
    const none = { data: [], everySlot: typed.per !== undefined };
    const { code } = typed;
    const debug = debugOf(typed, words);
    const silenceTimeout = debug ? undefined : (typed.silenceTimeout ?? profile.silenceTimeout);
    if (code?.snapshot) assertProgramSent(words, code.snapshot);
    const perNode = typed.per === 'node';
    const place = { ...none, perNode, cwd: code ? undefined : inFolder, code, logdir: typed.logdir };
    const wishes = { silenceTimeout, share: wishedShare(typed), requirements: typed.requirements };
    const own = { ...place, ...wishes, debug, argv: [...words] };
    return { kind: 'command', ofTrainer: false, ...common, ...own, device };
  }
  assertNothingOfOwn(typed, verb);
  const evaluatedOn = onlyValue(flags, '--eval-data');
  const evaluates = typed.evaluator !== false;
  const ofTrainer = {
    ...common,
    device: deviceOf(words, common.gpus),
    data: [...namedData('data', onlyValue(flags, '--data')), ...namedData('eval-data', evaluatedOn)],
    argv: withoutFlag(flags, '--device', ...(evaluates ? [] : [evalOn])),
  };
  if (!trains) {
    const everySlot = verb === 'bench' && ['matmul', 'allreduce'].includes(words[1] ?? '');
    const asked = everySlot || typed.per === 'slot';
    return {
      kind: 'command',
      ofTrainer: true,
      ...ofTrainer,
      everySlot: asked,
      perNode: false,
      cwd: inFolder,
      logdir: typed.logdir,
      silenceTimeout: undefined,
      share: undefined,
      requirements: undefined,
      debug: undefined,
      code: undefined,
    };
  }
  const hasEvaluator = evaluates && !isEvaluatedByRanks(flags);
  const device = ofTrainer.device ?? 'auto';
  return {
    kind: 'train',
    ...ofTrainer,
    device,
    everySlot: true,
    evaluatedOn: hasEvaluator ? evaluatedOn : undefined,
  };
}

/** What evaluates a training's checkpoints: the evaluator on the head, or the ranks themselves. */
const evalOn = '--eval-on';

/** Whether the ranks of such a training evaluate its checkpoints themselves. */
export const isEvaluatedByRanks = (argv: readonly string[]): boolean => flagValue(argv, evalOn) === 'ranks';

/** Whether it is our trainer that runs, which computes on GPUs by our CUDA back end. */
export const ofOurTrainer = (request: RunRequest): boolean => request.kind === 'train' || request.ofTrainer;

/** The words of one process: `trainer` is its program on the node. */
export function argvOf(request: RunRequest, trainer: NodePath, device: Device | undefined): string[] {
  if (!ofOurTrainer(request)) return [...request.argv];
  const words = [...(request.kind === 'train' ? [] : [trainer]), ...request.argv];
  return device === undefined ? words : [...words, '--device', device];
}

/** What a person types for this request, in order to ask for it once more. */
export function wordsOf(request: RunRequest): string[] {
  if (!ofOurTrainer(request)) return [...request.argv];
  const device = request.device === undefined ? [] : ['--device', request.device];
  const runDir =
    request.kind === 'train' && request.runDir !== undefined ? ['--run-dir', request.runDir] : [];
  return [...request.argv, ...device, ...runDir];
}

/** A name of other letters than those of a folder's name leaves the model or program. */
const labelOf = ({ name = '', label = name }: TypedRun, words: readonly string[]): string =>
  cleanLabel(label) || runLabel(words);

function deviceOf(words: readonly string[], gpus: GpuWish | undefined): DeviceChoice['asked'] | undefined {
  const device = onlyValue(words, '--device');
  if (gpus !== undefined && device === 'cpu') {
    throw new UserError('usage', 'GPUs were asked for, and the device cpu', 'Ask for one of them');
  }
  if (gpus !== undefined && (device === undefined || device === 'auto')) return 'cuda';
  if (device === undefined || device === 'auto' || device === 'cpu' || device === 'cuda') return device;
  throw new UserError('usage', `the device must be auto, cpu or cuda, not "${device}"`, 'Correct it');
}

/** UserError (usage) on a profile that is none of Slurm. */
function slurmOf({ profile, slurm }: TypedRun): SlurmWish | undefined {
  if (slurm === undefined || slurmTexts(slurm).length === 0) return undefined;
  if (profile.kind === 'slurm') return slurm;
  const what = `Slurm was asked for ${slurmTexts(slurm).join(', ')}, and profile ${profile.name} has no queue of Slurm`;
  throw new UserError('usage', what, 'Leave that out, or choose a profile of kind slurm');
}

/** Of what a flag names; empty for data that is no path. */
export function namedData(name: NamedData['name'], path: string | undefined): NamedData[] {
  return path !== undefined && (isAbsolute(path) || isInHome(path)) ? [{ name, path }] : [];
}

/** The trainer takes none of its flags twice. UserError (usage). */
function onlyValue(words: readonly string[], flag: string): string | undefined {
  const value = flagValue(words, flag);
  const given = words.filter((word) => word === flag || word.startsWith(`${flag}=`)).length;
  if (given <= 1) return value;
  throw new UserError('usage', `${flag} is given ${given} times`, 'Give it once');
}
