import { expect, it } from 'vitest';
import { readManifest } from '../../../../src/core/checkpoints/partial.js';

const text = (...names: string[]): string =>
  JSON.stringify({
    ...{ version: 1, step: 1, time: 1, model: 'mlp', classes: 2 },
    files: names.map((name) => ({ name, bytes: 1, sha256: '0'.repeat(64) })),
  });

it('takes a manifest whose files have plain names', () => {
  const { files } = readManifest(text('model.safetensors', 'state.json'), 'm');
  expect(files.map(({ name }) => name)).toEqual(['model.safetensors', 'state.json']);
});

it.each(['../up', 'a/b', 'a\\b', '..', 'C:x', '', '.hidden', 'manifest.json', 'a'.repeat(102)])(
  'refuses one that names %j: a node must not choose where on this machine is written',
  (name) => {
    expect(() => readManifest(text('state.json', name), 'm')).toThrow('m is no manifest of a checkpoint');
  },
);

it('refuses a name that stands twice, and what is no manifest', () => {
  expect(() => readManifest(text('a', 'a'), 'm')).toThrow('twice');
  for (const wrong of ['', '{', '{}', text()]) expect(() => readManifest(wrong, 'm')).toThrow('no manifest');
});
