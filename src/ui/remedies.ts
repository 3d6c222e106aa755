// Every remedy in the words of the editor, with the button that does it. Nothing here knows the
// editor: src/ui/commands/showError.ts shows the buttons.
import type { CommandId, LineArgument, ResumeArgument, RunWords } from '../contributions.js';
import { errorWords as wordsOfError } from '../core/base/errors.js';
import { nodePath } from '../core/base/nodePath.js';
import type { Advice, ProfilePlace, Remedy } from '../core/base/remedy.js';

/** Commands that are given a profile, or ask which one where it is not known. */
type ProfileCommand = Extract<
  CommandId,
  | 'trainyard.editProfile'
  | 'trainyard.chooseKey'
  | 'trainyard.connect'
  | 'trainyard.disconnect'
  | 'trainyard.checkProfile'
  | 'trainyard.copyToAll'
  | 'trainyard.openNodeTerminal'
>;

export type ButtonCommand =
  | { id: ProfileCommand; place: ProfilePlace; field?: string }
  | { id: 'trainyard.runTraining'; argument?: RunWords }
  | { id: 'trainyard.resumeRun'; argument: ResumeArgument }
  | { id: 'trainyard.openProfiles'; argument: LineArgument }
  | { id: 'trainyard.addProfile' | 'trainyard.showOutput' }
  /** Of the editor itself. */
  | { id: 'trainyard.runs.focus' }
  | { id: 'workbench.extensions.search'; argument: string };

/** A button of a notification. Its commands are executed one after another. */
export interface RemedyButton {
  title: string;
  commands: readonly ButtonCommand[];
}

interface EditorRemedy {
  /** What to do, without the full stop. */
  text: string;
  /** Left out where no command of the editor does it. */
  button?: RemedyButton;
}

const openProfile = (remedy: ProfilePlace, field: string): RemedyButton => ({
  title: 'Open Profile',
  commands: [{ id: 'trainyard.editProfile', place: placeOf(remedy), field }],
});
const chooseKey = (place: ProfilePlace): RemedyButton => ({
  title: 'Choose Key…',
  commands: [{ id: 'trainyard.chooseKey', place: placeOf(place) }],
});
const connect = (place: ProfilePlace): RemedyButton => ({
  title: 'Connect',
  commands: [{ id: 'trainyard.connect', place: placeOf(place) }],
});
const reconnect = (place: ProfilePlace): RemedyButton => ({
  title: 'Reconnect',
  commands: [
    { id: 'trainyard.disconnect', place: placeOf(place) },
    { id: 'trainyard.connect', place: placeOf(place) },
  ],
});
const placeOf = ({ profile, host }: ProfilePlace): ProfilePlace => ({
  ...(profile === undefined ? {} : { profile }),
  ...(host === undefined ? {} : { host }),
});
const addProfile: RemedyButton = { title: 'Add Profile', commands: [{ id: 'trainyard.addProfile' }] };
const runTraining: RemedyButton = { title: 'Run Training', commands: [{ id: 'trainyard.runTraining' }] };
const showExtension: RemedyButton = {
  title: 'Show Extension',
  commands: [{ id: 'workbench.extensions.search', argument: '@installed trainyard' }],
};
const nodeTerminal = (place: ProfilePlace): RemedyButton => ({
  title: 'Open Terminal',
  commands: [{ id: 'trainyard.openNodeTerminal', place: placeOf(place) }],
});

