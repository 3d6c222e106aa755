import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configuredHosts } from '../../../../src/core/ssh/config/configuredHosts.js';
import { temporaryFolder } from '../../support/temporary.js';

it('names the hosts in their order, without patterns, with those of included files', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'conf.d'));
  writeFileSync(
    join(folder, 'config'),
    [
      'Include conf.d/*.conf',
      'Host gpu1 gpu2 *.internal !old',
      '  HostName 10.0.0.1 # Host no',
      '# Host commented',
      'host="quoted"',
      'Match host secret',
      '  User me',
      'Host *',
      'Host gpu1 -oProxyCommand=x',
    ].join('\n'),
  );
  writeFileSync(join(folder, 'conf.d', 'b.conf'), 'Host second\r\nInclude ../loop\r\n');
  writeFileSync(join(folder, 'conf.d', 'a.conf'), 'Host first\n');
  writeFileSync(join(folder, 'conf.d', 'a.txt'), 'Host not-this\n');
  expect(await configuredHosts(folder)).toEqual(['first', 'second', 'gpu1', 'gpu2', 'quoted']);
});

it('there is no configuration, or one that includes itself', async () => {
  const folder = temporaryFolder();
  expect(await configuredHosts(join(folder, 'nowhere'))).toEqual([]);
  writeFileSync(join(folder, 'config'), 'Host a\nInclude config\n');
  expect(await configuredHosts(folder)).toEqual(['a']);
});
