// What goes wrong on the way to a host, in words that say what to do.
import { errorText, oneLine, systemCode, UserError } from '../../base/errors.js';
import type { Advice } from '../../base/remedy.js';

/**
 * The server let the connection go before anything was decided: it may be made again without harm.
 */
export class Dropped extends Error {
  override readonly name = 'Dropped';
}

/**
 * No connection came about: nothing was asked of the host, so it may be tried again soon and often.
 */
export class Unreached extends UserError {
  constructor(what: string, hint: Advice, cause?: unknown) {
    super('connection', what, hint, cause === undefined ? undefined : { cause });
  }
}

/** The host is there, and refuses the login, or its key is not the one that it should have. */
export class Refused extends UserError {
  constructor(what: string, hint: Advice, cause?: unknown) {
    super('connection', what, hint, cause === undefined ? undefined : { cause });
  }
}

/** The node's sshd does not forward, and says so; or nothing else connects from there either. */
export class ForwardingForbidden extends UserError {
  constructor(what: string, cause?: unknown) {
    super(
      'connection',
      what,
      'Ask the administrator of that host for AllowTcpForwarding and AllowStreamLocalForwarding, or for more sessions (MaxSessions)',
      cause === undefined ? undefined : { cause },
    );
  }
}

/**
 * Only the user's own ssh can make this connection; nothing was sent to the host that must not be.
 */
export class NeedsOpenSsh extends UserError {
  constructor(
    readonly host: string,
    readonly reason: string,
    cause?: Error,
  ) {
    super(
      'connection',
      `${host} needs your own ssh: ${reason}`,
      process.platform === 'win32'
        ? 'The ssh of Windows cannot share a connection: use proxyJump and a plain key, or work in WSL'
        : { kind: 'useOwnSsh', host },
      cause === undefined ? undefined : { cause },
    );
  }
}

/** A host on its way: as the profile names it, and where that is. */
export interface Place {
  where: string;
  hostName: string;
  port: number;
}

/** A place in an error message: `gpu1 (10.0.0.5 port 22)`. */
export function placeText({ where, hostName, port }: Place): string {
  return where === hostName ? `${where} (port ${port})` : `${where} (${hostName} port ${port})`;
}

const socketErrors: Record<string, [what: string, hint: string]> = {
  ECONNREFUSED: ['refused the connection', 'Check that its SSH server is running, and the port'],
  ETIMEDOUT: ['did not answer', 'Check the address, the network and the firewall'],
  EHOSTUNREACH: ['cannot be reached from here', 'Check the address and the network'],
  ENETUNREACH: ['cannot be reached from here', 'Check the network'],
  EHOSTDOWN: ['is down, or not in this network', 'Check the host and the network'],
};

const checkAddress = ({ where }: Place, advice: string): Advice => ({
  kind: 'checkAddress',
  host: where,
  advice,
});

/** The TCP connection could not be made. */
export function socketFailure(place: Place, error: unknown): Error {
  const code = systemCode(error) ?? '';
  if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME', 'EAI_NODATA', 'EAI_FAIL'].includes(code)) {
    const retry = code === 'EAI_AGAIN' ? ' just now' : '';
    const alias = place.where === place.hostName ? '' : ` (of ${place.where})`;
    return failure(
      `the host name ${place.hostName}${alias} is not known here${retry}`,
      { kind: 'checkHostName', host: place.where },
      error,
    );
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') return new Dropped(errorText(error));
  const known = socketErrors[code];
  if (known) return new Unreached(`${placeText(place)} ${known[0]}`, checkAddress(place, known[1]), error);
  return failure(`${placeText(place)} cannot be reached: ${errorText(error)}`, 'Check the network', error);
}

/** TCP gave no answer in time: an `Unreached`. */
export function gaveNoAnswer(place: Place): UserError {
  return new Unreached(
    `${placeText(place)} did not answer in time (connecting)`,
    checkAddress(place, 'Check the address, the network and the firewall'),
  );
}

/** The server took too long for a step. `during` names the step. */
export function timedOut(place: Place, during: string): UserError {
  return failure(
    `${placeText(place)} did not answer in time (${during})`,
    'Check the address, the network and the firewall',
  );
}

const lostBefore = /Connection lost before handshake|ECONNRESET|EPIPE|socket hang up/i;
/**
 * What sshd says in place of its version when it has no room, or wants to be left alone for a
 * while.
 */
const busy = /Exceeded MaxStartups|Not allowed at this time/i;
const noCommon = /no matching (.+?)(?: algorithm)?s?$/i;

/** The connection ended before the login began. `greeting` is what the other side said first. */
export function handshakeFailure(place: Place, greeting: string, error?: Error): Error {
  if (greeting !== '' && !/^SSH-/m.test(greeting) && !busy.test(greeting)) {
    const said = oneLine(greeting.replace(/[^\x20-\x7e\r\n]/g, '?')).slice(0, 60);
    return noSsh(place, `it says ${JSON.stringify(said)}`, error);
  }
  if (error === undefined) return new Dropped('the server closed it');
  if (lostBefore.test(`${error.message} ${systemCode(error) ?? ''}`)) return new Dropped(error.message);
  const [, what] = noCommon.exec(error.message) ?? [];
  if (what !== undefined) {
    return new NeedsOpenSsh(place.where, `it and Trainyard have no ${what} in common`, error);
  }
  return noSsh(place, error.message, error);
}

function noSsh(place: Place, what: string, error: Error | undefined): UserError {
  return failure(
    `${placeText(place)} does not speak SSH as expected: ${what}`,
    'Check the port, and what listens there',
    error,
  );
}

/** Characters. */
const mostWords = 300;

/**
 * What a server said before it ended a login, for the end of a sentence: its last three lines.
 * Empty where it said nothing.
 */
export function lastWords(lines: readonly string[]): string {
  const said = lines.map((line) => line.trim()).filter((line) => line !== '');
  return said.length === 0 ? '' : `. It said: ${said.slice(-3).join(' | ').slice(-mostWords)}`;
}

/**
 * The server ended a login without a verdict: it allows fewer tries than there were keys, or less
 * time.
 */
export function loginEnded(where: string, user: string, error?: Error, said = ''): UserError {
  return failure(
    `${where} broke off the login of ${user}: ${error?.message ?? 'it closed the connection'}${said}`,
    { kind: 'nameKeyFile', host: where },
    error,
  );
}

/** A connection that was made has gone. `error` undefined: the other side closed it. */
export function connectionLost(where: string, error: Error | undefined): UserError {
  const why = error === undefined ? 'the other side closed it' : error.message;
  const hint = { kind: 'connectAgain', host: where } as const;
  return failure(`the connection to ${where} was lost: ${why}`, hint, error);
}

/** A UserError (connection): what happened, what to do, and the error behind it. */
export function failure(what: string, hint: Advice, cause?: unknown): UserError {
  return new UserError('connection', what, hint, cause === undefined ? undefined : { cause });
}
