import { expect, it } from 'vitest';
import { offsetIn, offsetOfLine } from '../../../../src/ui/commands/profiles/profilePlace.js';

const text = `{
  // mine
  "version": 1,
  "profiles": [
    { "name": "gpu1", "kind": "local", "workdir": "/w" },
    {
      "name": "lab",
      "kind": "ssh",
      "workdir": "/lab",
      "hosts": [{ "host": "gpu1", "slots": 2 }, { "host": "gpu2", "identityFile": "/k" }],
    },
  ],
}`;

const at = (place: Parameters<typeof offsetIn>[1]): string | undefined => {
  const offset = offsetIn(text, place);
  return offset === undefined ? undefined : /^[^,\n]*/.exec(text.slice(offset))?.[0];
};

it('finds a field of a profile, and of a host of it', () => {
  expect(at({ profile: 'lab', field: 'workdir' })).toBe('"workdir": "/lab"');
  expect(at({ profile: 'lab', field: 'workdir', host: 'gpu2' })).toBe('"workdir": "/lab"');
  expect(at({ profile: 'lab', field: 'identityFile', host: 'gpu2' })).toBe('"identityFile": "/k" }]');
  expect(at({ profile: 'lab', field: 'host', host: 'gpu2' })).toBe('"host": "gpu2"');
});

it('finds the host or the profile where the field is left out, and says where there is none', () => {
  expect(at({ profile: 'lab', field: 'identityFile', host: 'gpu1' })).toBe('"host": "gpu1"');
  expect(at({ profile: 'lab', field: 'transport' })).toBe('"name": "lab"');
  expect(at({ profile: 'lab' })).toBe('"name": "lab"');
  expect(at({ profile: 'gpu1' })).toBe('"name": "gpu1"');
  expect(at({ profile: 'none' })).toBeUndefined();
  expect(offsetIn('', { profile: 'lab' })).toBeUndefined();
});

it('finds a line', () => {
  expect(text.slice(offsetOfLine(text, { line: 3 })).trim()).toMatch(/^"version": 1/);
  expect(offsetOfLine('a', { line: 1 })).toBe(0);
  expect([0, 2].map((line) => offsetOfLine('a', { line }))).toEqual([undefined, undefined]);
});
