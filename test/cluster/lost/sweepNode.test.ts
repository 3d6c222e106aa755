// A sweep over two nodes, one of which loses its power: its trial begins anew on the other node.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepSchema, type Trial } from '../../../src/core/sweep/record.js';
import { cli, expectExit, start, until } from '../../support/harness.js';
import { unavailable, type NamespaceCluster } from '../../support/namespaces.js';
import { separateHosts, type FaultHosts } from '../support/hosts.js';

describe.skipIf(unavailable !== undefined)(`a sweep (${unavailable ?? 'namespaces'})`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-sweep-node-'));
  let hosts: FaultHosts;
  let network: NamespaceCluster;
  beforeAll(async () => {
    ({ hosts, network } = await separateHosts(2));
  });
  afterAll(async () => {
    await hosts.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('takes the trials of a node that is lost to another node', async () => {
    const out = join(dir, 'sweep');
    const begun = join(dir, 'begun');
    mkdirSync(begun);
    const ends = join(dir, 'ends');
    const report = `echo '{"step": 1, "loss": {x}}' >> "$TRAINYARD_RUN_DIR/metrics.jsonl"`;
    const program = `touch "$0/{x}"; until [ -e "$1" ]; do sleep 0.1; done; ${report}`;
    const words = ['--name', 'x', '--grid', 'x=1,2', '--runs-at-once', '2', '--metric', 'loss', '--out', out];
    const sweep = start(
      process.execPath,
      [cli, 'sweep', hosts.profile.name, ...words, '--', 'sh', '-c', program, begun, ends],
      { env: { TRAINYARD_HOME: hosts.trainyardHome }, cwd: dir },
    );
    const trials = (): Trial[] =>
      sweepSchema.parse(JSON.parse(readFileSync(join(out, 'sweep.json'), 'utf8'))).trials;
    await until('both trials', () => readdirSync(begun).length === 2, 60);
    const [head, other] = network.hosts.map(({ address }) => address);
    expect(trials().map(({ host }) => host)).toEqual([head, other]);
    const lost = trials()[1]?.run?.id;
    network.powerOff(network.hosts[1]!);
    await until(
      'the trial to begin anew',
      () => trials()[1]?.host === head && trials()[1]?.status === 'running',
      90,
    );
    writeFileSync(ends, '');
    const swept = await sweep.ended;
    expectExit(swept, 0);
    expect(trials()).toMatchObject([
      { status: 'finished', host: head, best: 1 },
      { status: 'finished', host: head, best: 2, earlier: [lost] },
    ]);
    expect(swept.stderr).toContain(`${other} gets no more trials: it was lost`);
  });
});
