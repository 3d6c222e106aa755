// The inner parts of ssh2 that Trainyard uses, since ssh2 has no public way to them: the list, and
// how each part is recognised. The rest of the code reaches them through guardedParts.ts alone.
import type { Client } from 'ssh2';

/**
 * The ssh2 whose inner parts were read. A unit test holds the installed one against it: after an
 * upgrade, read every place of the list below in the new ssh2 before changing this.
 */
export const knownVersion = '1.17.0';

/** One inner part of an ssh2 client. */
export interface InnerPart<T> {
  /** Where the part is, as a path of properties. */
  readonly place: string;
  /** What Trainyard does with the part. */
  readonly purpose: string;
  /** What happens where the part is not as expected, as the end of a sentence of the log. */
  readonly without: string;
  /** The part, or undefined where it is not as expected. Looks only, and changes nothing. */
  readonly find: (client: Client) => T | undefined;
}

/** What ssh2 calls when the server refuses one way to log in. */
type RefusalHandler = (protocol: unknown, methods: readonly string[], partial: boolean) => void;

/** The handlers of the server's messages, by message. */
export interface MessageHandlers {
  USERAUTH_FAILURE: RefusalHandler;
}

/** What puts packets together and keeps the state of the key exchange. */
export interface ExchangingProtocol {
  /** Something while keys are exchanged. Only whether it is there counts. */
  _kexinit: unknown;
  readonly _packetRW: {
    /** Another object after each key exchange. `allocStart`: the bytes before the payload. */
    readonly write: { readonly allocStart: number };
  };
}

/** What encrypts packets by AES-GCM, one for each key. */
export interface PacketCipher {
  /** A packet with room for a payload of `length` bytes. */
  allocPacket: (this: PacketCipher, length: number) => Buffer;
  encrypt: (packet: Buffer) => void;
  _onWrite: (data: Buffer) => void;
}

/** What has the present decipher: another object after each key exchange. */
export interface DecryptingProtocol {
  readonly _decipher: unknown;
}

/** What decrypts packets by AES-GCM, and what it has of the packet that is coming in. */
export interface PacketDecipher {
  /** Bytes of the length that came. */
  _lenBytes: number;
  /** The packet's length in bytes, and how many of these bytes came. */
  _len: number;
  _pktLen: number;
  /** Bytes of the tag that came. */
  _tagPos: number;
}

/** Every inner part that is used, and the only place where their names stand. */
export const innerParts = {
  refusals: {
    place: 'client._protocol._handlers.USERAUTH_FAILURE',
    purpose: 'reads which ways to log in the server still allows, and whether one counted',
    without: 'nobody logs in by it, only by the ssh of this machine',
    find: (client) => {
      const handlers = protocolOf(client)?.['_handlers'];
      return handlesRefusals(handlers) ? handlers : undefined;
    },
  } satisfies InnerPart<MessageHandlers>,
  exchange: {
    place: 'client._protocol._kexinit and _packetRW.write.allocStart',
    purpose: 'lets packets wait until new keys are in use on both sides',
    without: 'a connection may be lost when its server asks for new keys',
    find: (client) => {
      const protocol = protocolOf(client);
      return exchangesKeys(protocol) ? protocol : undefined;
    },
  } satisfies InnerPart<ExchangingProtocol>,
  cipher: {
    place: 'client._protocol._cipher',
    purpose: 'lays out and frees large packets without new memory for each',
    without: 'sending takes more memory',
    find: (client) => {
      const cipher = protocolOf(client)?.['_cipher'];
      return encryptsByGcm(cipher) ? cipher : undefined;
    },
  } satisfies InnerPart<PacketCipher>,
  deciphers: {
    place: 'client._protocol._decipher',
    purpose: 'reads into the same memory again where ssh2 keeps nothing of what was read',
    without: 'receiving takes more memory',
    find: (client) => {
      const protocol = protocolOf(client);
      return decrypts(protocol) ? protocol : undefined;
    },
  } satisfies InnerPart<DecryptingProtocol>,
};

/**
 * The object that decrypts now, where it does so by AES-GCM, else undefined: ssh2 may keep parts of
 * what other ciphers read.
 */
export function gcmDecipher(decipher: unknown): PacketDecipher | undefined {
  return isPart(decipher) && decryptsByGcm(decipher) ? decipher : undefined;
}

/** Whether a connection uses a cipher with a MAC of its own: its packets are left to ssh2. */
export function hasMac(client: Client): boolean {
  const cipher = protocolOf(client)?.['_cipher'];
  return isPart(cipher) && typeof cipher['_macSSLName'] === 'string';
}

type Part = Record<string, unknown>;

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null;

function protocolOf(client: Client): Part | undefined {
  const protocol: unknown = Reflect.get(client, '_protocol');
  return isPart(protocol) ? protocol : undefined;
}

const handlesRefusals = (handlers: unknown): handlers is MessageHandlers =>
  isPart(handlers) && typeof handlers['USERAUTH_FAILURE'] === 'function';

/** Between two exchanges, and without compression, which Trainyard never asks for. */
function exchangesKeys(protocol: unknown): protocol is ExchangingProtocol {
  if (!isPart(protocol) || protocol['_kexinit'] !== undefined) return false;
  const own = Object.getOwnPropertyDescriptor(protocol, '_kexinit');
  const writers = protocol['_packetRW'];
  const writer = isPart(writers) ? writers['write'] : undefined;
  const room = isPart(writer) ? writer['allocStart'] : undefined;
  return own?.configurable === true && typeof room === 'number' && room > 0;
}

/** As ssh2 has it without its native parts, which the package lacks. */
function encryptsByGcm(cipher: unknown): cipher is PacketCipher {
  if (!isPart(cipher) || typeof cipher['_onWrite'] !== 'function') return false;
  const isGcm = typeof cipher['_encSSLName'] === 'string' && /^aes-\d+-gcm$/.test(cipher['_encSSLName']);
  const prototype: unknown = Object.getPrototypeOf(cipher);
  if (!isGcm || !isPart(prototype)) return false;
  return typeof prototype['allocPacket'] === 'function' && typeof prototype['encrypt'] === 'function';
}

const decrypts = (protocol: unknown): protocol is DecryptingProtocol =>
  isPart(protocol) && isPart(protocol['_decipher']);

/** As ssh2 has it without its native parts. */
const decryptsByGcm = (decipher: Part): decipher is Part & PacketDecipher =>
  typeof decipher['_decipherSSLName'] === 'string' &&
  /^aes-\d+-gcm$/.test(decipher['_decipherSSLName']) &&
  ['_lenBytes', '_len', '_pktLen', '_tagPos'].every((name) => typeof decipher[name] === 'number');
