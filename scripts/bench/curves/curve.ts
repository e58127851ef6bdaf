import type { RunningSubject, StartOptions } from '../subjects/subject.ts'

/** What was measured at one size, by the names of the figures. */
export interface Point {
  readonly at: number
  readonly figures: Readonly<Record<string, number>>
}

/** Starts a holdfast of its own in an empty directory; a function that stops it is kept for the end. */
export type Start = (directory: string, options?: StartOptions) => Promise<RunningSubject>

/** How cost grows with one thing. */
export interface Curve {
  readonly name: string
  readonly title: string
  /** What the sizes count, in the plural. */
  readonly unit: string
  /** The sizes, ascending. */
  readonly sizes: readonly number[]
  /** `directory` is empty and is removed afterwards. */
  measure(size: number, start: Start, directory: string): Promise<Point['figures']>
}
