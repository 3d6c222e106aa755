// The Python of this machine that the user chose in the Python extension.
import * as vscode from 'vscode';
import type { Services } from './services.js';
import { errorWords } from './remedies.js';

/** What of the Python extension's interface is used here. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: {
      path: string;
    }): Promise<{ executable: { uri: vscode.Uri | undefined } } | undefined>;
  };
}

/** What a node is asked for, and this machine where nobody chose another one. */
export const usualPython = 'python3';

/** `python3` where that extension is not there, or does not say. */
export async function chosenPython({ logger }: Services, file: vscode.Uri): Promise<string> {
  const extension = vscode.extensions.getExtension<PythonApi | undefined>('ms-python.python');
  if (extension === undefined) return usualPython;
  try {
    const { environments } = (await extension.activate()) ?? {};
    if (environments === undefined) return usualPython;
    const found = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(file));
    return found?.executable.uri?.fsPath ?? usualPython;
  } catch (error) {
    logger.log('info', `the Python extension named no interpreter: ${errorWords(error)}`);
    return usualPython;
  }
}
