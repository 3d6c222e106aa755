// The commands of a profile, loaded when one of them is first used (../../lazy.ts).
export { addProfile } from './addProfile.js';
export { chooseKey } from './chooseKey.js';
export { duplicateProfile } from './duplicateProfile.js';
export { editProfile } from './editProfile.js';
export { exportProfile } from './exportProfile.js';
export { importProfile } from './importProfile.js';
export { offerShared } from './importShared.js';
export { openProfiles } from './openProfiles.js';
export { removeProfile } from './removeProfile.js';
export { setPrice } from './setPrice.js';
