// Every command, view and setting with its types. A test holds package.json against this.

/** A run as commands get it from the tree; from the palette they get nothing and ask. */
export interface RunArgument {
  id: string;
  dir: string;
}

/** Command ids with their arguments. */
export interface CommandArguments {
  'trainyard.refresh': [];
  'trainyard.runTraining': [];
  'trainyard.stopRun': [run?: RunArgument];
  'trainyard.openLogs': [run?: RunArgument];
  'trainyard.openProfiles': [];
}
export type CommandId = keyof CommandArguments;

/** The table whose keys the compiler holds against the interface. */
const commandTable: Record<CommandId, true> = {
  'trainyard.refresh': true,
  'trainyard.runTraining': true,
  'trainyard.stopRun': true,
  'trainyard.openLogs': true,
  'trainyard.openProfiles': true,
};
export const commandIds = Object.keys(commandTable) as CommandId[];

export const viewIds = { clusters: 'trainyard.clusters', runs: 'trainyard.runs' } as const;

/** Settings with the type and default that package.json declares. */
export interface Settings {
  'trainyard.home': string;
  'trainyard.refreshInterval': number;
}
export const settingDefaults: Settings = {
  'trainyard.home': '',
  'trainyard.refreshInterval': 2,
};

/** `contextValue`s of tree items, which menus ask for. */
export const contextValues = { activeRun: 'run.active', overRun: 'run.over' } as const;
