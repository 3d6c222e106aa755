// What a report measures: a training on a profile, and the numbers of ranks.
import * as vscode from 'vscode';
import type { MeasureArgument } from '../../../contributions.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { measuredWords } from '../../../core/measure/measureScaling.js';
import { trainerVerb } from '../../../core/plan/request/flags.js';
import { proposeTraining } from '../../../core/plan/proposal.js';
import { joinWords, splitWords } from '../../../core/plan/request/argv.js';
import { replicasOf, slotsOf, usualReplicas } from '../../../core/scaling/plan.js';
import { recentRuns, rememberProfile } from '../../recentRuns.js';
import { pickProfile } from '../pick.js';
import { problemOf } from '../problemOf.js';
import { editCommandLine } from '../start/commandLine.js';
import { trainerFlags } from '../start/editAndStart.js';
import { Folders } from '../start/folders.js';
import type { Ui } from '../ui.js';

export interface AskedTraining {
  session: ClusterSession;
  /** Without its length, as `measuredWords`. */
  words: string[];
  ranks: number[];
  /** Cores of the head. */
  cores: number;
}

/**
 * Undefined where a question was given up. With `words` given nothing is asked. `about`: behind the
 * question for the training. UserError.
 */
export async function askTraining(
  ui: Ui,
  title: string,
  given: MeasureArgument | undefined,
  about = '',
): Promise<AskedTraining | undefined> {
  const session = await pickProfile(ui, given, title);
  if (!session) return undefined;
  const machine = await session.machine();
  const line = given?.words
    ? joinWords(given.words)
    : await editCommandLine(
        `${title} of ${session.profile.name}${about}`,
        joinWords(lastTraining(ui, session.profile.name)),
        trainerFlags(ui, session.profile.name),
        new Folders(machine),
      );
  if (line === undefined) return undefined;
  const words = measuredWords(splitWords(line));
  const { cores } = await machine.node.hello();
  const usual = usualReplicas(slotsOf(session.profile, cores)).join(',');
  const text = given?.words ? (given.replicas ?? usual) : await askRanks(title, usual);
  if (text === undefined) return undefined;
  const ranks = replicasOf(text);
  await rememberProfile(ui.services, session.profile.name);
  return { session, words, ranks, cores };
}

/** The last training on the profile, else a short one that works anywhere. */
function lastTraining({ services }: Ui, profile: string): readonly string[] {
  const last = recentRuns(services).find(
    (run) => run.profile === profile && trainerVerb(run.words) === 'train',
  );
  return last?.words ?? proposeTraining('resnet20', ['--data', 'synthetic']);
}

const askRanks = (title: string, value: string): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    title,
    value,
    prompt: 'Numbers of ranks to try, with commas',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => replicasOf(text)),
  });
