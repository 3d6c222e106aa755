// Add Cluster, loaded when it is first used (../../lazy.ts).
export { addCluster } from './addCluster.js';
