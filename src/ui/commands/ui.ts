// What the commands act on.
import type { ContextKeys } from '../contextKeys.js';
import type { DashboardPanels } from '../panels/dashboardPanel.js';
import type { TensorBoardPanels } from '../panels/tensorboardPanel.js';
import type { Services } from '../services.js';
import type { RunTerminals } from '../terminal/runTerminals.js';
import type { CheckpointTree } from '../tree/checkpointTree.js';
import type { ClusterTree } from '../tree/clusterTree.js';
import type { RunTree } from '../tree/runTree.js';

export interface Ui {
  services: Services;
  keys: ContextKeys;
  clusters: ClusterTree;
  runs: RunTree;
  checkpoints: CheckpointTree;
  dashboards: DashboardPanels;
  tensorboards: TensorBoardPanels;
  terminals: RunTerminals;
  showOutput: () => void;
}
