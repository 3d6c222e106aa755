// What is wrong with something that was typed.
import { errorWords } from '../remedies.js';

export function problemOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return errorWords(error);
  }
}
