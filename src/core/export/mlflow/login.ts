// A login to an MLflow server, as variables of the environment name it.
import * as z from 'zod/mini';
import { UserError } from '../../base/errors.js';
import { check } from '../../base/validation.js';

const schema = z.union([
  z.object({ MLFLOW_TRACKING_TOKEN: z.string() }),
  z.object({ MLFLOW_TRACKING_USERNAME: z.string(), MLFLOW_TRACKING_PASSWORD: z.string() }),
]);
/** A token, or a name with a password. */
export type MlflowLogin = z.infer<typeof schema>;

/** The server does not know who asks, or does not let them in. */
export class LoginRefused extends UserError {
  override readonly name = 'LoginRefused';

  constructor(what: string) {
    const hint =
      'Set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or write the login into netrc';
    super('preflight', what, hint);
  }
}

/** By name, because an editor's extension may hold this module twice. */
export const isLoginRefused = (error: unknown): boolean =>
  error instanceof Error && error.name === 'LoginRefused';

/** Whether the environment says who the user is. */
export const hasLogin = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env['MLFLOW_TRACKING_TOKEN'] ?? '') !== '' ||
  (env['MLFLOW_TRACKING_USERNAME'] !== undefined && env['MLFLOW_TRACKING_PASSWORD'] !== undefined);

/** One that was kept as JSON; undefined for none, and for what is damaged. */
export function parseLogin(text: string | undefined): MlflowLogin | undefined {
  if (text === undefined) return undefined;
  try {
    const login = check(schema, JSON.parse(text));
    return login.ok ? login.data : undefined;
  } catch {
    return undefined; // the server asks for a login, and so does the user interface
  }
}
