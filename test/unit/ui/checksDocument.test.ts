import { expect, it, vi } from 'vitest';
import { checksMarkdown } from '../../../src/ui/commands/cluster/checksDocument.js';

vi.mock('vscode', () => ({}));

it('puts what failed first, with what to do, and lets no text break the table', () => {
  const text = checksMarkdown('lab', [
    { name: 'python', ok: true, detail: '3.11.2', hint: '', host: 'gpu1' },
    { name: 'disk', ok: false, detail: '0.1 GB | free\nin <b>', hint: 'Free some `space`', host: 'gpu2' },
    { name: 'workdir', ok: false, detail: 'no', hint: { kind: 'otherWorkdir', host: 'gpu2' }, host: 'gpu2' },
  ]);
  expect(text.split('\n')).toEqual([
    '# Checks of lab',
    '',
    '2 of 3 checks failed.',
    '',
    '| Failed | Node | What it is | What to do |',
    '| --- | --- | --- | --- |',
    '| **disk** | gpu2 | 0.1 GB \\| free in \\<b\\> | Free some \\`space\\` |',
    '| **workdir** | gpu2 | no | Give the profile another "workdir", which this user may write and run programs in |',
    '',
    '| Passed | Node | |',
    '| --- | --- | --- |',
    '| python | gpu1 | 3.11.2 |',
    '',
  ]);
  expect(checksMarkdown('lab', [])).toContain('Everything is as a run needs it');
});
