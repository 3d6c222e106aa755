// Paths of nodes stay POSIX paths whatever this machine is.
import { join as joinHere } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  basename,
  dirname,
  isAbsolute,
  join,
  nodePath,
  resolve,
  withHome,
  type NodePath,
} from '../../../../src/core/base/nodePath.js';
import { absolutePaths } from '../../../../src/core/plan/request/flags.js';
import { givenWorkdir } from '../../../../src/core/profiles/workdir.js';

const home = nodePath('/home/me');

describe('a path of a node', () => {
  it('is put together and taken apart with slashes', () => {
    expect(join(home, 'runs', 'r')).toBe('/home/me/runs/r');
    expect(join(nodePath('~'), 'images')).toBe('~/images');
    expect(dirname(nodePath('/data/images'))).toBe('/data');
    expect(basename(nodePath('/data/images'))).toBe('images');
    expect(basename('C:\\data\\images')).toBe('C:\\data\\images'); // one name, on a node
    expect([isAbsolute('/a'), isAbsolute('a'), isAbsolute('C:\\a')]).toEqual([true, false, false]);
  });

  it('is refused by the compiler where it may be one of this machine', () => {
    // @ts-expect-error -- what `node:path` puts together has backslashes on Windows
    const mixed: NodePath = joinHere(home, 'runs');
    expect(typeof mixed).toBe('string');
  });

  it('is read against a folder, and from the home folder', () => {
    expect(resolve(home, 'a/../b')).toBe('/home/me/b');
    expect(resolve(home, '/x')).toBe('/x');
    expect(resolve(nodePath('~'), 'a')).toBe('~/a');
    expect(resolve(home, '~/a')).toBe('~/a');
    expect(withHome(home, nodePath('~'))).toBe('/home/me');
    expect(withHome(home, nodePath('~/a'))).toBe('/home/me/a');
    expect(withHome(home, nodePath('/~/a'))).toBe('/~/a');
  });

  it.each(['C:\\data', 'c:/data', '\\\\server\\share\\data'])('is never %s', (text) => {
    const refusal = expect.objectContaining({
      what: `${text} is a path of Windows, and a path of a node is wanted`,
      hint: { kind: 'nodePath' },
    }) as Error;
    expect(() => nodePath(text)).toThrow(refusal);
    expect(() => absolutePaths(['train', '--data', text], nodePath('~'))).toThrow(refusal);
    expect(() => absolutePaths(['train', `--resume=${text}`], nodePath('~'))).toThrow(refusal);
    expect(() => givenWorkdir({ name: 'lab', kind: 'ssh', workdir: text })).toThrow(refusal);
  });
});
