// known_hosts as ssh reads it: ssh-keygen -F is the judge.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { fingerprint, keyType } from '../../../../src/core/ssh/hostKeys/keys.js';
import { judge, knownName, linesFor, parseKnownHosts } from '../../../../src/core/ssh/hostKeys/knownHosts.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-known-'));
afterAll(() => {
  rmSync(dir, { recursive: true });
});

const makeKey = (name: string, type: string): string => {
  const path = join(dir, name);
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    type,
    '-N',
    '',
    '-f',
    path,
    ...(type === 'rsa' ? ['-b', '2048'] : []),
  ]);
  return readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
};
const keys = [makeKey('a', 'ed25519'), makeKey('b', 'ecdsa'), makeKey('c', 'rsa'), makeKey('d', 'ed25519')];
const blob = (key: string): Buffer => Buffer.from(key.split(' ')[1]!, 'base64');
const [ed, ec, rsa, otherEd] = keys as [string, string, string, string];

/**
 * The lines that ssh-keygen finds for a name, with their markers; `-l` makes it read the keys too.
 */
function found(file: string, name: string): string[] {
  const { stdout } = spawnSync('ssh-keygen', ['-l', '-F', name, '-f', file], { encoding: 'utf8' });
  return [...stdout.matchAll(/^# Host .* found: line (\d+)(.*)$/gm)].map(
    ([, line, rest]) => `${line ?? ''}${rest?.trim() ?? ''}`,
  );
}

const words = { revoked: 'REVOKED', 'cert-authority': 'CA' };

function ours(file: string, name: string): string[] {
  const lines = parseKnownHosts(readFileSync(file, 'latin1'), file);
  return linesFor(lines, name).map(({ line, marker }) => `${line}${marker ? words[marker] : ''}`);
}

/** The names of a line, hashed by ssh-keygen. */
function hashed(name: string): string {
  const file = join(dir, 'hash');
  writeFileSync(file, `${name} ${ed}\n`);
  execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' });
  return readFileSync(file, 'utf8').split(' ')[0]!;
}

const plain = ['alpha', 'beta.example.org', '10.0.0.7', 'a', '[alpha]:2222', '[10.0.0.7]:22022', '::1'];
const hashes = new Map(plain.map((name) => [name, hashed(name)]));

const name = fc.constantFrom(...plain);
const pattern = fc.oneof(
  name,
  fc.constantFrom(
    '*',
    '?',
    'al*a',
    '*.example.org',
    '10.0.0.?',
    '[*]:2222',
    '[alpha]:*',
    'ALPHA',
    '',
    '**a',
    '?*',
  ),
  fc.stringMatching(/^[ab.*?0[\]:]{1,6}$/),
);
const patterns = fc
  .array(fc.tuple(fc.boolean(), pattern), { minLength: 1, maxLength: 4 })
  .map((list) => list.map(([negated, text]) => (negated && text !== '' ? `!${text}` : text)).join(','));
const names = fc.oneof(
  patterns,
  name.map((plainName) => hashes.get(plainName)!),
  fc.constantFrom('|1|broken', '|1|AAAA|BBBB', '|2|AAAA|BBBB'),
);
const gap = fc.constantFrom(' ', '\t', '  ', ' \t ');
const goodLine = fc
  .tuple(
    fc.constantFrom('', '', '', '@revoked', '@cert-authority', '@unknown'),
    names,
    fc.constantFrom(...keys),
    gap,
    fc.constantFrom('', ' a comment', '\tone more'),
    fc.constantFrom('', '', ' ', '\t'),
  )
  .map(([marker, hosts, key, blank, comment, indent]) => {
    const start = marker === '' ? indent : `${indent}${marker} `; // ssh knows a marker by the space after it
    return `${start}${hosts}${blank}${key.replace(' ', blank)}${comment}`;
  });
const badLine = fc.constantFrom(
  '',
  '# alpha ssh-ed25519 AAAA',
  'alpha',
  'alpha ssh-ed25519',
  'alpha ssh-ed25519 AAAA',
  `alpha ssh-rsa ${ed.split(' ')[1]!}`,
  'alpha 2048 65537 1234567890',
  '@revoked',
);

describe('known_hosts', () => {
  it('finds the lines that ssh-keygen finds', () => {
    const file = join(dir, 'property');
    fc.assert(
      fc.property(fc.array(fc.oneof(goodLine, goodLine, badLine), { maxLength: 8 }), name, (lines, host) => {
        writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
        expect(ours(file, host)).toEqual(found(file, host));
      }),
      { numRuns: 400 },
    );
  }, 60_000); // some hundred processes

  it('shows fingerprints as ssh-keygen does', () => {
    for (const [index, key] of keys.entries()) {
      const path = join(dir, `${'abcd'[index] ?? ''}.pub`);
      const shown = execFileSync('ssh-keygen', ['-lf', path], { encoding: 'utf8' }).split(' ')[1];
      expect(fingerprint(blob(key))).toBe(shown);
      expect(keyType(blob(key))).toBe(key.split(' ')[0]);
    }
  });

  it('calls a host on another port by both', () => {
    expect([knownName('GPU1', 22), knownName('gpu1', 2222)]).toEqual(['gpu1', '[gpu1]:2222']);
  });

  const verdict = (text: string, key: string): string =>
    judge(parseKnownHosts(text, 'f'), 'alpha', fingerprint(blob(key))).kind;

  it('judges a key', () => {
    expect(verdict(`alpha ${ed}\n`, ed)).toBe('known');
    expect(verdict(`beta ${ed}\n`, ed)).toBe('unknown');
    expect(verdict(`alpha ${ed}\n`, otherEd)).toBe('changed');
    expect(verdict(`alpha ${ed}\nalpha ${otherEd}\n`, otherEd)).toBe('known');
    expect(verdict(`alpha ${ed}\n@revoked * ${ed}\n`, ed)).toBe('revoked');
    expect(verdict(`@revoked * ${ed}\n`, otherEd)).toBe('unknown');
  });

  it('takes another type of key for a change: an impostor would show just that', () => {
    expect(verdict(`alpha ${ed}\n`, ec)).toBe('changed');
    expect(verdict(`alpha ${rsa}\nalpha ${ec}\n`, ec)).toBe('known');
  });

  it('never takes the key of an authority for a host key', () => {
    expect(verdict(`@cert-authority alpha ${ed}\n`, ed)).toBe('unknown');
    expect(verdict(`@cert-authority * ${ed}\nalpha ${otherEd}\n`, ed)).toBe('changed');
  });

  it('takes no time over patterns made to be slow', () => {
    const slow = `${'*a'.repeat(400)}b`;
    const begin = performance.now();
    linesFor(parseKnownHosts(`${slow} ${ed}\n`.repeat(50), 'f'), 'a'.repeat(250));
    expect(performance.now() - begin).toBeLessThan(1000);
  });
});
