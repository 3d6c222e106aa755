// What ssh says when it cannot connect, in words that say what to do.
import { Dropped, failure, lastWords, Refused, Unreached } from '../base/failures.js';
import type { Conversation } from './conversation.js';
import type { SshConfig } from '../config/config.js';
import { unknownRefused } from '../hostKeys/checker.js';

const dropped =
  /^(kex_exchange_identification|ssh_exchange_identification|banner exchange|ssh_dispatch_run_fatal)\b.*(closed|reset|timed out|broken)|^Connection (closed|reset) by|Not allowed at this time|Exceeded MaxStartups/im;

/** Of ssh itself, beside what the server says before the login. */
const own =
  /^(Warning: |\*\* |Load key |sign_and_send_pubkey|Received disconnect|Disconnected |.*Permission denied)/;

const unreached = /^ssh: connect to host .* (timed out|refused|No route to host|Network is unreachable)$/;

/** `lines` is the end of ssh's stderr. */
export function connectFailure(
  { host, user }: Pick<SshConfig, 'host' | 'user'>,
  lines: readonly string[],
  conversation: Conversation,
): Error {
  const text = lines.join('\n');
  const said = lines.at(-1)?.trim() ?? 'it gave no reason';
  if (/IDENTIFICATION HAS CHANGED|has changed and you have requested strict/.test(text)) {
    const [, type] = /fingerprint for the (\S+) key/.exec(text) ?? [];
    const [, fingerprint] = /(SHA256:[A-Za-z0-9+/=]+)/.exec(text) ?? [];
    const [, place] = /Offending .*key in (.+)$/m.exec(text) ?? [];
    return new Refused(
      `the host key of ${host} has changed: ssh refuses it (${type ?? 'its key'} is now ${fingerprint ?? 'another'})`,
      `If the host was set up anew, remove its old key${place === undefined ? '' : ` (${place})`}; if not, somebody may stand between you and it`,
    );
  }
  if (conversation.distrusted !== undefined) {
    return new Refused(`the host key of ${host} was not accepted (${conversation.distrusted})`, {
      kind: 'acceptHostKey',
      host,
    });
  }
  if (/^No \S+ host key is known for .* requested strict checking/m.test(text)) {
    return unknownRefused(host, undefined);
  }
  const revoked = lines.find((line) => /revoked by file|is marked as revoked/.test(line));
  if (revoked !== undefined) {
    return new Refused(
      `ssh refuses the host key of ${host}: ${revoked.trim()}`,
      'Nothing was sent to that host; ask who runs it for its new key',
    );
  }
  if (/Host key verification failed|REVOKED HOST KEY/i.test(text)) {
    return new Refused(
      `ssh refuses the host key of ${host}: ${said}`,
      'Check the host key in your known_hosts file',
    );
  }
  if (/Permission denied|Too many authentication failures|No more authentication methods/.test(text)) {
    const { unlocked } = conversation;
    return new Refused(
      `${host} does not let ${user} in: ${said.replace(/\.$/, '')}${lastWords(lines.slice(0, -1).filter((line) => !own.test(line)))}`,
      unlocked === undefined
        ? { kind: 'chooseKeyFile', host }
        : { kind: 'checkPassphrase', host, file: unlocked },
    );
  }
  if (/not found|No such file/.test(text) && /^(sh|\/bin\/sh|exec):/.test(said)) {
    return failure(`ssh cannot be started: ${said}`, 'Install OpenSSH on this machine');
  }
  if (/stdio forwarding (request )?failed/i.test(text)) {
    return failure(
      `the jump host cannot reach ${host}`,
      'Check the address as the jump host knows it, and that the SSH server of the host is running',
    );
  }
  // Only what came before the login may be tried again: after it, the user would be asked twice.
  if (!conversation.asked && dropped.test(text)) return new Dropped(said);
  const before = conversation.asked ? lines.slice(0, -1).filter((line) => !own.test(line)) : [];
  const what = `ssh cannot connect to ${host}: ${said}${lastWords(before)}`;
  const hint = 'Check the address, the network and your SSH configuration';
  return unreached.test(said) ? new Unreached(what, hint) : failure(what, hint);
}
