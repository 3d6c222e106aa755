// What the commands act on.
import type { ContextKeys } from '../contextKeys.js';
import type { RunForms } from '../form/runForms.js';
import type { CheckPanels } from '../panels/checkPanel.js';
import type { ComparePanels } from '../panels/comparePanel.js';
import type { DashboardPanel } from '../panels/dashboardPanel.js';
import type { ReportPanels } from '../panels/reportPanel.js';
import type { RunPanels } from '../panels/runPanels.js';
import type { TensorBoardPanel } from '../panels/tensorboardPanel.js';
import type { ReadOnlyDocuments } from '../readOnlyDocuments.js';
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
  dashboards: RunPanels<DashboardPanel>;
  tensorboards: RunPanels<TensorBoardPanel>;
  terminals: RunTerminals;
  checks: CheckPanels;
  comparisons: ComparePanels;
  reports: ReportPanels;
  forms: RunForms;
  documents: ReadOnlyDocuments;
  showOutput: () => void;
}
