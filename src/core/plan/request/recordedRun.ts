// From the record of a run to what somebody would type for another run like it.
import { flagValue } from './flagValue.js';
import { withoutFlag } from './flags.js';
import { isEvaluatedByRanks, type Device, type TypedRun } from './request.js';
import type { RunFile } from '../../contracts/runSchema.js';
import { startsRanks } from '../../contracts/slots.js';
import { isMeasured } from '../../model/measured.js';

/** What to type in order to run again, on the same device, what a run's record tells of. */
export function typedOf(
  run: RunFile,
): Required<Pick<TypedRun, 'words' | 'ranks' | 'tensorboard' | 'evaluator'>> &
  Pick<
    TypedRun,
    | 'nodes'
    | 'hosts'
    | 'per'
    | 'gpus'
    | 'logdir'
    | 'share'
    | 'requirements'
    | 'code'
    | 'budget'
    | 'budgetStop'
    | 'slurm'
  > {
  const { argv, ranks, nodes, tensorboard, perNode, hostsAsked, gpusAsked, code, budget, slurm } = run;
  const trains = run.program === 'trainer';
  const device = usedDevice(run);
  const words = !trains && argv[0] === run.paths.trainer ? argv.slice(1) : argv;
  return {
    words: device === undefined ? words : withDevice(words, device),
    ranks: perNode === true ? slotsOf(run) : ranks,
    ...(perNode === true ? { per: 'node' as const } : {}),
    ...(run.logdir === undefined ? {} : { logdir: run.logdir }),
    ...(run.share === undefined ? {} : { share: run.share }),
    ...(run.environment === undefined ? {} : { requirements: run.environment.requirements }),
    ...(hostsAsked === undefined ? {} : { hosts: hostsAsked }),
    ...(nodes === undefined || hostsAsked ? {} : { nodes: nodes.filter(startsRanks).length }),
    ...(gpusAsked === undefined ? {} : { gpus: gpusAsked }),
    tensorboard,
    ...(code === undefined ? {} : { code: { record: code } }),
    ...(budget === undefined ? {} : { budget: budget.amount, budgetStop: budget.stop }),
    ...(slurm?.asked === undefined ? {} : { slurm: slurm.asked }),
    evaluator:
      run.evaluator !== null ||
      !trains ||
      flagValue(argv, '--eval-data') === undefined ||
      isEvaluatedByRanks(argv),
  };
}

/**
 * The time limit of a run, for another run like it: a resume has none but its own. That of a
 * measurement's run belongs to its report.
 */
export function timeLimitAgain(run: RunFile): Pick<TypedRun, 'timeLimit'> {
  const { timeLimit } = run.limits;
  return timeLimit === undefined || isMeasured({ run }) ? {} : { timeLimit };
}

/** The slots of a run that has one process on each node. */
const slotsOf = ({ nodes, workers }: RunFile): number =>
  nodes?.filter(startsRanks).reduce((sum, node) => sum + (node.workers ?? 1), 0) ?? workers ?? 1;

/**
 * What a recorded run computes on; undefined where the record does not say. A training whose record
 * is from a time before `auto` took the CPU unless it was told.
 */
export function usedDevice({ device, program, argv }: RunFile): Device | undefined {
  if (device !== undefined) return device.used;
  if (program !== 'trainer') return undefined;
  return flagValue(argv, '--device') === 'cuda' ? 'cuda' : 'cpu';
}

/** The same words for our trainer, with this device. */
export const withDevice = (words: readonly string[], device: Device): string[] => [
  ...withoutFlag(words, '--device'),
  '--device',
  device,
];
