import { exitCodes, UserError } from '../../core/base/errors.js';
import { programOfFolder } from '../../core/code/program.js';
import { assertTrainFlags, trainHelp } from '../../core/plan/request/flagCheck.js';
import { trainerHelpWords } from '../../core/plan/request/flags.js';
import type { AskedRun } from '../../core/plan/request/commandLine.js';
import { requestOf, type TypedRun } from '../../core/plan/request/request.js';
import {
  addedDefaults,
  trainDefaultsText,
  withTrainDefaults,
} from '../../core/plan/request/trainDefaults.js';
import { whyNotHere } from '../../core/plan/whyNotHere.js';
import { WorkspaceFile } from '../../core/presets/workspaceFile.js';
import { presetRun } from '../../core/presets/presetRun.js';
import type { Context, Verb } from '../context.js';
import { exportFlags, LiveExports } from '../liveExports.js';
import { startAndStay } from '../startAndStay.js';
import { codeOf, typedRun } from '../typedRun.js';
import { wishFlags } from '../wishes.js';

/** Of the folder that the command is given in. UserError (usage). */
async function presetOf(
  { cwd }: Context,
  name: string | undefined,
  profile: string,
): Promise<AskedRun | undefined> {
  return name === undefined ? undefined : presetRun(await WorkspaceFile.in(cwd).preset(name), profile);
}

/** The script alone: the code stays here, and the queue is not asked. UserError (usage). */
async function showScript(context: Context, typed: TypedRun): Promise<number> {
  const { machine, output } = context;
  if (machine.batchScript === undefined) {
    const what = `profile ${typed.profile.name} has no queue, so its runs have no batch script`;
    throw new UserError('usage', what, 'Name a profile of kind slurm');
  }
  const ask = machine.batchScript.bind(machine);
  const script = await context.withProgress((progress) => ask(requestOf(typed), progress));
  if (context.json) output.json({ type: 'script', script });
  else for (const line of script.trimEnd().split('\n')) output.line(line);
  return exitCodes.done;
}

/** Of this machine's trainer: nothing is connected to. UserError (preflight, failed), Cancelled. */
async function showTrainerHelp(context: Context, words: readonly string[]): Promise<number> {
  const reason = whyNotHere();
  if (reason) throw new UserError('preflight', reason.what, 'Ask for the help on such a machine');
  const text = await context.withProgress((progress) => context.trainerHere.runTrainer(words, progress));
  for (const line of text.trimEnd().split('\n')) context.output.line(line);
  return exitCodes.done;
}

/** Before anything is connected to, where this machine has the trainer. UserError (usage). */
async function assertFlagsHere(context: Context, typed: TypedRun): Promise<void> {
  if (typed.profile.kind === 'local') return; // the start looks at them
  const help = await context.trainerHere.runTrainerIfThere(trainHelp);
  if (help !== undefined) await assertTrainFlags(requestOf(typed), () => Promise.resolve(help));
}

