// A tunnel in words.
import { UserError } from '../base/errors.js';

/** From a port here to one that a host of the cluster reaches. */
export interface TunnelSpec {
  /** The host whose connection it goes through; the head when left out. */
  host?: string;
  local: number;
  address: string;
  remote: number;
}

const form = /^(?:([^/\s]+)\/)?(\d{1,5}):(?:([^:\s]+):)?(\d{1,5})$/;

/** `6006:6006`, `gpu2/8080:80`, `8080:10.0.0.9:80`. UserError (usage). */
export function parseTunnel(text: string): TunnelSpec {
  const found = form.exec(text.trim());
  const [, host, local = '', address = '127.0.0.1', remote = ''] = found ?? [];
  const spec = { local: Number(local), address, remote: Number(remote) };
  const isPort = (port: number): boolean => port >= 1 && port <= 65535;
  if (!found || !isPort(spec.local) || !isPort(spec.remote)) {
    throw new UserError('usage', `"${text}" names no two ports`, 'Write LOCAL:REMOTE, for example 6006:6006');
  }
  return host === undefined ? spec : { host, ...spec };
}

/** A tunnel as `parseTunnel` reads it. */
export function tunnelText({ host, local, address, remote }: TunnelSpec): string {
  const middle = address === '127.0.0.1' ? '' : `${address}:`;
  return `${host === undefined ? '' : `${host}/`}${local}:${middle}${remote}`;
}
