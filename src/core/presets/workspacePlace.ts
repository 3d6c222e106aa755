/** Where a workspace keeps presets and profiles, below its folder. */
export const workspacePlace = '.vscode/trainyard.json';
