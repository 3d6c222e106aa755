// trainer prep from addresses: what arrives is what lies there, whatever the connection does; who
// may not is told so.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../support/harness.js';
import { expectExit, run, runTrainer, temporaryFolder, trainer } from '../../support/harness.js';
import { verifySignature } from '../../support/s3Signature.js';
import { serve } from '../../support/webServer.js';
import type { WebServer } from '../../support/webServer.js';

const folder = temporaryFolder('download');
const home = join(folder.path, 'home');
const archive = join(folder.path, 'shapes.tgz');
const servers: WebServer[] = [];
let bytes = Buffer.alloc(0);
let expected: Record<string, string> = {};
let made = 0;
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const contents = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dir).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex'),
    ]),
  );
const target = (): string => join(folder.path, `made-${++made}`);
const prep = (
  from: string,
  to: string,
  flags: string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> =>
  runTrainer(['prep', '--from', from, '--to', to, '--shards', '2', ...flags], {
    env: { HOME: home, no_proxy: '127.0.0.1', AWS_EC2_METADATA_DISABLED: 'true', ...env },
  });

async function server(...args: Parameters<typeof serve>): Promise<WebServer> {
  const web = await serve(...args);
  servers.push(web);
  return web;
}

/** The shards are those of the archive, and nothing lies beside them. */
function expectShards(outcome: Outcome, to: string): void {
  expectExit(outcome, 0);
  expect(contents(to)).toEqual(expected);
  expect(existsSync(`${to}.partial`)).toBe(false);
  expect(existsSync(`${to}.download`)).toBe(false);
}

function expectRefusal(outcome: Outcome, to: string, code: number, text: RegExp): void {
  expectExit(outcome, code);
  expect(outcome.stderr).toMatch(text);
  expect(existsSync(to)).toBe(false);
  expect(existsSync(`${to}.partial`)).toBe(false);
}

beforeAll(async () => {
  mkdirSync(home);
  const images = join(folder.path, 'images');
  expectExit(await runTrainer(['prep', '--from', 'demo:3x60', '--to', images, '--validation', '0']), 0);
  execFileSync('tar', ['czf', archive, '-C', images, 'train']);
  bytes = readFileSync(archive);
  const to = target();
  expectExit(await prep(archive, to), 0);
  expected = contents(to);
  expect(Object.keys(expected)).toContain('train-00001-of-00002');
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((web) => web.close()));
});
afterAll(folder.remove);

