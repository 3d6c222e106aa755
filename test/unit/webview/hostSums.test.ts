// The line of a host's sums, and heat rows of hosts without GPUs.
import { expect, it } from 'vitest';
import { spliceHost } from '../../../src/webview/dashboard/model/columns.js';
import { heatRows, heatValue, rowName, rowsText } from '../../../src/webview/dashboard/devices/heatGrid.js';
import { hostSums, hostTrouble } from '../../../src/webview/dashboard/devices/hostSums.js';
import type { GpuColumns, HostColumns } from '../../../src/webview/protocol.js';

const gpu = (index: number, fields: Partial<GpuColumns> = {}): GpuColumns => ({
  ...{
    index,
    uuid: `GPU-${index}`,
    name: 'H100',
    memoryTotal: 80e9,
    used: [10e9, 40e9],
    utilization: [0, 90],
  },
  ...{ temperature: 50, power: 300, processes: [], trouble: '' },
  ...fields,
});
const host = (gpus: GpuColumns[]): HostColumns => ({
  ...{ host: 'gpu1', memoryTotal: 512e9, diskFree: 812e9, time: [1, 2], cpuPercent: [5, 35] },
  ...{ memoryUsed: [100e9, 120e9], gpus, missing: '' },
});
const words = (of: HostColumns): string =>
  hostSums(of)
    .map(({ label, text }) => `${label} ${text}`)
    .join(' · ');

it('has mean use, sums of memory and power, and what is the host its own', () => {
  const both = [gpu(0), gpu(1, { utilization: [0, 70], used: [0, 20e9], power: 250 })];
  expect(words(host(both))).toBe(
    'use of 2 GPUs 80% · GPU memory 60.0/160.0 GB · power 550 W · CPU 35% · host memory 120.0/512.0 GB · disk free 812.0 GB',
  );
});

it('counts what is known alone, and says so where nothing is', () => {
  const dumb = gpu(1, { utilization: [null, null], used: [null, null], power: null });
  expect(words(host([gpu(0), dumb]))).toMatch(
    /^use of 2 GPUs 90% · GPU memory 40\.0\/160\.0 GB · power 300 W · CPU/,
  );
  expect(words(host([dumb]))).toMatch(/^use of 1 GPU – · GPU memory –\/80\.0 GB · CPU/);
  expect(words(host([]))).toMatch(/^CPU 35% · host memory/);
});

it('names what needs a look', () => {
  expect(hostTrouble(host([gpu(0)]))).toBe('');
  const ill = gpu(1, { trouble: 'slowed down by heat', processes: [{ pid: 1, memory: 1, ours: false }] });
  expect(hostTrouble({ ...host([gpu(0), ill]), missing: 'no figures of the disk' })).toBe(
    'no figures of the disk; trouble on 1 GPU; 1 GPU also used by someone else',
  );
});

it('a host without GPUs is a row of the heat grid', () => {
  const rows = heatRows([host([gpu(0), gpu(1)]), { ...host([]), host: 'cpu1' }]);
  expect(rows.map(rowName)).toEqual(['gpu1 GPU 0', 'gpu1 GPU 1', 'cpu1']);
  expect(rowsText(rows)).toBe('2 GPUs and 1 host without any');
  expect(rows.map((row) => heatValue(row, 1, 'utilization'))).toEqual([0.9, 0.9, 0.35]);
  expect(heatValue(rows[2]!, 1, 'memory')).toBeCloseTo(120 / 512);
  const lost = heatRows([host([gpu(0, { memoryTotal: 0, used: [0, 0] })])]);
  expect(heatValue(lost[0]!, 1, 'memory')).toBeNull();
});

it('figures of a GPU that appears late are asked for from the beginning', () => {
  const page = host([]);
  expect(spliceHost(page, { from: 0, rows: host([gpu(0)]) })).toBe(false);
  const known = host([gpu(0)]);
  expect(spliceHost(known, { from: 0, rows: host([gpu(0), gpu(1)]) })).toBe(false);
  expect(spliceHost(known, { from: 0, rows: host([gpu(0)]) })).toBe(true);
});
