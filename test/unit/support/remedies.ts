// One remedy of each kind, and of each form that has words of its own.
import {
  growShm,
  installLibgomp,
  keepProcesses,
  raiseLimit,
  setMtu,
  synchroniseClock,
} from '../../../src/core/base/nodeCommands.js';
import type { Remedy } from '../../../src/core/base/remedy.js';

type ByKind = { [K in Remedy['kind']]: readonly Extract<Remedy, { kind: K }>[] };

const host = 'gpu1';
const profile = 'lab';
const words = ['train', '--data', '/d'];

/** The compiler says when a kind is missing. */
const byKind: ByKind = {
  otherWorkdir: [
    { kind: 'otherWorkdir', host },
    { kind: 'otherWorkdir', host, advice: 'Name another folder' },
  ],
  moreSpace: [{ kind: 'moreSpace', profile }],
  correctKeyFile: [{ kind: 'correctKeyFile', host }],
  otherKeyFile: [{ kind: 'otherKeyFile', host }],
  nameKeyFile: [{ kind: 'nameKeyFile', host }],
  chooseKeyFile: [{ kind: 'chooseKeyFile', host }],
  checkHostName: [{ kind: 'checkHostName', host }],
  checkAddress: [{ kind: 'checkAddress', host, advice: 'Check the port' }],
  useOwnSsh: [{ kind: 'useOwnSsh', host }],
  useSsh2: [{ kind: 'useSsh2', host }],
  loginFromHead: [{ kind: 'loginFromHead', host, address: '10.0.0.2' }],
  openPorts: [{ kind: 'openPorts', profile, host, range: '47000-47100' }],
  addHosts: [{ kind: 'addHosts', profile }],
  correctProfiles: [{ kind: 'correctProfiles', line: 7 }],
  correctWorkspaceFile: [{ kind: 'correctWorkspaceFile', line: 7 }],
  addProfile: [{ kind: 'addProfile' }],
  chooseProfile: [{ kind: 'chooseProfile', names: ['local', profile] }],
  connectAgain: [{ kind: 'connectAgain', host }],
  enterAgain: [{ kind: 'enterAgain', host }],
  checkPassphrase: [{ kind: 'checkPassphrase', host, file: '/k' }],
  acceptHostKey: [{ kind: 'acceptHostKey', host }],
  correctSshConfig: [{ kind: 'correctSshConfig', host }],
  connectLater: [{ kind: 'connectLater', host }],
  askAgain: [
    { kind: 'askAgain', host },
    { kind: 'askAgain', host, first: { kind: 'correctKeyFile', host } },
  ],
  runCommand: [
    raiseLimit('nofile', '65536'),
    keepProcesses,
    setMtu('eth0', '9000'),
    growShm(true),
    growShm(false),
    synchroniseClock,
    installLibgomp,
  ],
  terminalOnHead: [{ kind: 'terminalOnHead', host, address: '10.0.0.2' }],
  terminalOnNode: [{ kind: 'terminalOnNode' }],
  fewerRanks: [
    { kind: 'fewerRanks', profile, ranks: 4, words, moreSlots: true },
    { kind: 'fewerRanks', profile, ranks: 1, words, moreSlots: false },
  ],
  fewerNodes: [{ kind: 'fewerNodes', profile, nodes: 2 }],
  otherHosts: [
    { kind: 'otherHosts', hosts: ['gpu1', 'gpu3'] },
    { kind: 'otherHosts', hosts: ['gpu1', 'gpu3'], resume: { profile, id: 'r1', dir: '/r1' } },
  ],
  fewerSpares: [{ kind: 'fewerSpares', profile, spares: 1 }],
  freeHead: [{ kind: 'freeHead', profile }],
  shareWorkdir: [
    { kind: 'shareWorkdir', profile, host },
    { kind: 'shareWorkdir', profile, host, leftOut: true },
  ],
  useCpu: [
    { kind: 'useCpu', or: 'profileWithGpus' },
    { kind: 'useCpu', or: 'otherGpus', profile },
    { kind: 'useCpu', or: 'cudaBuild' },
    { kind: 'useCpu', or: 'packageIndex' },
  ],
  otherGpus: [{ kind: 'otherGpus', profile }],
  fewerGpus: [
    { kind: 'fewerGpus', gpus: 0 },
    { kind: 'fewerGpus', gpus: 2 },
  ],
  waitForGpus: [
    { kind: 'waitForGpus', or: { kind: 'otherGpus', profile } },
    { kind: 'waitForGpus', or: { kind: 'useCpu', or: 'otherGpus', profile } },
  ],
  correctData: [
    { kind: 'correctData', flag: 'data', profile },
    { kind: 'correctData', flag: 'eval-data' },
  ],
  nameCommand: [{ kind: 'nameCommand' }],
  nameCode: [{ kind: 'nameCode', folder: '/home/ada/code' }],
  startRun: [{ kind: 'startRun' }],
  chooseRun: [{ kind: 'chooseRun', newest: 'r2' }],
  meantRun: [
    { kind: 'meantRun', run: 'first' },
    { kind: 'meantRun', run: 'first', profile },
  ],
  openTensorBoard: [{ kind: 'openTensorBoard' }],
  nodePath: [{ kind: 'nodePath' }],
  reinstall: [{ kind: 'reinstall' }],
  stopRun: [{ kind: 'stopRun', run: 'r2' }],
  greaterBudget: [{ kind: 'greaterBudget' }],
  reportProgram: [{ kind: 'reportProgram' }],
  report: [
    { kind: 'report', tryFirst: true },
    { kind: 'report', tryFirst: false },
  ],
};

export const everyRemedy: readonly Remedy[] = Object.values(byKind).flat();

/**
 * What words of a user interface must be: a sentence without its full stop, that has every field.
 */
export const sentenceWithoutStop = /^[A-Z][^\n]*[^\s.]$/;

/** What follows such words: a question has its mark. */
export const stop = (text: string): string => (text.endsWith('?') ? '' : '.');
