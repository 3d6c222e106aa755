// What a checkpoint takes pictures for, in a tab. It is not kept when the window is loaded anew.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { whole } from '../figureText.js';
import type { Services } from '../services.js';
import { makeNonce } from './html.js';
import { predictionPage, type Predicted } from './predictionPage.js';
import { tabIcon } from './tabIcon.js';

const panelType = 'trainyard.predictions';

export function showPredictions(services: Services, predicted: Predicted): void {
  const styles = vscode.Uri.file(services.context.asAbsolutePath('dist/webview'));
  const folders = new Set(predicted.predictions.map(({ file }) => dirname(file)));
  const title = `Predictions of Step ${whole(predicted.step)}`;
  const panel = vscode.window.createWebviewPanel(panelType, title, vscode.ViewColumn.Active, {
    enableFindWidget: true,
    localResourceRoots: [styles, ...[...folders].map((folder) => vscode.Uri.file(folder))],
  });
  panel.iconPath = tabIcon(services);
  const { webview } = panel;
  webview.html = predictionPage(predicted, {
    source: webview.cspSource,
    style: webview.asWebviewUri(vscode.Uri.joinPath(styles, 'dashboard.css')).toString(),
    nonce: makeNonce(),
    addressOf: (file) => webview.asWebviewUri(vscode.Uri.file(file)).toString(),
  });
}
