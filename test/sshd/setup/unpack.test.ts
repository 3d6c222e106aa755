// What the set-up program on a node makes of tar archives: those that Python's own tarfile writes,
// in each format, and broken ones.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { TarDigest } from '../../../src/core/streams/tarDigest.js';
import { until } from '../../support/harness.js';
import { program, pythonWords } from '../support/setUpProgram.js';

const folder = mkdtempSync(join(tmpdir(), 'trainyard-unpack-'));
let to: string;
let count = 0;
beforeEach(() => {
  to = join(folder, String(count++), 'to');
  mkdirSync(to, { recursive: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface File {
  name: string;
  text: string;
  mode?: number;
  kind?: 'link' | 'fifo';
}

/** An archive by Python's tarfile. */
function archive(files: readonly File[], format: 'USTAR' | 'GNU' | 'PAX'): Buffer {
  const script = `
import io, json, sys, tarfile
out = io.BytesIO()
with tarfile.open(fileobj=out, mode="w", format=tarfile.${format}_FORMAT) as tar:
    for file in json.load(sys.stdin):
        info = tarfile.TarInfo(file["name"])
        data = file["text"].encode()
        info.size = len(data)
        info.mode = file.get("mode", 0o644)
        if file.get("kind") == "link":
            info.type, info.linkname, info.size = tarfile.SYMTYPE, "/etc/passwd", 0
        if file.get("kind") == "fifo":
            info.type, info.size = tarfile.FIFOTYPE, 0
        tar.addfile(info, io.BytesIO(data))
sys.stdout.buffer.write(out.getvalue())
`;
  const made = spawnSync('python3', ['-c', script], { input: JSON.stringify(files) });
  if (made.status !== 0) throw new Error(made.stderr.toString());
  return made.stdout;
}

/** As this machine sums it up, in pieces that end anywhere. */
function digestOf(bytes: Buffer): string {
  const digest = new TarDigest();
  for (let at = 0, length = 1; at < bytes.length; at += length, length = ((length * 7) % 1031) + 1)
    digest.update(bytes.subarray(at, at + length));
  return digest.digest();
}

/** What the node answers to this archive. */
function unpack(input: Buffer, digest?: string): { files?: number; refused?: string } {
  const request = Buffer.from(`${JSON.stringify({ op: 'unpack', params: { to, digest } })}\n`);
  const { stdout, stderr } = spawnSync('python3', pythonWords(program), {
    input: Buffer.concat([request, input]),
  });
  const [line = ''] = stdout.toString().split('\n');
  if (line === '') throw new Error(stderr.toString());
  const { result, error } = JSON.parse(line) as { result?: { files: number }; error?: { what: string } };
  return result ?? { refused: error?.what ?? '' };
}

const everything = (): string[] => readdirSync(folder, { recursive: true }).map(String);

describe.each(['USTAR', 'GNU', 'PAX'] as const)('an archive in the format %s', (format) => {
  it('comes out as it went in, whatever the names', () => {
    const long = `${'folder-of-a-long-name/'.repeat(4)}${'x'.repeat(90)}`;
    const longer = format === 'USTAR' ? [] : [`${'d'.repeat(120)}/${'é'.repeat(110)}`];
    const names = ['a', 'b c', 'ü/日本', '-rf \'"$(id)', 'line\nbreak', long, ...longer];
    const files = names.map((name, index) => ({
      name,
      text: `${name}${'.'.repeat(index * 1000)}`,
      mode: 0o640,
    }));
    const bytes = archive(files, format);
    expect(unpack(bytes, digestOf(bytes))).toMatchObject({ files: files.length });
    for (const { name, text } of files) expect(readFileSync(join(to, name), 'utf8')).toBe(text);
  });

  it('is refused as a whole where it leads out, or holds what is no plain file', () => {
    for (const bad of [
      { name: '../out', text: 'out' },
      { name: `${folder}/out`, text: 'out' },
      { name: 'a/../../out', text: 'out' },
      { name: 'link', text: '', kind: 'link' as const },
      { name: 'fifo', text: '', kind: 'fifo' as const },
    ]) {
      expect(unpack(archive([bad], format)).refused).toContain('which is no plain file of it');
    }
    expect(everything().filter((path) => /out|link|fifo/.test(path))).toEqual([]);
  });
});

it('a cut or damaged archive is refused, and no part of a file stays', () => {
  const whole = archive(
    [
      { name: 'first', text: 'f'.repeat(700) },
      { name: 'second', text: 's'.repeat(3000) },
    ],
    'GNU',
  );
  for (const length of [0, 100, 511, 513, 1000, 1535, 1537, 2100, 4000]) {
    expect(unpack(whole.subarray(0, length)).refused).toContain('ended in the middle');
    expect(readdirSync(to).filter((name) => name !== 'first')).toEqual([]);
  }
  const damaged = Buffer.from(whole);
  damaged[1536 + 124] = '9'.charCodeAt(0); // a digit of the second size
  expect(unpack(damaged).refused ?? '').not.toBe('');
  expect(existsSync(join(to, 'second'))).toBe(false);
});

it('no link below the target is followed, wherever it leads, and a link of a file’s name is replaced', () => {
  const outside = join(to, '..', 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(to, 'sub'));
  const refused = unpack(archive([{ name: 'sub/file', text: 'x' }], 'PAX')).refused;
  expect(refused).toBe(`${join(to, 'sub')} is a link or no folder`);
  writeFileSync(join(outside, 'file'), 'as it was');
  symlinkSync(join(outside, 'file'), join(to, 'file'));
  expect(unpack(archive([{ name: 'file', text: 'new' }], 'PAX'))).toMatchObject({ files: 1 });
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('as it was');
  expect(readFileSync(join(to, 'file'), 'utf8')).toBe('new');
  expect(readdirSync(outside)).toEqual(['file']);
});

it('a file in the making has a name that nobody can foretell, and an error names the file itself', async () => {
  const whole = archive([{ name: 'deep/big', text: 'f'.repeat(700_000) }], 'PAX');
  const node = spawn('python3', pythonWords(program), { stdio: ['pipe', 'ignore', 'inherit'] });
  node.stdin.write(`${JSON.stringify({ op: 'unpack', params: { to } })}\n`);
  node.stdin.write(whole.subarray(0, 300_000));
  await until('the file', () => existsSync(join(to, 'deep')) && readdirSync(join(to, 'deep')).length > 0, 30);
  expect(readdirSync(join(to, 'deep')).join()).toMatch(/^\.trainyard\.partial-[0-9a-f]{16}$/);
  node.stdin.end();
  await once(node, 'exit');
  expect(readdirSync(join(to, 'deep'))).toEqual([]);
  mkdirSync(join(to, 'deep', 'big', 'in the way'), { recursive: true });
  expect(unpack(whole).refused).toBe(`${join(to, 'deep', 'big')}: Is a directory`);
});

/** The header's own sum, without which nothing else in it is looked at. */
function writeSum(header: Buffer): void {
  header.fill(' ', 148, 156);
  const sum = header.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
}

it('any bytes at all are read to an end, and nothing appears outside', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 512, maxLength: 2048 }), fc.boolean(), (bytes, sums) => {
      const header = Buffer.from(bytes);
      if (sums) writeSum(header);
      expect(unpack(header).refused).toMatch(/damaged|in the middle|no plain file|:/);
    }),
    { numRuns: 25 },
  );
  expect(everything().some((path) => path.includes('partial'))).toBe(false);
});
