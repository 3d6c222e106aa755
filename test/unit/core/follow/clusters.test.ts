// Sessions come and go with their profiles, but not with every mistake in the file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import { Clusters } from '../../../../src/core/follow/clusters.js';
import { ProfileStore } from '../../../../src/core/profiles/store.js';

const home = mkdtempSync(join(tmpdir(), 'trainyard-clusters-'));
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

const write = (...profiles: object[]): void => {
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
};
const lab = { name: 'lab', kind: 'local' };
const west = { name: 'west', kind: 'local' };

describe('Clusters', () => {
  it('keep the session of an entry that is wrong for a while, and say what is wrong', async () => {
    const clusters = new Clusters(
      () => new ProfileStore(home),
      () => {
        throw new Error('nobody connects here');
      },
    );
    write(lab, west);
    const session = await clusters.get('lab');
    expect(clusters.complaints).toEqual([]);
    const before = await clusters.list();
    expect(before.map(({ profile }) => profile.name)).toEqual(['local', 'lab', 'west']);
    write({ ...lab, kind: 'shh' }, west);
    expect(await clusters.list()).toEqual(before);
    const [complaint, ...others] = clusters.complaints;
    expect([complaint?.hint, others]).toEqual([{ kind: 'correctProfiles', line: 1 }, []]);
    expect(complaint?.message).toMatch(/profiles\.json:1: profiles\[0\]\.kind: /);
    await expect(clusters.get('lab')).rejects.toEqual(complaint);
    expect(clusters.find('lab')).toBe(session);
    write({ ...lab, workdir: '/data' });
    expect(await clusters.get('lab')).toBe(session);
    expect(session.profile.workdir).toBe('/data');
    expect(clusters.complaints).toEqual([]);
    write();
    await clusters.list();
    expect(clusters.find('lab')).toBeUndefined();
    clusters.dispose();
  });

  it('keep what the file said last while it cannot be understood, and say where it is wrong', async () => {
    const file = join(home, 'profiles.json');
    const make = (): Clusters =>
      new Clusters(
        () => new ProfileStore(home),
        () => {
          throw new Error('nobody connects here');
        },
      );
    const clusters = make();
    write(lab);
    const before = await clusters.list();
    for (const half of [
      '',
      '{ "version": 1, "profiles": [{ "name": "la',
      '{ "version": 1, "profiles": 3 }',
    ]) {
      writeFileSync(file, half);
      expect(await clusters.list()).toEqual(before);
      expect(await clusters.get('lab')).toBe(before[1]);
      expect(clusters.complaints.map(({ hint }) => hint)).toEqual([{ kind: 'correctProfiles', line: 1 }]);
      expect([clusters.knows('lab'), clusters.knows('la')]).toEqual([true, false]);
    }
    const other = make();
    await expect(other.list()).rejects.toThrow(/profiles\.json:1: /);
    expect(other.knows('lab')).toBeUndefined();
    write({ ...lab, workdir: '/data' });
    expect((await clusters.list())[1]).toBe(before[1]);
    expect(before[1]?.profile.workdir).toBe('/data');
    expect(clusters.complaints).toEqual([]);
    write();
    await clusters.list();
    expect([clusters.find('lab'), clusters.knows('lab')]).toEqual([undefined, false]);
    clusters.dispose();
    other.dispose();
  });

  it('tell of each machine that is no longer connected, however that came', async () => {
    const disposed: Machine[] = [];
    const clusters = new Clusters(
      () => new ProfileStore(home),
      () => {
        const machine = {
          node: { hello: () => Promise.resolve({ cores: 2, host: 'here' }) },
          dispose: () => disposed.push(machine as unknown as Machine),
        };
        return machine as unknown as Machine;
      },
    );
    const ended: Machine[] = [];
    clusters.onEnd((machine) => ended.push(machine));
    write(lab, west);
    const session = await clusters.get('lab');
    session.disconnect();
    expect(ended).toEqual([]); // nothing was connected
    const first = await session.machine();
    session.disconnect();
    expect(ended).toEqual([first]);
    const second = await session.machine();
    write(west);
    await clusters.list();
    expect(ended).toEqual([first, second]);
    const last = await (await clusters.get('west')).machine();
    clusters.dispose();
    expect(ended).toEqual([first, second, last]);
    expect(disposed).toEqual(ended);
  });
});
