// A new run that begins with the weights of another one's checkpoint.
import { UserError } from '../base/errors.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Checkpoint } from '../contracts/checkpointSchema.js';
import type { Profile } from '../contracts/profileSchema.js';
import { flagValue } from '../plan/request/flagValue.js';
import { keptWishes } from '../plan/request/keptWishes.js';
import { withFlags, withoutOrigin, weightsFlag } from '../plan/origin.js';
import { timeLimitAgain, typedOf, usedDevice } from '../plan/request/recordedRun.js';
import type { TypedRun } from '../plan/request/request.js';

/**
 * What asks for such a run: the earlier one's command line, with `changes` to its flags, at step 0
 * with a schedule and an optimizer of its own. Its hosts may be more than the profile can give
 * (`lostHosts`, `otherKind`). UserError (usage) where the earlier run is no training by our
 * trainer.
 */
export function runFromCheckpoint(
  { id, run, dir }: Pick<RunEntry, 'id' | 'run' | 'dir'>,
  checkpoint: Pick<Checkpoint, 'path'>,
  profile: Profile,
  changes: readonly string[] = [],
): Omit<TypedRun, 'cwd'> {
  if (!run) {
    const what = `${id} has no run.json that can be read, so nobody knows its command`;
    throw new UserError('usage', what, 'Choose another run');
  }
  if (run.program !== 'trainer') {
    const what = `${id} is no training by our trainer: only its own program knows its checkpoints`;
    throw new UserError('usage', what, 'Choose another run');
  }
  const typed = typedOf(run);
  const { words, ranks, nodes, hosts, gpus, tensorboard, evaluator } = typed;
  const changed = withFlags(withoutOrigin(words), changes);
  if (changed[0] !== 'train') {
    const what = `a run from a checkpoint is a training, not "${changed[0] ?? ''}"`;
    throw new UserError('usage', what, 'Give flags of train, or train with all its flags');
  }
  return {
    profile,
    words: [...withoutOrigin(changed), ...weightsFlag(dir, checkpoint.path)],
    deviceBefore: flagValue(changes, '--device') === undefined ? usedDevice(run) : undefined,
    ranks,
    tensorboard,
    evaluator,
    ...(nodes === undefined ? {} : { nodes }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(gpus === undefined ? {} : { gpus }),
    ...keptWishes(profile, { ...typed, ...timeLimitAgain(run) }),
  };
}