export function editorRemedy(remedy: Remedy): EditorRemedy {
  switch (remedy.kind) {
    case 'otherWorkdir': {
      const text =
        remedy.advice === undefined
          ? 'Give the profile another "workdir", which this user may write and run programs in'
          : `${remedy.advice}, as "workdir" in the profile`;
      return { text, button: openProfile(remedy, 'workdir') };
    }
    case 'moreSpace':
      return {
        text: 'Free some space, or give the profile a "workdir" on a disk that has it',
        button: openProfile(remedy, 'workdir'),
      };
    case 'correctKeyFile':
      return {
        text: 'Choose the key file that is right, or put it there',
        button: chooseKey(remedy),
      };
    case 'otherKeyFile':
      return {
        text: 'Choose a private key in OpenSSH or PEM format, or give the profile the "transport" "openssh" for what only your own ssh can use',
        button: chooseKey(remedy),
      };
    case 'nameKeyFile':
      return {
        text: 'Servers allow a few tries and a minute or two: choose the right key, so that it is the only one that is offered',
        button: chooseKey(remedy),
      };
    case 'chooseKeyFile':
      return {
        text: 'Choose the key that the host knows, or check the user name, and that your public key is in authorized_keys there',
        button: chooseKey(remedy),
      };
    case 'checkHostName':
      return {
        text: 'Check the name in the profile and in the SSH configuration, and the network',
        button: openProfile(remedy, 'host'),
      };
    case 'checkAddress':
      return { text: remedy.advice, button: openProfile(remedy, 'host') };
    case 'useOwnSsh':
      return {
        text: 'Give the profile the "transport" "openssh", so that your own ssh makes the connection',
        button: openProfile(remedy, 'transport'),
      };
    case 'useSsh2':
      return {
        text: 'Give the profile the "transport" "ssh2", or work in WSL',
        button: openProfile(remedy, 'transport'),
      };
    case 'loginFromHead':
      return {
        text: `Check there that "ssh ${remedy.address}" works without a question, or remove "launcher" from the profile`,
        button: nodeTerminal(remedy),
      };
    case 'openPorts':
      return {
        text: `Let the nodes reach one another on ports ${remedy.range}, or give ${remedy.host} the "address" by which they do in the profile`,
        button: openProfile(remedy, 'address'),
      };
    case 'addHosts':
      return { text: 'Add a host to "hosts" of the profile', button: openProfile(remedy, 'hosts') };
    case 'correctProfiles':
      return {
        text: 'Correct the file; nothing was changed in it',
        button: {
          title: 'Open Profiles',
          commands: [{ id: 'trainyard.openProfiles', argument: { line: remedy.line } }],
        },
      };
    case 'correctWorkspaceFile':
      return { text: 'Correct that file; nothing was changed in it' };
    case 'addProfile':
      return { text: 'Add a profile of a Linux machine that you reach by SSH', button: addProfile };
    case 'chooseProfile':
      return { text: `Choose one of: ${remedy.names.join(', ')}` };
    case 'connectAgain':
      return { text: 'Connect again', button: reconnect(remedy) };
    case 'enterAgain':
      return { text: 'Connect again and enter the right one', button: connect(remedy) };
    case 'checkPassphrase':
      return {
        text: `The passphrase of ${remedy.file} may be wrong: connect again and enter it. If it is right, check that the public key is in authorized_keys there`,
        button: connect(remedy),
      };
    case 'acceptHostKey':
      return {
        text: 'Nothing was sent to that host; compare the fingerprint with its own (ssh-keygen -lf on the host), then connect again and trust it',
        button: connect(remedy),
      };
    case 'correctSshConfig':
      return { text: 'Correct it and connect again', button: connect(remedy) };
    case 'connectLater':
      return {
        text: 'It may be overloaded or limit logins (MaxStartups in sshd_config); wait a moment and connect again',
        button: connect(remedy),
      };
    case 'askAgain':
      return askAgain(remedy);
    case 'runCommand':
      return { text: `${remedy.purpose}. Run there${remedy.asRoot ? ' as root' : ''}: ${remedy.command}` };
    case 'terminalOnHead':
      return {
        text: `Open a terminal on ${remedy.host}, and run there: ssh ${remedy.address}`,
        button: nodeTerminal(remedy),
      };
    case 'terminalOnNode':
      return { text: 'Open a terminal on the node and go there', button: nodeTerminal({}) };
    case 'fewerRanks':
      return fewerRanks(remedy);
    case 'fewerNodes':
      return {
        text: `Ask for ${remedy.nodes} or fewer, or add hosts to the profile`,
        button: openProfile(remedy, 'hosts'),
      };
    case 'fewerSpares':
      return {
        text: `Free one, or set "spares" of the profile to ${remedy.spares}`,
        button: openProfile(remedy, 'spares'),
      };
    case 'freeHead':
      return {
        text: 'Free one, or make another host the "head" of the profile',
        button: openProfile(remedy, 'head'),
      };
    case 'otherHosts':
      return otherHosts(remedy);
    case 'shareWorkdir':
      return {
        text:
          remedy.leftOut === true
            ? `Name ${remedy.host} among the hosts too, or a "workdir" that all nodes see`
            : `Name a "workdir" that all nodes see, or give ${remedy.host} "slots"`,
        button: openProfile(remedy, 'workdir'),
      };
    case 'otherGpus':
      return { text: 'Wait for their end, or take other GPUs: the Clusters view shows who holds each' };
    case 'fewerGpus':
      return {
        text:
          remedy.gpus === 0
            ? 'Use a profile with GPUs, or ask for none'
            : `Ask for ${remedy.gpus} GPUs or fewer, or use a profile with more`,
      };
    case 'waitForGpus':
      return editorRemedy(remedy.or);
    case 'useCpu':
      return useCpu(remedy);
    case 'correctData': {
      const correct = `Correct "--${remedy.flag}" in the command line`;
      if (remedy.profile === undefined) return { text: `${correct}, or put the data there` };
      const commands = [{ id: 'trainyard.copyToAll', place: placeOf(remedy) }] as const;
      return {
        text: `${correct}, or copy the data to the nodes`,
        button: { title: 'Copy to All Nodes', commands },
      };
    }
    case 'nameCommand':
      return {
        text: 'Write a command line, for example: train --model resnet20 --data synthetic --steps 100',
        button: runTraining,
      };
    case 'nameCode':
      return { text: `Start it anew with the code folder ${remedy.folder}`, button: runTraining };
    case 'startRun':
      return { text: 'Run a training first', button: runTraining };
    case 'chooseRun':
      return {
        text: `The newest one is ${remedy.newest}; the Runs view lists all`,
        button: { title: 'Show Runs', commands: [{ id: 'trainyard.runs.focus' }] },
      };
    case 'meantRun': {
      const where = remedy.profile === undefined ? '' : ` of profile ${remedy.profile}`;
      return {
        text: `Did you mean ${remedy.run}${where}?`,
        button: { title: 'Show Runs', commands: [{ id: 'trainyard.runs.focus' }] },
      };
    }
    case 'stopRun':
      return { text: 'Stop the run first' };
    case 'greaterBudget':
      return { text: 'Go on with a greater budget' };
    case 'openTensorBoard':
      return { text: 'Use "Open TensorBoard" or "Open TensorBoard in Browser" in the editor' };
    case 'nodePath':
      return { text: 'Write it as the node calls it, for example /data/images or ~/images' };
    case 'reinstall':
      return { text: 'Install the Trainyard extension again', button: showExtension };
    case 'reportProgram':
      return { text: 'Report this, or install the Trainyard extension again', button: showExtension };
    case 'report': {
      const first = remedy.tryFirst ? 'Try again; if it stays so, report' : 'Report';
      const commands = [{ id: 'trainyard.showOutput' }] as const;
      return { text: `${first} this with the output`, button: { title: showOutput, commands } };
    }
  }
}

