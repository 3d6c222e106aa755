// Who the user is to an MLflow server: from where MLflow's own client takes it. Nothing of it is
// kept, logged or put into an address.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorText, systemCode, UserError } from '../../base/errors.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The `Authorization` header for `uri`; undefined where nobody said who the user is. The
 * environment goes before netrc. UserError (usage) where netrc cannot be read.
 */
export async function authorization(uri: URL, env: Env): Promise<string | undefined> {
  const user = env['MLFLOW_TRACKING_USERNAME'];
  const password = env['MLFLOW_TRACKING_PASSWORD'];
  if (user !== undefined && password !== undefined) return basic(user, password);
  const token = env['MLFLOW_TRACKING_TOKEN'];
  if (token !== undefined && token !== '') return `Bearer ${token}`;
  const entry = netrcEntry(await netrcText(env), uri.hostname);
  return entry && basic(entry.login, entry.password);
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

async function netrcText(env: Env): Promise<string> {
  const usual = join(homedir(), process.platform === 'win32' ? '_netrc' : '.netrc');
  const path = env['NETRC'] ?? usual;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw new UserError('usage', `${path} cannot be read: ${errorText(error)}`, 'Correct its permissions', {
      cause: error,
    });
  }
}

/** The first entry of `host`, else that of `default`, where it has a login and a password. */
export function netrcEntry(text: string, host: string): { login: string; password: string } | undefined {
  const words = text.replace(/(^|\s)#.*$/gm, '').split(/\s+/);
  let mine = false;
  let login: string | undefined;
  let password: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === 'machine' || word === 'default') {
      if (mine) break;
      mine = word === 'default' || words[++at] === host;
    } else if (word === 'login' || word === 'password' || word === 'account') {
      const value = words[++at];
      if (mine && word === 'login') login = value;
      if (mine && word === 'password') password = value;
    }
  }
  return login === undefined || password === undefined ? undefined : { login, password };
}
