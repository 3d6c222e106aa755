// What is chosen on Windows, by the code that chooses it; test/windows runs the rest by Windows'
// Node.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { cacheFolder } from '../../../../src/core/setup/runtime.js';
import { ProfileStore, trainyardHome } from '../../../../src/core/profiles/store.js';
import { sshConfig, type SshConfig, type Surroundings } from '../../../../src/core/ssh/config/config.js';
import { parseSettings, readSettings } from '../../../../src/core/ssh/config/configSource.js';
import { configuredHosts } from '../../../../src/core/ssh/config/configuredHosts.js';
import { parseKnownHosts } from '../../../../src/core/ssh/hostKeys/knownHosts.js';
import { keyAgents } from '../../../../src/core/ssh/config/keyAgents.js';
import { whyNotHere } from '../../../../src/core/plan/whyNotHere.js';

const folder = mkdtempSync(join(tmpdir(), 'trainyard-windows-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const service = 'openssh-ssh-agent';
const pageant = 'pageant.Ada.0123456789abcdef';
const pipe = (name: string): string => `\\\\.\\pipe\\${name}`;

function agents(setting: string | undefined, socket: string | undefined, pipes: string[]): string[] {
  return keyAgents(setting, (path) => `read ${path}`, {
    env: socket === undefined ? {} : { SSH_AUTH_SOCK: socket, OWN: pipe('own') },
    platform: 'win32',
    user: 'ada',
    listPipes: () => pipes,
  });
}

describe('key agents of Windows', () => {
  it("are the service's pipe, then Pageant's of this user", () => {
    const there = ['pageant.eve.00', pageant, 'other', service, `${service}-2`];
    expect(agents(undefined, undefined, there)).toEqual([pipe(service), pipe(pageant)]);
    expect(agents('', undefined, [pageant])).toEqual([pipe(pageant)]);
    expect(agents('SSH_AUTH_SOCK', undefined, there)).toEqual([]);
    expect(agents(undefined, undefined, [])).toEqual([]);
  });

  it('are what the environment or the configuration names, where Windows can open it', () => {
    const there = [service];
    expect(agents(undefined, '//./pipe/mine', there)).toEqual(['//./pipe/mine']);
    expect(agents(undefined, pipe('mine'), there)).toEqual([pipe('mine')]);
    expect(agents(undefined, '/tmp/ssh-XX/agent.1', there)).toEqual([pipe(service)]); // Git Bash's
    expect(agents(pipe('x'), pipe('mine'), there)).toEqual([`read ${pipe('x')}`]);
    expect(agents('$OWN', 'set', there)).toEqual([pipe('own')]);
    expect(agents('none', pipe('mine'), there)).toEqual([]);
  });

  it('are the one socket elsewhere', () => {
    const here = { env: { SSH_AUTH_SOCK: '/a' }, platform: 'linux' as const, user: 'ada' };
    const never = (): never => {
      throw new Error('pipes were asked for');
    };
    expect(keyAgents(undefined, (path) => path, { ...here, listPipes: never })).toEqual(['/a']);
  });
});

function read(settings: ReadonlyMap<string, readonly string[]>): SshConfig {
  const around: Surroundings = { env: { ProgramData: 'D:\\Data' }, home: folder, platform: 'win32' };
  return sshConfig({ host: 'gpu1' }, settings, around);
}

describe('the SSH configuration of Windows', () => {
  it('is read as its ssh prints it: CRLF, a blank in the home folder, its own words for folders', () => {
    const known = join(folder, 'Ada Byron known');
    writeFileSync(known, '');
    const printed = [
      'hostname gpu1.example.org',
      `userknownhostsfile ${known} ~\\known_hosts2`,
      'globalknownhostsfile __PROGRAMDATA__\\\\ssh/ssh_known_hosts',
      'identityfile C:\\Users\\Ada Byron\\.ssh\\id_ed25519',
      'proxyjump none',
    ];
    const config = read(parseSettings(printed.join('\r\n')));
    expect(config.hostName).toBe('gpu1.example.org');
    expect(config.knownHosts).toEqual([
      known,
      join(folder, '\\known_hosts2'),
      'D:\\Data\\\\ssh/ssh_known_hosts',
    ]);
    expect(config.identityFiles).toEqual(['C:\\Users\\Ada Byron\\.ssh\\id_ed25519']);
    expect(config.proxyJump).toBeUndefined();
  });

  it('is read from its file where there is no ssh, with the lines of Windows', async () => {
    const configFile = join(folder, 'config');
    const lines = ['Host gpu*', '  HostName %h.example.org', '  User trainer', '  Port 2222', ''];
    writeFileSync(configFile, lines.join('\r\n'));
    const around: Surroundings = { env: {}, home: folder, platform: 'win32' };
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const settings = await readSettings({ host: 'gpu1' }, { around, configFile, ssh: 'no-such-program' });
    const config = sshConfig({ host: 'gpu1' }, settings, around);
    expect(config).toMatchObject({ hostName: 'gpu1.example.org', user: 'trainer', port: 2222 });
    const waiting = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    expect(waiting).toBeLessThanOrEqual(before); // or the command line ends 20 s late
    expect(config.knownHosts).toEqual([
      join(folder, '.ssh/known_hosts'),
      join(folder, '.ssh/known_hosts2'),
      'C:\\ProgramData/ssh/ssh_known_hosts',
      'C:\\ProgramData/ssh/ssh_known_hosts2',
    ]);
    writeFileSync(join(folder, 'config'), 'Host one two\r\nHost three\r\n');
    expect(await configuredHosts(folder)).toEqual(['one', 'two', 'three']);
  });

  it('knows the keys of a known_hosts with CRLF', () => {
    const key = 'AAAAC3NzaC1lZDI1NTE5AAAAIH0gVDXr0ZPbRRYaqGTbiyV12ZuodVrXGqLGYSqcCLfF';
    const lines = parseKnownHosts(`gpu1 ssh-ed25519 ${key}\r\n\r\ngpu2 ssh-ed25519 ${key}\r\n`, 'f');
    expect(lines.map(({ names, line }) => [names, line])).toEqual([
      ['gpu1', 1],
      ['gpu2', 3],
    ]);
  });
});

describe('folders and files of Windows', () => {
  it('are where Windows keeps settings and caches', () => {
    const env = { APPDATA: '/roaming', LOCALAPPDATA: '/local' };
    expect(trainyardHome(env, 'win32')).toBe(join('/roaming', 'trainyard'));
    expect(cacheFolder(env, 'win32')).toBe(join('/local', 'trainyard'));
    expect(trainyardHome({}, 'win32')).toBe(join(homedir(), 'AppData', 'Roaming', 'trainyard'));
    expect(trainyardHome({ ...env, TRAINYARD_HOME: '/own' }, 'win32')).toBe('/own');
    expect(trainyardHome(env, 'darwin')).toBe(join(homedir(), '.config', 'trainyard'));
    expect(cacheFolder({}, 'darwin')).toBe(join(homedir(), '.cache', 'trainyard'));
  });

  it('may have CRLF, and profiles with it are kept when one is added', async () => {
    const text = ['{', '  "version": 1,', '  "profiles": [ // mine', '    {"name": "a", "kind": "local"},'];
    writeFileSync(join(folder, 'profiles.json'), `\uFEFF${[...text, '  ]', '}', ''].join('\r\n')}`);
    const store = new ProfileStore(folder);
    await store.save({ name: 'b', kind: 'ssh', hosts: [{ host: 'gpu1' }] });
    expect((await store.list()).map(({ name }) => name)).toEqual(['local', 'a', 'b']);
    writeFileSync(join(folder, 'profiles.json'), [...text, '{"name": 5}]}'].join('\r\n'));
    expect((await store.contents()).broken[0]?.error.message).toMatch(/profiles\.json:5: /);
  });
});

describe('this machine', () => {
  it('trains where it is x86-64 Linux, and else says what to use', () => {
    expect(whyNotHere('linux', 'x64')).toBeUndefined();
    expect(whyNotHere('win32', 'x64')).toMatchObject({
      what: 'this machine is Windows on x64, and training needs x86-64 Linux',
      hint: { kind: 'addProfile' },
    });
    expect(whyNotHere('darwin', 'arm64')).toMatchObject({ code: 'preflight', exitCode: 4 });
    expect(whyNotHere('linux', 'arm64')?.what).toContain('Linux on arm64');
  });
});
