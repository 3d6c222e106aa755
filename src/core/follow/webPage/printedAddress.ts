// Addresses of web pages in what a program prints: `http://127.0.0.1:8888/lab?token=…`.

/** A page on the machine of the program, at its loopback address. */
export interface PrintedAddress {
  scheme: 'http' | 'https';
  port: number;
  /** Path, query and fragment, in printable ASCII; empty where there are none. */
  rest: string;
}

/**
 * Of the machine's own names only: another one's page is not served by the program. What follows
 * has the characters of RFC 3986.
 */
const address =
  /(https?):\/\/(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::\])(?::(\d{1,5}))?(?![\w-]|\.\w|:\S)((?:[/?#][\w\-.~:/?#[\]@!$&()*+,;=%]{0,2000})?)/g;
/** Colours, and what else a terminal takes for itself. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const escapes = /\x1b\[[0-9;?]*[A-Za-z]/g;
/**
 * Requests in a log have addresses too: by which somebody came, which may be a tunnel's, or to which
 * the program itself turned.
 */
const request = /\breferr?er\b|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) https?:/i;
/** Characters. Longer lines announce no page. */
const longest = 10_000;
const usualPorts = { http: 80, https: 443 } as const;

/** Those of a line, in their order. A full stop or bracket at the end is the sentence's. */
export function addressesIn(line: string): PrintedAddress[] {
  if (line.length > longest || !line.includes('://') || request.test(line)) return [];
  return [...line.replace(escapes, '').matchAll(address)].flatMap(([, found = '', digits, rest = '']) => {
    const scheme = found === 'https' ? 'https' : 'http';
    const port = digits === undefined ? usualPorts[scheme] : Number(digits);
    return port < 1 || port > 65535 ? [] : [{ scheme, port, rest: withoutEnd(rest) }];
  });
}

function withoutEnd(rest: string): string {
  let end = rest.length;
  while (end > 0 && '.,;:!)]*'.includes(rest.charAt(end - 1))) end -= 1;
  return rest.slice(0, end);
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
