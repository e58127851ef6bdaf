/** What is measured, by the name it has in results. */
export const figureTitles = {
  perSecond: 'per second',
  mibPerSecond: 'MiB/s',
  seconds: 's',
  ms: 'ms',
  p99Ms: '99 % within, ms',
  firstByteMs: 'first byte, ms',
  blockedMs: 'event loop blocked, ms',
  otherMs: 'slowest other request, ms',
  cpuMicroseconds: 'CPU, µs each',
  engineMicroseconds: 'CPU of Redis, µs each',
  cpuPerGiB: 'CPU, s/GiB',
  peakMiB: 'peak RSS, MiB',
  growthMiB: 'RSS growth, MiB',
} as const

export type Figure = keyof typeof figureTitles

/** One measurement. */
export type Figures = Readonly<Partial<Record<Figure, number>>>

/** Whether more of it is better; for times and memory, less is. */
export const isMoreBetter = (figure: Figure) => figure === 'perSecond' || figure === 'mibPerSecond'
