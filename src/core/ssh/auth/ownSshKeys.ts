// Keys that only the user's own ssh can log in with: security keys (FIDO), and certificates that
// the key agent holds. ssh2 passes over them.
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { SshConfig } from '../config/config.js';
import { publicKeyOf } from './keyFile.js';

/** Milliseconds that a key agent has for its list. */
const agentPatience = 2000;
/** Bytes of an answer; more is none of an agent's. */
const mostBytes = 1 << 20;

/** SSH_AGENTC_REQUEST_IDENTITIES and SSH_AGENT_IDENTITIES_ANSWER (draft-ietf-sshm-ssh-agent, 3.5). */
const request = Buffer.from([0, 0, 0, 1, 11]);
const answerType = 12;

const isSecurityKey = (type: string): boolean => /^(?:webauthn-)?sk-/.test(type);
const isCertificate = (type: string): boolean => type.includes('-cert-v0');

/** Why the user's own ssh may get in where ssh2 does not; undefined where no such key is seen. */
export async function keyForOwnSsh(config: SshConfig): Promise<string | undefined> {
  for (const path of config.identityFiles) {
    const text = await readFile(path, 'latin1').catch(() => undefined);
    const type = text === undefined ? undefined : publicKeyOf(text)?.type;
    if (type !== undefined && isSecurityKey(type)) return `${path} is a security key`;
  }
  if (config.identitiesOnly) return undefined;
  for (const agent of config.agents) {
    for (const { type, comment } of await keysOfAgent(agent)) {
      const name = comment === '' ? type : comment;
      if (isSecurityKey(type)) return `its key agent holds the security key ${name}`;
      if (isCertificate(type)) return `its key agent holds the certificate ${name}`;
    }
  }
  return undefined;
}

/** The keys that an agent lists; none where it gives no answer. */
function keysOfAgent(path: string): Promise<{ type: string; comment: string }[]> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let received = Buffer.alloc(0);
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(listedIn(received));
    };
    const timer = setTimeout(end, agentPatience);
    socket
      .on('error', end)
      .on('close', end)
      .on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        const whole = received.length >= 4 && received.length >= 4 + received.readUInt32BE(0);
        if (whole || received.length > mostBytes) end();
      })
      .write(request);
  });
}

function listedIn(answer: Buffer): { type: string; comment: string }[] {
  const keys: { type: string; comment: string }[] = [];
  if (answer.length < 9 || answer[4] !== answerType) return keys;
  let at = 9;
  const text = (): Buffer | undefined => {
    if (at + 4 > answer.length) return undefined;
    const end = at + 4 + answer.readUInt32BE(at);
    if (end > answer.length) return undefined;
    const found = answer.subarray(at + 4, end);
    at = end;
    return found;
  };
  for (let left = answer.readUInt32BE(5); left > 0; left--) {
    const [blob, comment] = [text(), text()];
    if (!blob || !comment || blob.length < 4) return keys;
    const type = blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1');
    keys.push({ type, comment: comment.toString('utf8') });
  }
  return keys;
}
