// Includes between the folders of the native programs point down only, in the order of the tables in
// docs/architecture.md.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

interface Area {
  /** Relative to native. */
  path: string;
  /** The heading of its table in docs/architecture.md. */
  heading: string;
  /** Its folders, the highest first. */
  folders: string[];
  /** Where files beside the folders stand: above them all, or any file may include them. */
  beside: 'above' | 'anywhere';
  /** What files may include from outside the area: these folders of native; all when left out. */
  outside?: string[];
}

const agent: Area = {
  path: 'agent',
  heading: "### The agent's folders",
  folders: [
    'rpc',
    'supervise',
    'join',
    'cluster',
    'connection',
    'ranks',
    'tensorboard',
    'notify',
    'reports',
    'metrics',
    'run',
    'gpus',
    'figures',
    'system',
    'messages',
  ],
  beside: 'above',
  outside: ['common'],
};
const areas: Area[] = [
  agent,
  {
    path: 'trainer/train',
    heading: '### The folders of a training',
    folders: ['bench', 'loop', 'evaluate', 'weights', 'plan', 'log', 'ending', 'process'],
    beside: 'above',
  },
  {
    path: 'trainer/data',
    heading: '### The folders of the images',
    folders: ['prepare', 'fetch', 'archive', 'records', 'pixels', 'images'],
    beside: 'anywhere',
  },
];

interface Include {
  /** The file that has the line, relative to its area. */
  from: string;
  /** What the line names, relative to native. */
  to: string;
}

/** The folder of a path relative to its area; '' for a file beside the folders. */
const folderOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

function includesOf(from: string, text: string): Include[] {
  return [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm)].map(([, to]) => ({
    from,
    to: to ?? '',
  }));
}

/** One line for each include that does not point to its own folder, down, or to what may be. */
function upward({ path, folders, beside, outside }: Area, includes: Include[]): string[] {
  const heightOf = (file: string): number => folders.length - folders.indexOf(folderOf(file));
  const points = ({ from, to }: Include): boolean => {
    if (!to.includes('/')) return false;
    if (!to.startsWith(`${path}/`)) return outside?.includes(to.split('/')[0] ?? '') ?? true;
    const target = to.slice(path.length + 1);
    if (folderOf(target) === '') return beside === 'anywhere';
    return folders.includes(folderOf(target)) && heightOf(target) <= heightOf(from);
  };
  return includes.filter((one) => !points(one)).map(({ from, to }) => `${from} includes ${to}`);
}

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

for (const area of areas) {
  const folder = join(root, 'native', area.path);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(h|c|cpp)$/.test(path));

  it(`includes of native/${area.path} point down only`, () => {
    const includes = files.flatMap((path) => includesOf(path, readFileSync(join(folder, path), 'utf8')));
    expect(includes.length).toBeGreaterThan(files.length);
    expect(upward(area, includes)).toEqual([]);
  });

  it(`every folder of native/${area.path} has its place, here and in the architecture`, () => {
    const found = new Set(files.map(folderOf).filter((name) => name !== ''));
    expect([...found].sort()).toEqual([...area.folders].sort());
    const section = page.split(`${area.heading}\n`)[1]?.split('\n#')[0] ?? '';
    const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(area.folders);
  });
}

it('an include that points up, to another program or to a file beside the folders is found', () => {
  const text = [
    '#include <string>',
    '#include "agent/run/lease.h"',
    '#include "agent/ranks/hang.h"',
    '#  include "agent/system/kill.h"',
    '#include "agent/rpc/rpc.h"',
    '#include "agent/version.h"',
    '#include "common/error.h"',
    '#include "trainer/train/plan/plan.h"',
    '#include "hang.h"',
  ].join('\n');
  expect(upward(agent, includesOf('ranks/rank.cpp', text))).toEqual([
    'ranks/rank.cpp includes agent/rpc/rpc.h',
    'ranks/rank.cpp includes agent/version.h',
    'ranks/rank.cpp includes trainer/train/plan/plan.h',
    'ranks/rank.cpp includes hang.h',
  ]);
  expect(upward(agent, includesOf('main.cpp', '#include "agent/rpc/serve.h"\n'))).toEqual([]);
});
