// MLflow's REST API, as far as an export needs it.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { Cancelled, errorText, systemCode, UserError } from '../../base/errors.js';
import { check, problemsText } from '../../base/validation.js';
import { authorization } from './credentials.js';
import { LoginRefused } from './login.js';

/** Milliseconds without an answer after which a request is given up. */
const patience = 30_000;
/** Of one file, which may be large: an hour. */
const filePatience = 3_600_000;
/** Characters of a server's text that are repeated. */
const mostQuoted = 300;

/** An answer that says no, with MLflow's own code of the error. */
export class MlflowRefusal extends UserError {
  constructor(
    readonly reason: string,
    what: string,
    hint: string,
  ) {
    super('failed', what, hint);
  }
}

const refusalSchema = z.object({ error_code: z.string(), message: z.optional(z.string()) });

/**
 * The address of a server as somebody wrote it. UserError (usage) for one that is none, or that
 * has a password in it.
 */
export function trackingUri(text: string): URL {
  const hint = 'Write, say, http://127.0.0.1:5000';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UserError('usage', 'the address of MLflow must begin with http:// or https://', hint);
  }
  const uri = new URL(text);
  if (uri.username !== '' || uri.password !== '') {
    throw new UserError(
      'usage',
      `the address of MLflow at ${uri.host} has a login in it, which other users of this machine could read`,
      'Leave the login out, and set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD',
    );
  }
  uri.search = uri.hash = '';
  uri.pathname = uri.pathname.replace(/\/+$/, '');
  return uri;
}

/** Of one request. */
export interface AskOptions {
  signal?: AbortSignal | undefined;
}

/** One server. Every call rejects with UserError, MlflowRefusal or Cancelled. */
export class MlflowApi {
  constructor(
    private readonly uri: URL,
    private readonly env: Readonly<Record<string, string | undefined>>,
  ) {}

  /** Without a slash at its end. */
  get address(): string {
    return this.uri.href.replace(/\/+$/, '');
  }

  get<S extends z.ZodMiniType>(
    method: string,
    query: Record<string, string>,
    schema: S,
    options: AskOptions = {},
  ): Promise<z.output<S>> {
    const path = `api/2.0/mlflow/${method}?${new URLSearchParams(query).toString()}`;
    return this.ask(path, { method: 'GET' }, schema, options);
  }

  post<S extends z.ZodMiniType>(
    method: string,
    body: object,
    schema: S,
    options: AskOptions = {},
  ): Promise<z.output<S>> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return this.ask(`api/2.0/mlflow/${method}`, init, schema, options);
  }

  /** Puts a file of this machine at `path` below the server's artifacts. */
  async putFile(path: string, file: string, { signal }: AskOptions = {}): Promise<void> {
    const { size } = await stat(file);
    const to = path.split('/').map(encodeURIComponent).join('/');
    const body = Readable.toWeb(createReadStream(file)) as ReadableStream;
    const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) };
    const init = { method: 'PUT', headers, body, duplex: 'half' as const };
    const address = `api/2.0/mlflow-artifacts/artifacts/${to}`;
    await this.answer(address, init, filePatience, signal);
  }

  private async ask<S extends z.ZodMiniType>(
    path: string,
    init: RequestInit,
    schema: S,
    { signal }: AskOptions,
  ): Promise<z.output<S>> {
    const text = await this.answer(path, init, patience, signal);
    const result = check(schema, parsed(text));
    if (result.ok) return result.data;
    throw new UserError(
      'failed',
      `${this.address} does not answer as MLflow does: ${problemsText(result.problems).slice(0, mostQuoted)}`,
      'Check the address',
    );
  }

  private async answer(
    path: string,
    init: RequestInit & { duplex?: 'half' },
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const who = await authorization(this.uri, this.env);
    const headers = new Headers(init.headers);
    if (who !== undefined) headers.set('authorization', who);
    const timer = AbortSignal.timeout(limit);
    const either = signal ? AbortSignal.any([signal, timer]) : timer;
    let status: number;
    let text: string;
    try {
      // A login is not carried to another address.
      const answer = await fetch(`${this.address}/${path}`, {
        ...init,
        headers,
        redirect: 'manual',
        signal: either,
      });
      status = answer.status;
      text = await answer.text();
      if (status >= 300 && status < 400) throw this.redirected(answer.headers.get('location'));
    } catch (error) {
      if (signal?.aborted === true) throw new Cancelled();
      if (error instanceof UserError) throw error;
      const why = timer.aborted ? `no answer in ${limit / 1000} s` : reasonOf(error);
      const hint = 'Check that the server runs, and that this machine reaches the address';
      throw new UserError('connection', `MLflow at ${this.address} was not reached: ${why}`, hint, {
        cause: error,
      });
    }
    if (status >= 200 && status < 300) return text;
    throw this.refused(status, text, who !== undefined);
  }

  private redirected(to: string | null): UserError {
    const place =
      to !== null && URL.canParse(to, this.address) ? new URL(to, this.address).origin : 'another address';
    return new UserError('usage', `${this.address} sends its callers on to ${place}`, 'Use that address');
  }

  private refused(status: number, text: string, saidWho: boolean): UserError {
    if (status === 401 || status === 403) {
      const what = saidWho ? 'did not take the login' : 'asks for a login';
      return new LoginRefused(`MLflow at ${this.address} ${what} (HTTP ${status})`);
    }
    const refusal = check(refusalSchema, parsed(text));
    if ([429, 502, 503, 504].includes(status)) {
      const what = `MLflow at ${this.address} is not ready (HTTP ${status})`;
      return new UserError('connection', what, 'Try again later');
    }
    if (!refusal.ok) {
      const what = `${this.address} does not answer as MLflow does (HTTP ${status})`;
      return new UserError('failed', what, 'Check the address');
    }
    const { error_code: reason, message = '' } = refusal.data;
    const what = `MLflow at ${this.address} refused it: ${message.slice(0, mostQuoted) || reason} (HTTP ${status})`;
    const hint = status >= 500 ? "Look into the server's log" : 'Check the address and the experiment';
    return new MlflowRefusal(reason, what, hint);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the check of the schema says that it is no answer of MLflow
  }
}

/** fetch says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return systemCode(cause) ?? errorText(cause ?? error);
}
