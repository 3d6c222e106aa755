// The tunnels of each profile, opened again when it is connected again.
import type { Memento } from 'vscode';

const key = (profile: string): string => `trainyard.tunnels.${profile}`;

/** As `parseTunnel` reads them. */
export function rememberedTunnels(memory: Memento, profile: string): readonly string[] {
  return memory.get<string[]>(key(profile)) ?? [];
}

export async function rememberTunnel(memory: Memento, profile: string, tunnel: string): Promise<void> {
  const others = rememberedTunnels(memory, profile).filter((each) => each !== tunnel);
  await memory.update(key(profile), [...others, tunnel]);
}

export async function forgetTunnel(memory: Memento, profile: string, tunnel: string): Promise<void> {
  const others = rememberedTunnels(memory, profile).filter((each) => each !== tunnel);
  await memory.update(key(profile), others);
}
