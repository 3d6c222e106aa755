// The commands of a cluster and its nodes, loaded when one of them is first used (../../lazy.ts).
export { checkProfile } from './checkProfile.js';
export { closeTunnel } from './closeTunnel.js';
export { connect } from './connect.js';
export { copyNodeName } from './copyNodeName.js';
export { copyToAll } from './copyToAll.js';
export { copyToNode } from './copyToNode.js';
export { disconnect } from './disconnect.js';
export { fixCheck } from './fixCheck.js';
export { nodeTerminal, openNodeTerminal } from './openNodeTerminal.js';
export { openTunnel } from './openTunnel.js';
export { runOnAll } from './runOnAll.js';
