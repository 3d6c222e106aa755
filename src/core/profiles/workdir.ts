// The folder of a node that everything of ours lies in.
import { nodePath, withHome, type NodePath } from '../base/nodePath.js';
import type { Profile } from '../contracts/profileSchema.js';

/** The profile's workdir as it stands there, or the default. */
export function givenWorkdir(profile: Profile): NodePath {
  return nodePath(profile.workdir ?? '~/.trainyard');
}

/** The profile's workdir with `~` replaced by the node's home folder. */
export function workdirOf(profile: Profile, home: NodePath): NodePath {
  return withHome(home, givenWorkdir(profile));
}
