// The least value of a smooth function of a few numbers, by the simplex of Nelder and Mead. It is
// started anew where it stopped, for a simplex can collapse.

const rounds = 3;
const steps = 400;

/** From `start`; the numbers are about 1 apart in scale (logarithms). Always the same result. */
export function minimize(
  of: (at: readonly number[]) => number,
  start: readonly number[],
): { at: number[]; value: number } {
  let best = { at: [...start], value: of(start) };
  for (let round = 0; round < rounds; round++) {
    const found = simplex(of, best.at, 0.7 / (round + 1));
    if (found.value < best.value) best = found;
  }
  return best;
}

interface Corner {
  at: number[];
  value: number;
}

function simplex(of: (at: readonly number[]) => number, start: readonly number[], size: number): Corner {
  const corner = (at: number[]): Corner => ({ at, value: of(at) });
  let corners = [
    corner([...start]),
    ...start.map((_, moved) => corner(start.map((value, at) => (at === moved ? value + size : value)))),
  ];
  for (let step = 0; step < steps; step++) {
    corners.sort((a, b) => a.value - b.value);
    const [best, worst] = [corners[0], corners.at(-1)];
    if (!best || !worst || worst.value - best.value < 1e-9) break;
    const kept = corners.slice(0, -1);
    const centre = start.map(
      (_, at) => kept.reduce((sum, each) => sum + (each.at[at] ?? 0), 0) / kept.length,
    );
    const along = (by: number): Corner =>
      corner(centre.map((value, at) => value + by * ((worst.at[at] ?? 0) - value)));
    const reflected = along(-1);
    if (reflected.value < best.value) {
      const further = along(-2);
      corners = [...kept, further.value < reflected.value ? further : reflected];
    } else if (reflected.value < (kept.at(-1)?.value ?? Infinity)) corners = [...kept, reflected];
    else {
      const inside = along(0.5);
      corners =
        inside.value < worst.value
          ? [...kept, inside]
          : corners.map(({ at }) => corner(at.map((value, index) => ((best.at[index] ?? 0) + value) / 2)));
    }
  }
  return corners.reduce((a, b) => (b.value < a.value ? b : a));
}
