// Whose fault it is that a trial of a sweep does not start.
import { AgentError } from '../agent/agentClient.js';
import { UserError } from '../base/errors.js';

/** A host that cannot start a trial, which another one may. */
export class HostFailed extends Error {
  constructor(
    readonly host: string,
    why: string,
  ) {
    super(why);
  }
}

/** Whether it may be about the host that was to start the trial. */
export const isOfHost = (error: unknown): boolean =>
  error instanceof UserError
    ? error.code === 'preflight' || error.code === 'connection'
    : error instanceof AgentError;

/** Whether it is about one trial, so that the others may be tried. */
export const isOfTrial = (error: unknown): boolean =>
  error instanceof UserError ? error.code !== 'connection' : error instanceof AgentError && error.code > 0;
