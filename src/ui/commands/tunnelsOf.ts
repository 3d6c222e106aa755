// The tunnels of a cluster that is connected.
import { UserError } from '../../core/base/errors.js';
import type { ClusterSession } from '../../core/follow/clusterSession.js';
import type { Tunnels } from '../../core/tunnels/tunnels.js';

/** UserError (connection) where the cluster was disconnected meanwhile. */
export function tunnelsOf({ profile, tunnels }: ClusterSession): Tunnels {
  if (tunnels) return tunnels;
  const hint = { kind: 'connectAgain', profile: profile.name } as const;
  throw new UserError('connection', 'the cluster was disconnected', hint);
}