describe('a download', () => {
  it('goes on where it broke off, twice, and says how far it is', async () => {
    const web = await server(bytes);
    web.behaviour.cuts = [40_000, 30_000];
    const to = target();
    const outcome = await prep(`${web.url}/data/shapes.tgz?key=secret`, to);
    expectShards(outcome, to);
    expect(web.asked[0]?.range).toBeUndefined();
    expect(web.asked.slice(1).map(({ range }) => range)).toEqual(['bytes=40000-', 'bytes=70000-']);
    expect(web.asked[1]?.ifRange).toMatch(/^"[0-9a-f]{32}"$/);
    expect(outcome.stderr).toContain('the connection broke at 0.0 MB');
    expect(outcome.stderr).toMatch(/downloading shapes.tgz: 0.\d of 0.\d MB, 100%/);
    expect(outcome.stderr).not.toContain('secret');
  });

  it('starts anew at a server without ranges, and when the file has changed meanwhile', async () => {
    const web = await server(bytes);
    web.behaviour.ranges = false;
    web.behaviour.cuts = [40_000];
    const plain = target();
    expectShards(await prep(`${web.url}/shapes.tgz`, plain), plain);
    const changing = await server(Buffer.from('an older file, longer than what is cut off. '.repeat(2000)));
    changing.behaviour.cuts = [40_000];
    changing.behaviour.before = () => {
      if (changing.asked.length > 1) changing.behaviour.body = bytes;
      return false;
    };
    const changed = target();
    const outcome = await prep(`${changing.url}/shapes.tgz`, changed);
    expectShards(outcome, changed);
    expect(changing.asked.map(({ range }) => range)).toEqual([undefined, 'bytes=40000-']);
    expect(outcome.stderr).toContain('starting anew');
  });

  it('gives up after --retry-seconds and goes on in the next run', async () => {
    const web = await server(bytes);
    web.behaviour.cuts = [50_000];
    web.behaviour.before = (_, response) => {
      if (web.asked.length === 1) return false;
      response.writeHead(503).end();
      return true;
    };
    const to = target();
    const failed = await prep(`${web.url}/shapes.tgz`, to, ['--retry-seconds', '1']);
    expectRefusal(failed, to, 3, /HTTP 503.*Run the same once more to go on/);
    expect(readFileSync(join(`${to}.download`, 'shapes.tgz.part')).equals(bytes.subarray(0, 50_000))).toBe(
      true,
    );
    expect(statSync(`${to}.download`).mode & 0o777).toBe(0o700);
    web.behaviour.before = () => false;
    expectShards(await prep(`${web.url}/shapes.tgz`, to), to);
    expect(web.asked.at(-1)?.range).toBe('bytes=50000-');
  });

  it('is kept in --download-dir, and asked after the next time', async () => {
    const web = await server(bytes);
    const flags = ['--download-dir', join(folder.path, 'kept')];
    for (const asked of [1, 2]) {
      const to = target();
      expectShards(await prep(`${web.url}/shapes.tgz`, to, flags), to);
      expect(web.asked).toHaveLength(asked);
    }
    expect(web.asked[1]?.ifNoneMatch).toBeDefined();
    expect(readFileSync(join(folder.path, 'kept/shapes.tgz')).equals(bytes)).toBe(true);
  });

  it('is known again where this side was ended before its notes had their name', async () => {
    const web = await server(bytes);
    const kept = join(folder.path, 'kept-notes');
    const flags = ['--download-dir', kept];
    const first = target();
    expectShards(await prep(`${web.url}/shapes.tgz`, first, flags), first);
    renameSync(join(kept, 'shapes.tgz.json'), join(kept, 'shapes.tgz.part.json'));
    const second = target();
    expectShards(await prep(`${web.url}/shapes.tgz`, second, flags), second);
    expect(web.asked[1]?.ifNoneMatch).toBeDefined();
    expect(existsSync(join(kept, 'shapes.tgz.json'))).toBe(true);
  });

  it('has a folder of its own where another one has its name', async () => {
    const [train, validation] = [await server(bytes), await server(bytes)];
    const to = target();
    const flags = ['--validation-from', `${validation.url}/val/shapes.tgz`];
    const outcome = await prep(`${train.url}/train/shapes.tgz`, to, flags);
    expectExit(outcome, 0);
    expect(outcome.stdout).toContain('180 training and 180 validation images');
    expect(existsSync(`${to}.download`)).toBe(false);
  });

  it('is compared with its sum, and removed where it differs', async () => {
    const web = await server(bytes);
    const sum = createHash('sha256').update(bytes).digest('hex');
    web.behaviour.cuts = [40_000];
    const right = target();
    expectShards(await prep(`${web.url}/shapes.tgz#sha256=${sum.toUpperCase()}`, right), right);
    const wrong = target();
    const outcome = await prep(`${web.url}/shapes.tgz`, wrong, ['--sha256', '0'.repeat(64)]);
    expectRefusal(outcome, wrong, 3, new RegExp(`has SHA-256 ${sum} and not 0{64}`));
    expect(readdirSync(`${wrong}.download`)).toEqual([]);
  });

  it('is found behind blanks and other alphabets in its name, and where a 308 leads', async () => {
    const web = await server(bytes);
    const moved = encodeURI('/new place/Bücher.tgz');
    web.behaviour.before = (request, response) => {
      if (request.url !== '/an%20old%20place/B%C3%BCcher.tgz') return false;
      response.writeHead(308, { location: moved }).end();
      return true;
    };
    const to = target();
    expectShards(await prep(`${web.url}/an old place/Bücher.tgz`, to), to);
    expect(web.asked.map(({ path }) => path)).toEqual(['/an%20old%20place/B%C3%BCcher.tgz', moved]);
  });

  it('says what is missing: the file, room on the disk', async () => {
    const web = await server(bytes);
    web.behaviour.before = (request, response) => {
      const status = Number(/\d+/.exec(request.url ?? '')?.[0]);
      response.writeHead(status === 200 ? 200 : status, status === 200 ? { 'content-length': 1e15 } : {});
      if (status === 200) response.write('x');
      else response.end();
      return true;
    };
    for (const [path, text] of [
      ['/404.tgz', /there is no file at .*404.tgz \(HTTP 404\)/],
      ['/403.tgz', /may not be read \(HTTP 403\)/],
      ['/200.tgz', /the disk is full: .* needs 1000000000\.0 MB more in .*MB are free.*--download-dir/],
    ] as const) {
      const to = target();
      expectRefusal(await prep(web.url + path, to), to, 3, text);
    }
    expect(web.asked).toHaveLength(3);
  });

  it('keeps what it has when the disk fills meanwhile', async () => {
    const web = await server(bytes);
    const to = target();
    const limited = `ulimit -f 64; exec "$0" "$@"`;
    const words = [
      '-c',
      limited,
      trainer,
      'prep',
      '--from',
      `${web.url}/shapes.tgz`,
      '--to',
      to,
      '--shards',
      '2',
    ];
    const env = { HOME: home, no_proxy: '127.0.0.1' };
    expectRefusal(
      await run('bash', words, { env }),
      to,
      3,
      /the disk is full: .*0\.\d MB more.*are kept there/,
    );
    expectShards(await prep(`${web.url}/shapes.tgz`, to), to);
    expect(web.asked.at(-1)?.range).toBe('bytes=65536-');
  });
});

