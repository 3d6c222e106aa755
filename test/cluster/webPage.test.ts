// The web page of a program that runs on the second node: `open` finds its address in what the
// program prints, and brings the page here. Each node has a network of its own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, expectExit, parseLines, runCli, start, until, type Outcome } from '../support/harness.js';
import { unavailable } from '../support/namespaces.js';
import { servedPage } from '../support/servedPage.js';
import { separateHosts, type FaultHosts } from './support/hosts.js';

describe.skipIf(unavailable !== undefined)(`a web page (${unavailable ?? 'namespaces'})`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-page-'));
  let hosts: FaultHosts;
  let run = '';
  const options = (): { env: NodeJS.ProcessEnv; cwd: string } => ({
    env: { ...process.env, TRAINYARD_HOME: hosts.trainyardHome },
    cwd: dir,
  });
  const command = (...words: string[]): Promise<Outcome> => runCli(words, options());

  beforeAll(async () => {
    ({ hosts } = await separateHosts(2));
    const code = join(dir, 'code');
    mkdirSync(code);
    writeFileSync(join(code, 'serve.py'), servedPage);
    const [, second] = hosts.profile.hosts ?? [];
    const words = ['--detach', '--hosts', second?.host ?? '', '--code', code, '--name', 'page'];
    expectExit(await command('run', hosts.profile.name, ...words, '--', 'python3', 'serve.py'), 0);
    run = 'page';
  });
  afterAll(async () => {
    await hosts.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('comes from the node on which the program runs, and says when the program has ended', async () => {
    const opened = start(process.execPath, [cli, 'open', run, '--json'], options());
    const [page] = await until('the page', () => {
      const lines = parseLines(opened.stdout.slice(0, opened.stdout.lastIndexOf('\n') + 1));
      return lines.length > 0 && lines;
    });
    expect(page).toMatchObject({ rank: 0, host: hosts.profile.hosts?.[1]?.host });
    const url = String(page?.['url']);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/lab\?token=s3$/);
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([200, '0']);
    expect((await fetch(url.replace('s3', 's4'))).status).toBe(403);
    opened.child.kill('SIGINT');
    expect(await opened.ended).toMatchObject({ code: 0 });
    const silent = await command('open', run, '--port', '1');
    expectExit(silent, 5);
    expect(silent.stderr).toContain('nothing answers at port 1 of');
    expectExit(await command('stop', run, '--now'), 0);
    const ended = await command('open', run);
    expectExit(ended, 2);
    expect(ended.stderr).toContain('nothing of it serves a page');
  });
});