export const run: Verb = {
  verb: 'run',
  summary: 'starts a run and stays with it',
  words: ['P'],
  flags: [
    { name: 'detach', help: 'return once the run has started, or with --wait once it is queued' },
    {
      name: 'ranks',
      value: 'N',
      help: 'processes; by default what the profile has slots or GPUs for, else 2 (on this machine)',
    },
    { name: 'nodes', value: 'N', help: "how many of a cluster's hosts to use; by default all" },
    {
      name: 'hosts',
      value: 'A,B',
      help: "only these of a cluster's hosts, by their names in the profile; by default all",
      alternative: true,
    },
    { name: 'per-slot', help: 'of an own program: one process for each slot of the nodes' },
    {
      name: 'per-node',
      help: 'of an own program: one launcher for each node, for example torchrun',
      alternative: true,
    },
    {
      name: 'gpus',
      value: 'N|LIST',
      help: 'on each node: any N free GPUs, or these (0,2); 1, is GPU 1 alone',
    },
    {
      name: 'wait',
      help: 'queue until enough GPUs are free on every node of the run; Ctrl-C leaves the queue. With --detach the run waits by itself, and stop takes it out',
    },
    ...wishFlags,
    {
      name: 'debug',
      value: 'RANK',
      help: 'of your own program in Python: this rank, say 0, waits for a debugger: trainyard debug RUN',
    },
    { name: 'name', value: 'NAME', help: 'what the run is called; by default its id, with the model in it' },
    { name: 'tag', value: 'TAG', help: 'a word to find it by; may be given more than once' },
    { name: 'notes', value: 'TEXT', help: 'what the run is for, in your own words' },
    {
      name: 'code',
      value: 'FOLDER',
      help: 'send this folder along, and start the command in it: what git does not ignore; not node_modules, .venv and files with secrets',
    },
    {
      name: 'preset',
      value: 'NAME',
      help: 'the run of this name in .vscode/trainyard.json of this folder; further flags go before what it says',
    },
    {
      name: 'stage',
      value: 'FROM:TO',
      help: "put the head's folder FROM on each node's own disk as TO before; in place of the profile's stage",
    },
    {
      name: 'show-script',
      help: 'of a Slurm profile: print the batch script that would be sent, and send nothing',
    },
    { name: 'run-dir', value: 'DIR', help: 'the run folder; by default one is made under the workdir' },
    {
      name: 'logdir',
      value: 'DIR',
      help: "a further folder with your program's event files, whose figures are followed; relative to where it starts",
    },
    {
      name: 'tensorboard',
      help: 'serve TensorBoard with the run, and bring it to 127.0.0.1:6006 or the next free port',
    },
    ...exportFlags,
    {
      name: 'no-evaluator',
      help: 'do not evaluate checkpoints on --eval-data while training, wherever --eval-on says',
    },
  ],
  rest: true,
  trainer: 'verb',
  details: [
    'After -- stands a verb of the trainer with its flags, or any command: your own program. It is started once, or as often as --ranks, --per-slot or --per-node say.',
    'The trainer tells its flags without a connection: trainyard run local -- train --help',
    'train takes --device auto, cpu or cuda. auto, the default, takes CUDA where every node of the run has a free GPU for each of its ranks and the CUDA back end runs there, else the CPU. The first line says which, and why.',
    'Ctrl-C once stops the run after a checkpoint, twice stops it now. A client that is killed, or gets SIGTERM or SIGHUP, leaves the run running.',
    'A program of your own finds RANK, WORLD_SIZE, MASTER_ADDR and what else torchrun, Open MPI and TensorFlow set. A stop sends it SIGTERM, and SIGKILL after stopGrace seconds (30).',
    'Example: trainyard run local --ranks 2 -- train --model resnet20 --data images/train --eval-data images/validation --epochs 10',
  ],
  async run(context, args) {
    const helpWords = trainerHelpWords(args.rest);
    if (helpWords) return showTrainerHelp(context, helpWords);
    const profile = await context.profile(args.words[0]);
    const preset = await presetOf(context, args.value('preset'), profile.name);
    const asked = typedRun(profile, context.cwd, args, preset);
    const typed = withTrainDefaults(asked, profile);
    const added = addedDefaults(asked, profile);
    if (added) context.output.note(`profile ${profile.name} adds ${trainDefaultsText(added)}`);
    await assertFlagsHere(context, typed);
    if (args.has('show-script')) return showScript(context, typed);
    const code = await codeOf(context, typed, args.value('code') ?? preset?.codeFolder);
    const left = code || profile.kind === 'local' ? undefined : programOfFolder(typed.words, context.cwd);
    if (left !== undefined) {
      context.output.note(
        `${left} is not sent to the nodes, and has to be there. --code . sends this folder`,
      );
    }
    const request = requestOf({ ...typed, code });
    const exports = await LiveExports.of(context, args);
    return startAndStay(context, args, request, exports, request.about?.name);
  },
};
