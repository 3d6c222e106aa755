// In which order profiles stand where one is asked for. The first one is preselected.
import type { ClusterSession } from '../../core/follow/clusterSession.js';

/** Of a session, what its place depends on. */
interface Ordered {
  profile: Pick<ClusterSession['profile'], 'name' | 'kind'>;
  state: Pick<ClusterSession['state'], 'kind'>;
}

/** First the profiles of these names, then other machines that are connected, then the rest. */
export function orderedProfiles<S extends Ordered>(
  sessions: readonly S[],
  first: readonly (string | undefined)[],
): S[] {
  const rank = ({ profile, state }: S): number => {
    const place = first.indexOf(profile.name);
    if (place >= 0) return place;
    return first.length + (state.kind === 'connected' && profile.kind !== 'local' ? 0 : 1);
  };
  return [...sessions].sort((a, b) => rank(a) - rank(b));
}
