// Addresses of web pages in what a program prints: `http://127.0.0.1:8888/lab?token=…`.

/** A page on the machine of the program. */
export interface PrintedAddress {
  scheme: 'http' | 'https';
  port: number;
  /** Path, query and fragment; empty where there are none. */
  rest: string;
}

/** Of a machine's own names only: another one's page is not served by the program. */
const address =
  /(https?):\/\/(?:127(?:\.\d{1,3}){3}|localhost|0\.0\.0\.0|\[::1?\])(?::(\d{1,5}))?(?![\w-]|\.\w)((?:[/?#][^\s"'<>\\]*)?)/g;
/** Colours, and what else a terminal takes for itself. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const escapes = /\x1b\[[0-9;?]*[A-Za-z]/g;
/** A request's line in a log has the address by which somebody came, which may be a tunnel's. */
const request = /\breferr?er\b/i;
const usualPorts = { http: 80, https: 443 } as const;

/** Those of a line, in their order. A full stop or bracket at the end is the sentence's. */
export function addressesIn(line: string): PrintedAddress[] {
  if (!line.includes('://') || request.test(line)) return [];
  return [...line.replace(escapes, '').matchAll(address)].flatMap(([, found = '', digits, rest = '']) => {
    const scheme = found === 'https' ? 'https' : 'http';
    const port = digits === undefined ? usualPorts[scheme] : Number(digits);
    return port < 1 || port > 65535 ? [] : [{ scheme, port, rest: rest.replace(/[.,;:!)\]]+$/, '') }];
  });
}

/**
 * Which address of a program to open: the last one with a token, else the last one. A program that
 * was restarted has printed its address anew.
 */
export class AddressChoice {
  private last: PrintedAddress | undefined;
  private withToken: PrintedAddress | undefined;

  /** `port`: other ports do not count. */
  constructor(private readonly port?: number) {}

  get address(): PrintedAddress | undefined {
    return this.withToken ?? this.last;
  }

  take(line: string): void {
    for (const found of addressesIn(line)) {
      if (this.port !== undefined && found.port !== this.port) continue;
      this.last = found;
      if (/[?&#](?:access_)?token=/.test(found.rest)) this.withToken = found;
    }
  }
}
