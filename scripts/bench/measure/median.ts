/** The middle one of `values`, or what lies between the middle two. NaN where there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which the part `share` of `values` lies, between two of them if need be. NaN where there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const [below, above] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN]
  return below + (above - below) * (at - Math.floor(at))
}

/** The middle of several measurements, and how far they lie apart. NaN where there are none. */
export interface Summary {
  readonly median: number
  /** Between these lies the middle half of them. */
  readonly quartiles: readonly [number, number]
}

export function summaryOf(values: readonly number[]): Summary {
  return { median: median(values), quartiles: [quantile(values, 0.25), quantile(values, 0.75)] }
}
