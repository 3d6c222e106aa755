// What is done where hosts of a new cluster let nobody in.
import * as vscode from 'vscode';
import type { CheckResult } from '../../../core/base/checks.js';
import type { Remedy } from '../../../core/base/remedy.js';
import { adviceText } from '../../remedies.js';

/** What was chosen. Undefined: the cluster is given up. */
export type AfterFailure = 'key' | 'jump' | 'ownSsh' | 'retry' | 'edit' | 'without' | undefined;

const farKinds: readonly Remedy['kind'][] = ['checkHostName', 'checkAddress'];
const keyKinds: readonly Remedy['kind'][] = [
  'chooseKeyFile',
  'correctKeyFile',
  'otherKeyFile',
  'nameKeyFile',
];

/** `failed`: why each host was not reached. `others`: how many hosts were. */
export async function askAfterFailure(
  name: string,
  failed: readonly CheckResult[],
  others: number,
): Promise<AfterFailure> {
  const kinds = failed.map(({ hint }) => (typeof hint === 'string' ? undefined : hint.kind));
  const hosts = failed.map(({ host }) => host ?? '');
  const isLogin = kinds.some((kind) => kind !== undefined && keyKinds.includes(kind));
  const isFar = kinds.some((kind) => kind === undefined || farKinds.includes(kind));
  const buttons: (vscode.MessageItem & { answer: AfterFailure })[] = [
    ...(kinds.includes('acceptHostKey') ? [{ title: 'Trust…', answer: 'retry' as const }] : []),
    ...(kinds.includes('useOwnSsh') ? [{ title: 'Use My Own ssh', answer: 'ownSsh' as const }] : []),
    ...(isLogin ? [{ title: 'Choose Key…', answer: 'key' as const }] : []),
    { title: 'Retry', answer: 'retry' },
    ...(isFar ? [{ title: 'Jump Host…', answer: 'jump' as const }] : []),
    ...(others > 0
      ? [
          {
            title: hosts.length === 1 ? `Go On Without ${hosts[0] ?? ''}` : `Go On Without Them`,
            answer: 'without' as const,
          },
        ]
      : []),
    { title: 'Edit Profile', answer: 'edit' },
  ];
  const which = hosts.length === 1 ? (hosts[0] ?? '') : `${hosts.length} of ${hosts.length + others} hosts`;
  const message = `${name}: no connection to ${which}.`;
  const answer = await vscode.window.showErrorMessage(
    message,
    { modal: true, detail: reasons(failed) },
    ...buttons,
  );
  return answer?.answer;
}

/** Hosts that say the same share a line. */
function reasons(failed: readonly CheckResult[]): string {
  return [...new Set(failed.map(said))].join('\n\n');
}

function said({ detail, hint }: CheckResult): string {
  const advice = adviceText(hint);
  return advice === '' ? `${detail}.` : `${detail}. ${advice}.`;
}
