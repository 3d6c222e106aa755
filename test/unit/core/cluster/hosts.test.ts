// What a profile says of its hosts.
import { expect, it } from 'vitest';
import { addressOf, headFirst } from '../../../../src/core/cluster/nodes/hosts.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';

it.each([
  ['the profile’s address', { host: 'lab1', address: '10.0.0.5' }, '127.0.0.2', '10.0.0.5'],
  ['what stands behind an alias', { host: 'lab1' }, '127.0.0.2', '127.0.0.2'],
  ['a name behind an alias', { host: 'lab1' }, 'lab1.example.org', 'lab1.example.org'],
  ['the host, where nothing stands behind it', { host: 'gpu1' }, 'gpu1', 'gpu1'],
  ['the host, before it was connected', { host: 'gpu1' }, undefined, 'gpu1'],
  ['the host, behind a forwarded port', { host: 'lab1' }, '127.0.0.1', 'lab1'],
  ['the host, of which the configuration has an IPv6 address', { host: 'lab1' }, 'fe80::1', 'lab1'],
])('nodes reach one another by %s', (_, host, hostName, expected) => {
  expect(addressOf(host, hostName)).toBe(expected);
});

it('the head is the first of the hosts', () => {
  const profile: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }], head: 'b' };
  expect(headFirst(profile)).toEqual([{ host: 'b' }, { host: 'a' }]);
});
