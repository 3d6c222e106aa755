// What a run would suffer from, by what a node is made of; and whose MTU and clock are off.
import { expect, it } from 'vitest';
import { judgeClocks, readingOf } from '../../../../src/core/check/clocks.js';
import { compareMtus, judgeFacts, type Facts } from '../../../../src/core/check/facts.js';
import { judgeGpus } from '../../../../src/core/check/gpus.js';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';

const room = { total: 1e12, free: 5e11, inodes: { total: 1e8, free: 9e7 } };
const fine: Facts = {
  ...{ os: 'Debian 12', kernel: '6.1', memory: 64 * 2 ** 30, rdma: false },
  limits: {
    nofile: [1024, 1048576],
    memlock: [8_388_608, 8_388_608],
    ...{ nproc: [null, null], fsize: [null, null] },
  },
  ...{ room, shm: { total: 32e9, free: 31e9, inodes: null } },
  mount: { type: 'ext4', source: '/dev/sda1', point: '/' },
  network: { name: 'eth0', address: '10.0.0.2', mtu: 1500 },
};
const told = (facts: Partial<Facts>, named?: string): string[] =>
  judgeFacts({ ...fine, ...facts }, named).flatMap(({ name, ok, warning, detail }) =>
    ok && warning !== true ? [] : [`${name} ${ok ? 'warns' : 'failed'}: ${detail}`],
  );

it('a usual node has nothing to be told', () => {
  expect(told({})).toEqual([]);
  expect(judgeFacts(fine, undefined).map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
    'OS: Debian 12',
    'kernel: 6.1',
    'memory: 68.7 GB',
    'file system: ext4 of /dev/sda1',
    'inodes: 90,000,000 inodes free',
    'shared memory: 32.0 GB in /dev/shm',
    'open files: 1,024, at most 1,048,576 where raised',
    'processes: no limit',
    'locked memory: 8 MB',
    'file size: no limit',
    'interface: eth0',
    'MTU: 1500',
  ]);
});

it.each<[string, Partial<Facts>, string[]]>([
  [
    'no inodes',
    { room: { ...room, inodes: { total: 1e6, free: 12 } } },
    ['inodes failed: 12 inodes free, 10,000 are needed'],
  ],
  [
    'few inodes',
    { room: { ...room, inodes: { total: 1e6, free: 20_000 } } },
    ['inodes warns: 20,000 inodes free of 1,000,000'],
  ],
  ['a file system without inodes', { room: { ...room, inodes: null } }, []],
  [
    'a container',
    { shm: { total: 67_108_864, free: 6e7, inodes: null } },
    ['shared memory warns: 67 MB in /dev/shm'],
  ],
  ['no /dev/shm', { shm: null }, ['shared memory warns: /dev/shm is not there']],
  [
    'a full /dev/shm',
    { shm: { total: 32e9, free: 1e6, inodes: null } },
    ['shared memory warns: 1 MB free of 32.0 GB in /dev/shm'],
  ],
  ['few files', { limits: { ...fine.limits, nofile: [256, 256] } }, ['open files warns: 256']],
  ['few processes', { limits: { ...fine.limits, nproc: [500, 500] } }, ['processes warns: 500']],
  [
    'small files only',
    { limits: { ...fine.limits, fsize: [1_073_741_824, null] } },
    ['file size warns: at most 1.1 GB, and no checkpoint is larger'],
  ],
  ['RDMA with a limit', { rdma: true }, ['locked memory warns: 8 MB, and the node has RDMA']],
  ['RDMA without one', { rdma: true, limits: { ...fine.limits, memlock: [null, null] } }, []],
])('%s', (_, facts, expected) => {
  expect(told(facts)).toEqual(expected);
});

it('an interface that the profile names must be there', () => {
  expect(told({ network: null }, 'ib0')).toEqual(['interface failed: there is no ib0']);
  expect(told({ network: null })).toEqual([]);
});

function mtus(...values: number[]): string[] {
  const facts = new Map(
    values.map((mtu, index) => [`n${index + 1}`, { ...fine, network: { name: 'eth1', address: null, mtu } }]),
  );
  const rows = [...facts].flatMap(([host, own]) =>
    judgeFacts(own, undefined).map((row) => ({ ...row, host })),
  );
  return compareMtus(rows, facts).flatMap(({ host, warning, detail, hint }) =>
    warning === true
      ? [`${host} ${detail} / ${typeof hint === 'object' && 'command' in hint ? hint.command : 'no command'}`]
      : [],
  );
}

it('the MTU that is not that of most nodes warns; of two different ones both', () => {
  expect(mtus(1500, 1500, 1500)).toEqual([]);
  expect(mtus(9000, 9000, 1500)).toEqual(['n3 1500, most have 9000 / ip link set dev eth1 mtu 9000']);
  expect(mtus(9000, 1500)).toHaveLength(2);
});

const clocks = (...offsets: number[]): string[] =>
  judgeClocks(
    new Map(offsets.map((offset, index) => [`n${index + 1}`, { offset, uncertainty: 0.1 }])),
  ).flatMap(({ host, warning, detail }) => (warning === true ? [`${host} ${detail}`] : []));

it('a clock is off that is not with most nodes; of few nodes, not with this machine', () => {
  expect(clocks(0, 0.5, -0.9)).toEqual([]);
  expect(clocks(0, 0, 7.25)).toEqual(['n3 7.3 s ahead of most nodes']);
  expect(clocks(3600, 3600, 3600, 0)).toEqual(['n4 60 min behind most nodes']);
  expect(clocks(0, -90_000)).toEqual(['n2 25.0 h behind this machine']);
});

it('the quickest answer tells the time, the way there and back taken out', () => {
  const answers = [
    { before: 100, after: 104, there: 112 },
    { before: 110, after: 110.2, there: 120.1 },
  ];
  const reading = readingOf(answers);
  expect(reading?.offset).toBeCloseTo(10);
  expect(reading?.uncertainty).toBeCloseTo(0.1);
  expect(readingOf([])).toBeUndefined();
});

it('GPUs are told by model, and those with memory errors or clocks held down warn', () => {
  const gpu = {
    ...{ index: 0, uuid: 'u', name: 'A100', memory_used: 0, memory_total: 1, utilization: 0 },
    ...{ temperature: 1, power_watts: 1, processes: [] },
  };
  const gpus: HostSample['gpus'] = [
    gpu,
    { ...gpu, index: 1, ecc: { corrected: 0, uncorrected: 2 }, slowed_by: ['heat', 'power_cap'] },
  ];
  const rows = judgeGpus([
    { host: 'n1', sample: { gpus } },
    { host: 'n2', sample: { gpus: [] } },
  ]);
  expect(rows.map(({ host, name, detail, warning }) => [host, name, detail, warning])).toEqual([
    ['n1', 'GPU models', '2 x A100', undefined],
    ['n1', 'GPU health', 'GPU 1: 2 uncorrected memory errors, slowed by heat', true],
    ['n2', 'GPU models', 'none', undefined],
  ]);
  expect(judgeGpus([{ host: 'n2', sample: { gpus: [] } }])).toEqual([]);
});
