// Which profile a question preselects.
import { expect, it } from 'vitest';
import { orderedProfiles } from '../../../../src/ui/commands/profileOrder.js';

type Kind = 'local' | 'ssh';
const session = (name: string, kind: Kind, state: 'connected' | 'disconnected') => ({
  profile: { name, kind },
  state: { kind: state },
});
const local = session('local', 'local', 'connected');
const names = (sessions: readonly { profile: { name: string } }[], ...first: (string | undefined)[]) =>
  orderedProfiles(sessions as (typeof local)[], first).map(({ profile }) => profile.name);

it('puts this machine first where nothing was used yet and nothing is connected', () => {
  expect(names([local, session('lab', 'ssh', 'disconnected')], '', undefined)).toEqual(['local', 'lab']);
});

it('puts a connected cluster before this machine', () => {
  const all = [local, session('lab', 'ssh', 'disconnected'), session('rack', 'ssh', 'connected')];
  expect(names(all, '', undefined)).toEqual(['rack', 'local', 'lab']);
});

it('puts the default profile first, then the one that was used last', () => {
  const all = [local, session('lab', 'ssh', 'disconnected'), session('rack', 'ssh', 'connected')];
  expect(names(all, '', 'lab')).toEqual(['lab', 'rack', 'local']);
  expect(names(all, 'local', 'lab')).toEqual(['local', 'lab', 'rack']);
  expect(names(all, 'gone', 'also gone')).toEqual(['rack', 'local', 'lab']);
});
