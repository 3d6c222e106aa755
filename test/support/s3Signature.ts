// What an S3 server does with a signature, written from "Authenticating Requests (AWS Signature
// Version 4)" and without our own code.
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The region that a request is signed for, or why the signature does not hold. */
export function verifySignature(
  request: IncomingMessage,
  keyId: string,
  secret: string,
): { region: string } | { wrong: string } {
  const header = request.headers.authorization ?? '';
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (!parts) return { wrong: `no signature: ${header}` };
  const [, id = '', day = '', region = '', names = '', signature = ''] = parts;
  const stamp = String(request.headers['x-amz-date']);
  if (id !== keyId || !stamp.startsWith(day)) return { wrong: 'another key or day' };
  const signed = names.split(';');
  if (!signed.includes('host') || !signed.includes('x-amz-date')) return { wrong: 'host or date not signed' };
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const headers = signed.map((name) => `${name}:${String(request.headers[name]).trim()}\n`).join('');
  const canonical = [
    request.method,
    path,
    query,
    headers,
    names,
    String(request.headers['x-amz-content-sha256']),
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', stamp, scope, hex(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex') === signature ? { region } : { wrong: 'the signature differs' };
}