describe('user and password', () => {
  const basic = `Basic ${Buffer.from('ann:se cret').toString('base64')}`;
  async function guarded(): Promise<WebServer> {
    const web = await server(bytes);
    web.behaviour.before = (request, response) => {
      if (request.headers.authorization === basic) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      return true;
    };
    return web;
  }

  it('come from the environment, and go to no other server', async () => {
    const web = await guarded();
    const other = await server(bytes);
    const from = `${web.url}/shapes.tgz`;
    const none = target();
    expectRefusal(await prep(from, none), none, 3, /wants a user and a password.*TRAINYARD_HTTP_USER/);
    const env = { TRAINYARD_HTTP_USER: 'ann', TRAINYARD_HTTP_PASSWORD: 'se cret' };
    const good = target();
    expectShards(await prep(from, good, [], env), good);
    const wrong = target();
    const refused = await prep(from, wrong, [], { ...env, TRAINYARD_HTTP_PASSWORD: 'x' });
    expectRefusal(refused, wrong, 3, /refuses this user and password/);
    web.behaviour.before = (_, response) => {
      response.writeHead(302, { location: `${other.url}/elsewhere.tgz` }).end();
      return true;
    };
    const led = target();
    expectShards(await prep(from, led, [], env), led);
    expect(web.asked.at(-1)?.authorization).toBe(basic);
    expect(other.asked).toEqual([{ path: '/elsewhere.tgz' }]);
  });

  it('come from a netrc file that nobody else can read, never from the address', async () => {
    const web = await guarded();
    const netrc = join(home, '.netrc');
    writeFileSync(netrc, 'machine 127.0.0.1 login ann password "se cret"\n');
    chmodSync(netrc, 0o644);
    const open = target();
    const from = `${web.url}/shapes.tgz`;
    expectRefusal(await prep(from, open), open, 3, /others may read .*\.netrc.*Run chmod 600/);
    chmodSync(netrc, 0o600);
    const good = target();
    expectShards(await prep(from, good), good);
    writeFileSync(netrc, '');
    const shown = target();
    const refused = await prep(from.replace('//', '//ann:secret@'), shown);
    expectRefusal(refused, shown, 2, /others can see a password in the address/);
    expect(refused.stderr).not.toContain('secret');
  });
});

