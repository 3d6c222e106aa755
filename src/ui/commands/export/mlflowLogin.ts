// Who the user is to an MLflow server: as the environment or netrc says it; else asked for, and
// kept in the editor's secret storage. It goes to the server alone.
import * as vscode from 'vscode';
import { Cancelled } from '../../../core/base/errors.js';
import { hasLogin, isLoginRefused, parseLogin, type MlflowLogin } from '../../../core/export/mlflow/login.js';

/**
 * Calls `act` with the environment and with the login that is kept for this server. Where the
 * server asks for another one, so does this, once; it is kept when the server has taken it.
 * UserError, Cancelled.
 */
export async function withMlflowLogin<T>(
  secrets: vscode.SecretStorage,
  { host, pathname }: URL,
  act: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const key = `trainyard.mlflow ${host}${pathname}`;
  const said = hasLogin(process.env);
  const kept = said ? undefined : parseLogin(await secrets.get(key));
  try {
    return await act({ ...process.env, ...kept });
  } catch (error) {
    if (said || !isLoginRefused(error)) throw error;
  }
  const login = await ask(host);
  const result = await act({ ...process.env, ...login });
  await secrets.store(key, JSON.stringify(login));
  return result;
}

async function ask(host: string): Promise<MlflowLogin> {
  const box = { title: `Login to MLflow at ${host}`, ignoreFocusOut: true };
  const user = await vscode.window.showInputBox({ ...box, prompt: 'User name. Leave it empty for a token' });
  if (user === undefined) throw new Cancelled();
  const prompt = user === '' ? 'Token' : `Password of ${user}`;
  const secret = await vscode.window.showInputBox({ ...box, prompt, password: true });
  if (secret === undefined || secret === '') throw new Cancelled();
  return user === ''
    ? { MLFLOW_TRACKING_TOKEN: secret }
    : { MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: secret };
}
