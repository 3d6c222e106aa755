// What every chart's time axis is made of.

/** Distances between ticks of the time axis that people can count in. */
export const tickSteps = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
  86_400, 172_800, 604_800,
];

export const fontSize = 11;
