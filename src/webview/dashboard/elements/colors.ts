// The theme's chart colours by name; apart from how they are read, which only a browser can.

export type ChartColor = 'blue' | 'red' | 'green' | 'orange' | 'purple' | 'yellow';
