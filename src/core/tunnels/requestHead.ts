// The head of an HTTP/1.1 request as it comes over a connection: read, judged, and made the last of
// its connection.

/** Bytes. Longer heads are refused; browsers send a few kilobytes. */
const longestHead = 64 * 1024;

/** A request up to the empty line, and what was read beyond that. */
export interface RequestHead {
  /** `GET / HTTP/1.1`. */
  line: string;
  /** Names in lower case, in the order in which they came. */
  fields: readonly (readonly [name: string, value: string])[];
  /** What came after the head: the beginning of its body. */
  rest: Buffer;
}

/**
 * Undefined while the head is not whole. Throws RangeError over the limit, SyntaxError for what is
 * no head.
 */
export function parseHead(bytes: Buffer): RequestHead | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) {
    if (bytes.length > longestHead) throw new RangeError('the head of a request is too long');
    return undefined;
  }
  const [line = '', ...rows] = bytes.toString('latin1', 0, end).split('\r\n');
  if (!/^[A-Z]+ \S+ HTTP\/1\.[01]$/.test(line)) throw new SyntaxError('not a request of HTTP/1.1');
  const fields = rows.map((row): [string, string] => {
    const found = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(row);
    if (!found) throw new SyntaxError('a field of a request that cannot be read');
    return [(found[1] ?? '').toLowerCase(), found[2] ?? ''];
  });
  return { line, fields, rest: bytes.subarray(end + 4) };
}

/** The only value of a field; undefined when it is missing. SyntaxError when it is there twice. */
export function fieldOf(head: RequestHead, name: string): string | undefined {
  const found = head.fields.filter(([field]) => field === name);
  if (found.length > 1) throw new SyntaxError(`${name} stands twice in a request`);
  return found[0]?.[1];
}

/** What a request asks for: a path with what follows a `?`. */
export function targetOf({ line }: RequestHead): string {
  return line.split(' ')[1] ?? '';
}

/** The same request for another target. */
export function withTarget(head: RequestHead, target: string): RequestHead {
  const [method = '', , version = ''] = head.line.split(' ');
  return { ...head, line: `${method} ${target} ${version}` };
}

/**
 * The head's bytes, saying that this request is the last of its connection: so each request is
 * judged.
 */
export function closingHead({ line, fields }: RequestHead): Buffer {
  const kept = fields.filter(([name]) => !['connection', 'keep-alive', 'upgrade'].includes(name));
  const rows = kept.map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([line, ...rows, 'connection: close', '', ''].join('\r\n'), 'latin1');
}
