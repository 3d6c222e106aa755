// Includes between the folders of native/agent point down only, in the order of the table in
// docs/architecture.md.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/**
 * The folders of native/agent, the highest first. Files beside the folders stand above them all.
 */
const folders = [
  'rpc',
  'supervise',
  'join',
  'cluster',
  'connection',
  'ranks',
  'tensorboard',
  'run',
  'figures',
  'system',
  'messages',
];

interface Include {
  /** The file that has the line, relative to native/agent. */
  from: string;
  /** What the line names, relative to native. */
  to: string;
}

/** The folder of a path relative to native/agent; '' for a file beside the folders. */
const folderOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

function includesOf(from: string, text: string): Include[] {
  return [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm)].map(([, to]) => ({
    from,
    to: to ?? '',
  }));
}

/** One line for each include that does not point to its own folder, down, or to native/common. */
function upward(includes: Include[]): string[] {
  const heightOf = (path: string): number => folders.length - folders.indexOf(folderOf(path));
  const points = ({ from, to }: Include): boolean => {
    if (to.startsWith('common/')) return true;
    if (!to.startsWith('agent/')) return false;
    const target = to.slice('agent/'.length);
    return folders.includes(folderOf(target)) && heightOf(target) <= heightOf(from);
  };
  return includes.filter((one) => !points(one)).map(({ from, to }) => `${from} includes ${to}`);
}

const agent = join(root, 'native/agent');
const files = readdirSync(agent, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.(h|c|cpp)$/.test(path));
const includes = files.flatMap((path) => includesOf(path, readFileSync(join(agent, path), 'utf8')));

it('includes of native/agent point down only', () => {
  expect(includes.length).toBeGreaterThan(files.length);
  expect(upward(includes)).toEqual([]);
});

it('every folder of native/agent has its place, here and in the table of the architecture', () => {
  expect([...new Set(files.map(folderOf))].sort()).toEqual(['', ...folders].sort());
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const section = page.split("### The agent's folders\n")[1]?.split('\n#')[0] ?? '';
  expect([...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(folders);
});

it('an include that points up, to another program or to a file beside the folders is found', () => {
  const text = [
    '#include <string>',
    '#include "agent/run/lease.h"',
    '#include "agent/ranks/hang.h"',
    '#  include "agent/system/kill.h"',
    '#include "agent/rpc/rpc.h"',
    '#include "agent/version.h"',
    '#include "common/error.h"',
    '#include "trainer/train/plan.h"',
    '#include "hang.h"',
  ].join('\n');
  expect(upward(includesOf('ranks/rank.cpp', text))).toEqual([
    'ranks/rank.cpp includes agent/rpc/rpc.h',
    'ranks/rank.cpp includes agent/version.h',
    'ranks/rank.cpp includes trainer/train/plan.h',
    'ranks/rank.cpp includes hang.h',
  ]);
  expect(upward(includesOf('main.cpp', '#include "agent/rpc/serve.h"\n'))).toEqual([]);
});
