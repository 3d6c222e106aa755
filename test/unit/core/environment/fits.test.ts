// Conditions of packages and versions of Python, as pip's own library judges them.
import { describe, expect, it } from 'vitest';
import { assertFits } from '../../../../src/core/environment/fits.js';
import { decided, holds, markerText, parseMarker } from '../../../../src/core/environment/markers.js';
import { satisfies } from '../../../../src/core/environment/versions.js';

const values = {
  ...{ implementation_name: 'cpython', implementation_version: '3.11.7', os_name: 'posix' },
  ...{ platform_machine: 'x86_64', platform_python_implementation: 'CPython' },
  ...{ platform_release: '6.1.0-18-amd64', platform_system: 'Linux', platform_version: '#1 SMP' },
  ...{ python_full_version: '3.11.7', python_version: '3.11', sys_platform: 'linux' },
};
/** As the `packaging` of pip 26.3 judged them on 2026-11-30. */
const conditions: [condition: string, holds: boolean][] = [
  ["python_version >= '3.9'", true],
  ["python_full_version < '3.11'", false],
  ["python_full_version == '3.11.*'", true],
  ["python_full_version != '3.11.*'", false],
  ["python_version in '3.10 3.11'", true],
  ["'linux' in sys_platform and 'arm' not in platform_machine", true],
  ["sys_platform == 'win32' or (os_name == 'posix' and python_version ~= '3.10')", true],
  ["(python_version < '3' or python_version > '3.10') and os_name != 'nt'", true],
  ["'3.8' <= python_version", true],
  ['platform_python_implementation == "CPython"', true],
  ["platform_release == '6.1.0-18-amd64'", true],
  ["sys_platform == 'linux2'", false],
];
/** Those of the versions that `packaging` found in them then, previews included. */
const versions = ['3.9.0', '3.11.0', '3.11.7', '3.12.0rc1', '3.12.0', '3.14.2'];
const specifiers: [specifiers: string, held: string[]][] = [
  ['>=3.9', ['3.9.0', '3.11.0', '3.11.7', '3.12.0rc1', '3.12.0', '3.14.2']],
  ['<3.12', ['3.9.0', '3.11.0', '3.11.7']],
  ['~=3.10', ['3.11.0', '3.11.7', '3.12.0rc1', '3.12.0', '3.14.2']],
  ['~=3.11.2', ['3.11.7']],
  ['==3.11', ['3.11.0']],
  ['!=3.11.*', ['3.9.0', '3.12.0rc1', '3.12.0', '3.14.2']],
  ['>3.11', ['3.11.7', '3.12.0rc1', '3.12.0', '3.14.2']],
  ['>=3.9,<3.11', ['3.9.0']],
  ['', ['3.9.0', '3.11.0', '3.11.7', '3.12.0rc1', '3.12.0', '3.14.2']],
];

describe('a condition', () => {
  it.each(conditions)('%s is %s', (text, expected) => {
    const marker = parseMarker(text)!;
    expect(holds(marker, values)).toBe(expected);
    expect(holds(parseMarker(markerText(marker))!, values)).toBe(expected);
  });

  it.each(['', "os_name 'a'", "os_name == 'a' and", "'a' == 'b')", "os_name == 'a'; x", 'and == or', '`id`'])(
    '%j is none',
    (text) => {
      expect(parseMarker(text)).toBeUndefined();
    },
  );

  it('keeps what decides about extras and groups alone', () => {
    const left = (text: string): unknown => {
      const marker = decided(parseMarker(text)!, { extras: ['x'], dependency_groups: [] });
      return typeof marker === 'object' ? markerText(marker) : marker;
    };
    expect(left("('x' in extras or os_name == 'a') and 'g' not in dependency_groups")).toBe(true);
    expect(left("'y' in extras and os_name == 'a'")).toBe(false);
    expect(left("('y' in extras or os_name == \"it's\") and os_name == 'b'")).toBe(
      `os_name == "it's" and os_name == 'b'`,
    );
    expect(left("extras == 'x'")).toBeUndefined();
    expect(left("extra == 'x'")).toBeUndefined();
  });
});

it.each(specifiers)('%j holds for %j', (text, expected) => {
  expect(versions.filter((version) => satisfies(version, text) === true)).toEqual(expected);
});

it.each(['3.9', '^3.9', '>=three', '>=3.9.*', '~=3', '>=3.9 or <4'])('%j is no set of versions', (text) => {
  expect(satisfies('3.11.7', text)).toBeUndefined();
});

it.each(['constructor == "x"', 'foo_bar == ""'])('%s is no condition', (text) => {
  expect(parseMarker(text)).toBeUndefined();
});

it('names a node whose Python the packages are not for', () => {
  const node = { name: 'gpu1', markers: values };
  assertFits({}, 'f', node);
  assertFits({ python: '>=3.9', environments: ["os_name == 'nt'", "os_name == 'posix'"] }, 'f', node);
  expect(() => {
    assertFits({ python: '>=3.12' }, 'uv.lock', node);
  }).toThrow('gpu1 has Python 3.11.7, and the packages of uv.lock are for Python >=3.12');
  expect(() => {
    assertFits({ environments: ["os_name == 'nt'"] }, 'pylock.toml', node);
  }).toThrow("gpu1 has Python 3.11.7, and the packages of pylock.toml are for os_name == 'nt'");
});
