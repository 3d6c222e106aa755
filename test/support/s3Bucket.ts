// A bucket of objects, as the Amazon S3 API Reference describes GetObject and ListObjectsV2. A
// stand-in: no S3 server is at hand here. It verifies each request's signature.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from './listening.js';
import { verifySignature } from './s3Signature.js';

export interface S3Bucket {
  url: string;
  /** Content by key. */
  objects: Map<string, Buffer>;
  /** Keys that were asked for, and `?` for a page of the list. */
  asked: string[];
  /** For each object's answer in turn, after how many bytes the connection breaks; then never. */
  cuts: number[];
  close: () => Promise<void>;
}

const etagOf = (content: Buffer): string => `"${createHash('md5').update(content).digest('hex')}"`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
/** Keys of one page. */
const pageLength = 2;

function list({ objects }: S3Bucket, asked: URLSearchParams, response: ServerResponse): void {
  const prefix = asked.get('prefix') ?? '';
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const begin = Number(asked.get('continuation-token') ?? 0);
  const page = keys.slice(begin, begin + pageLength);
  const next = begin + pageLength;
  const contents = page.map((key) => {
    const content = objects.get(key) ?? Buffer.alloc(0);
    const etag = escaped(etagOf(content));
    return `<Contents><Key>${escaped(key)}</Key><ETag>${etag}</ETag><Size>${content.length}</Size></Contents>`;
  });
  const more = next < keys.length;
  const token = more ? `<NextContinuationToken>${next}</NextContinuationToken>` : '';
  const body = `<IsTruncated>${more}</IsTruncated>${token}${contents.join('')}`;
  const space = 'http://s3.amazonaws.com/doc/2006-03-01/';
  response.end(`<?xml version="1.0"?><ListBucketResult xmlns="${space}">${body}</ListBucketResult>`);
}

function get(
  { objects, cuts }: S3Bucket,
  key: string,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const content = objects.get(key);
  if (!content) {
    response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    return;
  }
  const etag = etagOf(content);
  const begin = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? NaN);
  const isPart = begin < content.length && headers['if-range'] === etag;
  const body = isPart ? content.subarray(begin) : content;
  response.writeHead(isPart ? 206 : 200, {
    'content-length': body.length,
    etag,
    ...(isPart ? { 'content-range': `bytes ${begin}-${content.length - 1}/${content.length}` } : {}),
  });
  const cut = body.length > 100_000 ? cuts.shift() : undefined;
  if (cut === undefined) response.end(body);
  else response.write(body.subarray(0, cut), () => setTimeout(() => response.socket?.destroy(), 50));
}

/** At 127.0.0.1, with path-style addresses, for one account. */
export async function serveBucket(name: string, account: { id: string; secret: string }): Promise<S3Bucket> {
  const server = createServer((request, response) => {
    const verdict = verifySignature(request, account.id, account.secret);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const [, first, ...rest] = pathname.split('/').map(decodeURIComponent);
    if ('wrong' in verdict) {
      response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    } else if (first !== name) {
      response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    } else if (searchParams.get('list-type') === '2') {
      bucket.asked.push('?');
      list(bucket, searchParams, response);
    } else {
      bucket.asked.push(rest.join('/'));
      get(bucket, rest.join('/'), request, response);
    }
  });
  const { port, close } = await listening(server);
  const bucket: S3Bucket = {
    url: `http://127.0.0.1:${port}`,
    objects: new Map(),
    asked: [],
    cuts: [],
    close,
  };
  return bucket;
}
