// The keys that are offered to a server: those of the agent, and key files.
import { readFile } from 'node:fs/promises';
import type { ParsedKey, SigningRequestOptions } from 'ssh2';
import { errorText, systemCode, throwIfCancelled } from '../../base/errors.js';
import type { SshConfig } from '../config/config.js';
import { failure } from '../base/failures.js';
import type { Ssh2 } from '../library/loadSsh2.js';
import { readKeyFile } from './keyFile.js';
import type { Secrets } from './secrets.js';

/** Milliseconds for an agent to list its keys: a locked one asks a person first. */
const agentPatience = 30_000;

/** The hash that ssh2 wants in a signature; undefined: the usual one of the key's type. */
export type Hash = SigningRequestOptions['hash'];

/** One key that may be offered. No passphrase is asked for before one is needed. */
export interface Identity {
  /** For messages. */
  readonly label: string;
  /** Asks for the passphrase only where the file does not show its public half. */
  publicKey(): Promise<ParsedKey>;
  /** Asks for the passphrase if there is one: the server wants this key. */
  sign(data: Buffer, hash: Hash): Promise<Buffer>;
}

/** The keys of a login, in the order in which they are offered. */
export interface Identities {
  list: Identity[];
  /** Keys that were left out, and why. */
  problems: string[];
}

/**
 * UserError when the key that the profile names cannot be used, Cancelled. `patience`: milliseconds
 * for each key agent.
 */
export async function loadIdentities(
  ssh2: Ssh2,
  config: SshConfig,
  secrets: Secrets,
  signal?: AbortSignal,
  patience = agentPatience,
): Promise<Identities> {
  if (!config.methods.publickey) return { list: [], problems: [] };
  const problems: string[] = [];
  const held = await agentKeys(ssh2, config, problems, patience, signal);
  const files: Identity[] = [];
  const used = new Set<AgentKey>();
  for (const path of config.identityFiles) {
    const file = await fileIdentity(ssh2, path, config, secrets);
    if (typeof file === 'string') problems.push(file);
    if (file === undefined || typeof file === 'string') continue;
    const shown = file.shown?.getPublicSSH();
    const same = shown && held.find(({ key }) => key.getPublicSSH().equals(shown));
    if (same) used.add(same);
    files.push(same ? { ...same.identity, label: `${path} (by the agent)` } : file.identity);
  }
  const others = config.identitiesOnly ? [] : held.filter((key) => !used.has(key));
  return { list: [...files, ...others.map(({ identity }) => identity)], problems };
}

interface AgentKey {
  key: ParsedKey;
  identity: Identity;
}

async function agentKeys(
  ssh2: Ssh2,
  config: SshConfig,
  problems: string[],
  patience: number,
  signal: AbortSignal | undefined,
): Promise<AgentKey[]> {
  const lists = await Promise.all(
    config.agents.map((path) => keysOf(ssh2, path, problems, patience, signal)),
  );
  return lists.flat();
}

/** Those of one agent, which has a while to list them. Cancelled. */
async function keysOf(
  ssh2: Ssh2,
  path: string,
  problems: string[],
  patience: number,
  signal: AbortSignal | undefined,
): Promise<AgentKey[]> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(new Error(`it listed no keys within ${patience / 1000} s`));
  }, patience);
  try {
    const end = AbortSignal.any([late.signal, ...(signal ? [signal] : [])]);
    const { agent, keys } = await listedBy(ssh2, path, end);
    return keys.map((key) => ({ key, identity: agentIdentity(agent, key) }));
  } catch (error) {
    throwIfCancelled(signal);
    problems.push(`the key agent at ${path} does not answer: ${errorText(error)}`);
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** Throws the signal's reason, and leaves no connection to the agent, once `end` has fired. */
function listedBy(
  ssh2: Ssh2,
  path: string,
  end: AbortSignal,
): Promise<{ agent: InstanceType<Ssh2['OpenSSHAgent']>; keys: ParsedKey[] }> {
  return new Promise((resolve, reject) => {
    /** Its connections end with the list. */
    class Lister extends ssh2.OpenSSHAgent {
      override getStream(use: Parameters<InstanceType<Ssh2['OpenSSHAgent']>['getStream']>[0]): void {
        super.getStream((error, stream) => {
          end.addEventListener('abort', () => stream?.destroy(), { once: true });
          if (end.aborted) stream?.destroy();
          use(error, stream);
        });
      }
    }
    const fail = (error: unknown): void => {
      reject(error instanceof Error ? error : new Error(errorText(error)));
    };
    if (end.aborted) fail(end.reason);
    end.addEventListener(
      'abort',
      () => {
        fail(end.reason);
      },
      { once: true },
    );
    new Lister(path).getIdentities((error, found) => {
      if (error) fail(error);
      else {
        const keys = (found ?? []).filter((entry): entry is ParsedKey => 'getPublicSSH' in entry);
        resolve({ agent: new ssh2.OpenSSHAgent(path), keys });
      }
    });
  });
}

function agentIdentity(agent: InstanceType<Ssh2['OpenSSHAgent']>, key: ParsedKey): Identity {
  return {
    label: `${key.comment || key.type} of the agent`,
    publicKey: () => Promise.resolve(key),
    sign: (data, hash) =>
      new Promise((resolve, reject) => {
        agent.sign(key, data, hash === undefined ? {} : { hash }, (error, signature) => {
          if (error || !signature) reject(error ?? new Error('the agent gave no signature'));
          else resolve(signature);
        });
      }),
  };
}

interface FileIdentity {
  identity: Identity;
  /** The public half, where the file shows it. */
  shown: ParsedKey | undefined;
}

/** Undefined: there is no such file; a text: why it cannot be used. */
async function fileIdentity(
  ssh2: Ssh2,
  path: string,
  config: SshConfig,
  secrets: Secrets,
): Promise<FileIdentity | string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'latin1');
  } catch (error) {
    if (!config.ownIdentity) {
      return systemCode(error) === 'ENOENT' ? undefined : `${path}: ${errorText(error)}`;
    }
    const missing = systemCode(error) === 'ENOENT';
    throw failure(
      missing
        ? `the key file ${path} of ${config.host} does not exist`
        : `the key file ${path} of ${config.host} cannot be read: ${errorText(error)}`,
      { kind: 'correctKeyFile', host: config.host },
      error,
    );
  }
  const publicText = await readFile(`${path}.pub`, 'latin1').catch(() => undefined);
  const file = readKeyFile(ssh2, text, publicText);
  if (file.kind === 'unusable') {
    if (!config.ownIdentity) return `${path}: ${file.why}`;
    const hint = { kind: 'otherKeyFile', host: config.host } as const;
    throw failure(`the key file ${path} of ${config.host} cannot be used: ${file.why}`, hint);
  }
  const { host, user } = config;
  const open = (): Promise<ParsedKey> =>
    file.kind === 'open' ? Promise.resolve(file.key) : secrets.key(ssh2, path, text, { host, user });
  const shown = file.kind === 'open' ? file.key : file.publicKey;
  const sign = async (data: Buffer, hash: Hash): Promise<Buffer> => {
    const signature: unknown = (await open()).sign(data, hash);
    if (Buffer.isBuffer(signature)) return signature;
    throw failure(`the key ${path} does not sign: ${errorText(signature)}`, 'Use another key');
  };
  return { shown, identity: { label: path, publicKey: shown ? () => Promise.resolve(shown) : open, sign } };
}