describe('https', () => {
  it.skipIf(!hasOpenssl)('takes a certificate that SSL_CERT_FILE names, and no other', async () => {
    const [key, certificate] = [join(folder.path, 'key.pem'), join(folder.path, 'cert.pem')];
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const subject = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
    execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    const web = await server(bytes, { key: readFileSync(key), cert: readFileSync(certificate) });
    const strange = target();
    const refused = await prep(`${web.url}/shapes.tgz`, strange);
    expectRefusal(refused, strange, 3, /certificate of .* cannot be verified.*SSL_CERT_FILE/);
    const known = target();
    expectShards(await prep(`${web.url}/shapes.tgz`, known, [], { SSL_CERT_FILE: certificate }), known);
  });
});

describe('s3', () => {
  const account = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalr/XUtn+FEMI' };
  async function bucket(region: string): Promise<WebServer> {
    const web = await server(bytes);
    web.behaviour.before = (request, response) => {
      const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = account;
      const verdict = verifySignature(request, id, secret);
      if ('region' in verdict && verdict.region === region) {
        if (request.url === '/my.bucket/a%20folder/shapes%2B1.tgz') return false;
        response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      } else if ('region' in verdict) {
        const body = '<Error><Code>AuthorizationHeaderMalformed</Code></Error>';
        response.writeHead(400, { 'x-amz-bucket-region': region }).end(body);
      } else {
        response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      }
      return true;
    };
    return web;
  }
  const object = 's3://my.bucket/a folder/shapes+1.tgz';

  it('is read with signed requests, resumed, in the region that the bucket is in', async () => {
    const web = await bucket('eu-central-1');
    web.behaviour.cuts = [40_000];
    const to = target();
    expectShards(await prep(object, to, ['--s3-endpoint', web.url], account), to);
    expect(web.asked.map(({ range }) => range)).toEqual([undefined, undefined, 'bytes=40000-']);
  });

  it('takes the account from ~/.aws and the server from AWS_ENDPOINT_URL', async () => {
    const web = await bucket('us-west-2');
    mkdirSync(join(home, '.aws'), { recursive: true });
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = account;
    const keys = `[lab]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`;
    writeFileSync(join(home, '.aws/credentials'), keys);
    writeFileSync(join(home, '.aws/config'), '[profile lab]\nregion = us-west-2\n');
    const to = target();
    const env = { AWS_ENDPOINT_URL: web.url, AWS_PROFILE: 'lab' };
    expectShards(await prep(object, to, [], env), to);
    expect(web.asked).toHaveLength(1);
  });

  it('says what is wrong: the key, its secret, the name', async () => {
    const web = await bucket('us-east-1');
    const endpoint = ['--s3-endpoint', web.url];
    for (const [from, env, text] of [
      [object, {}, /may not be read without an account.*AWS_ACCESS_KEY_ID/],
      [object, { ...account, AWS_SECRET_ACCESS_KEY: 'x' }, /with key AKIDEXAMPLE \(SignatureDoesNotMatch\)/],
      ['s3://my.bucket/none.tgz', account, /there is no s3:\/\/my.bucket\/none.tgz \(NoSuchKey\)/],
    ] as const) {
      const to = target();
      expectRefusal(await prep(from, to, endpoint, env), to, 3, text);
    }
    const to = target();
    expectRefusal(await prep('s3://bucket', to, endpoint, account), to, 2, /names no object/);
  });

  // "Examples: Signature Calculations", in "Signature Calculations for the Authorization Header:
  // Transferring Payload in a Single Chunk (AWS Signature Version 4)", Amazon S3 API Reference.
  it('signs as the examples of its documentation are signed', () => {
    const program = `
import datetime, types
from places import sign_v4
account = types.SimpleNamespace(key="AKIAIOSFODNN7EXAMPLE", secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", token=None, region="us-east-1")
now = datetime.datetime(2013, 5, 24)
host = "https://examplebucket.s3.amazonaws.com"
for path, headers in (("/test.txt", {"Range": "bytes=0-9"}), ("/?lifecycle", {}), ("/?max-keys=2&prefix=J", {})):
    print(sign_v4(account, host + path, headers, now)["authorization"].rsplit("=", 1)[1])`;
    const cwd = resolve(import.meta.dirname, '../../../native/trainer/data/fetch');
    const printed = execFileSync('python3', ['-B', '-c', program], { cwd, encoding: 'utf8' });
    expect(printed.trim().split('\n')).toEqual([
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ]);
  });
});