/** What every notification of an error offers. */
export const showOutput = 'Show Output';

type Of<K extends Remedy['kind']> = Extract<Remedy, { kind: K }>;

function askAgain(remedy: Of<'askAgain'>): EditorRemedy {
  const first = remedy.first && editorRemedy(remedy.first);
  return {
    text: `${first === undefined ? '' : `${first.text}. `}Disconnect, then connect again to be asked once more`,
    button: reconnect(remedy),
  };
}

function otherHosts({ hosts, resume }: Of<'otherHosts'>): EditorRemedy {
  if (!resume) return { text: `Choose hosts that are there in the form, for example ${hosts.join(',')}` };
  const names = hosts.join(', ');
  const argument = { ...resume, dir: nodePath(resume.dir), hosts };
  const button = {
    title: `Resume on ${names}`,
    commands: [{ id: 'trainyard.resumeRun', argument }],
  } as const;
  return { text: `It can go on with hosts that are there: ${names}`, button };
}

function fewerRanks({ profile, ranks, words, moreSlots }: Of<'fewerRanks'>): EditorRemedy {
  const title = `Use ${ranks} ${ranks === 1 ? 'Rank' : 'Ranks'}`;
  return {
    text: `Use ${ranks} or fewer${moreSlots ? ', or give the profile more "slots"' : ''}`,
    button: { title, commands: [{ id: 'trainyard.runTraining', argument: { profile, words, ranks } }] },
  };
}

function useCpu(remedy: Of<'useCpu'>): EditorRemedy {
  const cpu = 'Write "--device cpu" in the command line';
  switch (remedy.or) {
    case 'profileWithGpus':
      return { text: `${cpu}, or use a profile with GPUs`, button: addProfile };
    case 'otherGpus':
      return {
        text: `${cpu}, wait, or name other "gpus" in the profile`,
        button: openProfile(remedy, 'gpus'),
      };
    case 'packageIndex':
      return { text: `${cpu}, or look at the network there and at the package index that pip is set to` };
    case 'cudaBuild':
      return { text: `${cpu}, or install a build of the extension with CUDA`, button: showExtension };
  }
}

export const adviceText = (advice: Advice): string =>
  typeof advice === 'string' ? advice : editorRemedy(advice).text;

/** The message of anything that was thrown, with what to do about it. */
export const errorWords = (error: unknown): string =>
  wordsOfError(error, (remedy) => editorRemedy(remedy).text);
