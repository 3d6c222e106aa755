// Every remedy in the words of the terminal.
import { errorWords as wordsOfError } from '../core/base/errors.js';
import type { Advice, Remedy } from '../core/base/remedy.js';

/** What to do, without the full stop. */
export function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'otherWorkdir':
      return remedy.advice === undefined
        ? 'Set "workdir" in the profile to a folder that can'
        : `${remedy.advice}, as "workdir" in the profile`;
    case 'moreSpace':
      return 'Free some space, or set "workdir" in the profile to a disk that has it';
    case 'correctKeyFile':
      return 'Correct identityFile in the profile, or the file';
    case 'otherKeyFile':
      return 'Name a private key in OpenSSH or PEM format, or set "transport": "openssh" in the profile for what only your own ssh can use';
    case 'nameKeyFile':
      return 'Servers allow a few tries and a minute or two: connect again, and name the right key as identityFile in the profile';
    case 'chooseKeyFile':
      return 'Name the right key as identityFile in the profile, or check the user name, and that your public key is in authorized_keys there';
    case 'checkHostName':
      return 'Check the name in the profile and in the SSH configuration, and the network';
    case 'checkAddress':
      return remedy.advice;
    case 'useOwnSsh':
      return 'Set "transport": "openssh" in the profile, so that your own ssh makes the connection';
    case 'useSsh2':
      return 'Set "transport": "ssh2" in the profile, or work in WSL';
    case 'loginFromHead':
      return `Check there that "ssh ${remedy.address}" works without a question, or remove "launcher" from the profile`;
    case 'openPorts':
      return `Let the nodes reach one another on ports ${remedy.range}, or give ${remedy.host} the "address" by which they do`;
    case 'addHosts':
      return `Add a host to "hosts" of profile ${remedy.profile}`;
    case 'correctWorkspaceFile':
      return 'Correct that file; nothing was changed in it';
    case 'correctProfiles':
      return 'Correct the file; nothing was changed in it';
    case 'addProfile':
      return 'Use a profile of kind ssh that names a Linux machine: add one with trainyard import, and name it in the command';
    case 'chooseProfile':
      return `Choose one of: ${remedy.names.join(', ')}, or make one with: trainyard import`;
    case 'connectAgain':
      return 'Connect again';
    case 'enterAgain':
      return 'Connect again and enter the right one';
    case 'checkPassphrase':
      return `The passphrase of ${remedy.file} may be wrong: connect again and enter it. If it is right, check that the public key is in authorized_keys there`;
    case 'acceptHostKey':
      return 'Nothing was sent to that host; compare the fingerprint with its own (ssh-keygen -lf on the host) and connect again';
    case 'correctSshConfig':
      return 'Correct it and connect again';
    case 'connectLater':
      return 'It may be overloaded or limit logins (MaxStartups in sshd_config); wait a moment and connect again';
    case 'askAgain': {
      const first = remedy.first === undefined ? '' : `${remedyText(remedy.first)}. `;
      return `${first}Give the command again to be asked once more`;
    }
    case 'runCommand':
      return `${remedy.purpose}. Run there${remedy.asRoot ? ' as root' : ''}: ${remedy.command}`;
    case 'terminalOnHead':
      return `Open a terminal on ${remedy.host}, and run there: ssh ${remedy.address}`;
    case 'terminalOnNode':
      return 'Open a terminal on the node and go there';
    case 'fewerRanks':
      return `Use --ranks ${remedy.ranks} or fewer${remedy.moreSlots ? ', or set "slots" in the profile' : ''}`;
    case 'fewerNodes':
      return `Use --nodes ${remedy.nodes} or fewer, or add hosts to the profile`;
    case 'fewerSpares':
      return `Free one, or set "spares" of profile ${remedy.profile} to ${remedy.spares}`;
    case 'freeHead':
      return 'Free one, or make another host the head of the profile';
    case 'otherHosts': {
      const flag = `--hosts ${remedy.hosts.join(',')}`;
      return remedy.resume === undefined
        ? `Name hosts that are there, for example: ${flag}`
        : `Go on with hosts that are there, for example: trainyard resume ${remedy.resume.id} --profile ${remedy.resume.profile} ${flag}`;
    }
    case 'shareWorkdir':
      return remedy.leftOut === true
        ? `Name ${remedy.host} in --hosts too, or a workdir in profile ${remedy.profile} that all nodes see`
        : `Name a workdir in profile ${remedy.profile} that all nodes see, or give ${remedy.host} slots`;
    case 'useCpu':
      return `Use --device cpu, ${insteadOfCpu[remedy.or]}`;
    case 'otherGpus':
      return `Wait for their end, or ask for others with --gpus; trainyard gpus ${remedy.profile} shows who holds each`;
    case 'fewerGpus':
      return remedy.gpus === 0
        ? 'Use a profile with GPUs, or leave --gpus out'
        : `Ask for --gpus ${remedy.gpus} or fewer, or use a profile with more`;
    case 'waitForGpus':
      return `${remedyText(remedy.or)}. Or queue for them with --wait, and with --detach too this machine may be closed`;
    case 'correctData':
      return `Correct --${remedy.flag}, or copy the data there`;
    case 'nameCommand':
      return `Write it after --, for example: ${example}`;
    case 'nameCode':
      return `Send it anew: --code ${remedy.folder}`;
    case 'startRun':
      return startRunText(remedy);
    case 'chooseRun':
      return `The newest one is ${remedy.newest}; ${['trainyard runs', remedy.profile ?? []].flat().join(' ')} lists all`;
    case 'meantRun':
      return `Did you mean ${remedy.run}${remedy.profile === undefined ? '' : ` of profile ${remedy.profile}`}?`;
    case 'stopRun':
      return `Stop it first: trainyard stop ${remedy.run}`;
    case 'greaterBudget':
      return 'Go on with a greater one: --budget AMOUNT';
    case 'openTensorBoard':
      return 'Open the whole address that "trainyard tensorboard RUN" prints';
    case 'nodePath':
      return 'Write it as the node calls it, for example /data/images or ~/images (in Git Bash set MSYS_NO_PATHCONV=1, which leaves such paths as they are)';
    case 'reinstall':
      return remedy.checkout === true
        ? `Build it with: ${buildAll}`
        : `Install Trainyard again, or build it with: ${buildAll}`;
    case 'reportProgram':
      return 'Report this, or build it again';
    case 'report':
      return remedy.tryFirst
        ? 'Try again; if it stays so, report this with the log that TRAINYARD_LOG=debug prints'
        : 'Report this with the log that TRAINYARD_LOG=debug prints';
  }
}

const example = '-- train --model resnet20 --data synthetic --steps 100';

/** Names the profiles that have runs, before it says how one is started. */
function startRunText({ profile = 'local', elsewhere = [] }: Extract<Remedy, { kind: 'startRun' }>): string {
  const start = `Start one with: trainyard run ${profile} ${example}`;
  if (elsewhere.length === 0) return start;
  const lists = elsewhere.map((name) => `trainyard runs ${name}`).join(', ');
  return `Runs were started on ${elsewhere.join(', ')}: ${lists}. ${start}`;
}

/** In a copy of the source: the bundles alone leave the native programs out. */
const buildAll = 'node scripts/native/native.mjs build && npm run build';

const insteadOfCpu = {
  profileWithGpus: 'or a profile with GPUs',
  otherGpus: 'wait, or name other GPUs in the profile',
  packageIndex: 'or look at the network there and at the package index that pip is set to',
  cudaBuild: 'or build it with: node scripts/native/native.mjs cuda && npm run build',
} as const;

export const adviceText = (advice: Advice): string =>
  typeof advice === 'string' ? advice : remedyText(advice);

/** The message of anything that was thrown, with what to do about it. */
export const errorWords = (error: unknown): string => wordsOfError(error, remedyText);
