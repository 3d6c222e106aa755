// The command line of a run, to be changed before the start.
import { flagValue } from '../../../core/plan/request/flagValue.js';
import type { TrainerFlag } from '../../../core/plan/request/trainerHelp.js';
import { joinWords, splitWords } from '../../../core/plan/request/argv.js';
import type { RecentRun } from '../../recentRuns.js';
import { errorWords } from '../../remedies.js';
import type { Ui } from '../ui.js';
import { editCommandLine } from './commandLine.js';
import { Folders } from './folders.js';
import { startRun, type StartOptions } from './startRun.js';

export async function editAndStart(ui: Ui, recent: RecentRun, how: StartOptions = {}): Promise<void> {
  const ranks = recent.ranks === undefined ? '' : `, ${recent.ranks} ranks`;
  const line = await editCommandLine(
    `Run on ${recent.profile}${ranks}`,
    joinWords(recent.words),
    trainerFlags(ui, recent.profile),
    new Folders(await (await ui.services.backend()).machine(recent.profile)),
  );
  if (line === undefined) return;
  const { gpus, ...rest } = recent;
  const words = splitWords(line);
  const onCpu = flagValue(words, '--device') === 'cpu'; // then the GPUs of before are not meant
  await startRun(ui, { ...rest, words, ...(gpus === undefined || onCpu ? {} : { gpus }) }, how);
}

/** Without them the line can still be typed, so what went wrong is only logged. */
export async function trainerFlags({ services }: Ui, profile: string): Promise<readonly TrainerFlag[]> {
  try {
    return await (await (await services.backend()).machine(profile)).trainerFlags('train');
  } catch (error) {
    services.logger.log('info', `no completion of flags: ${errorWords(error)}`);
    return [];
  }
}
