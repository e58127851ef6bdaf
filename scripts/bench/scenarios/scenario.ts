import type { Figure, Figures } from '../measure/figures.ts'
import type { Measurable, RunningSubject, StartOptions, Subject } from '../subjects/subject.ts'

/** One kind of work on one subject, done anew in each round. */
export interface Lane {
  readonly subject: string
  /** Distinguishes the lanes of a subject; the same on all subjects with the same work. */
  readonly work: string
  /** Round 0 is to warm up, and what it brings does not count. */
  measure(round: number): Promise<Figures>
}

/** What a scenario has at hand; all of it is stopped and removed when the scenario ends. */
export interface Bench {
  /** An empty directory. */
  readonly directory: string
  /** Whether a first impression will do: less of everything. */
  readonly isQuick: boolean
  /** How long to send requests for one measurement. */
  readonly seconds: number
  /** Aborts when the scenario ends before its time. */
  readonly interrupted: AbortSignal
  /** The server of this checkout and, with `--against`, that of another. */
  readonly holdfasts: readonly Subject[]
  /** Starts those of `subjects` that are available. */
  start(subjects: readonly Subject[], options?: StartOptions): Promise<readonly RunningSubject[]>
  /** Those of `subjects` that are wanted and can be had; the others are reported as missing. */
  available<One extends Measurable>(subjects: readonly One[]): Promise<readonly One[]>
  /** Reports that something cannot be measured, and why. */
  miss(what: string, reason: string): void
}

/** Work that subjects are compared by. */
export interface Scenario {
  readonly name: string
  readonly title: string
  /** How it is measured, in a sentence or two. */
  readonly how: string
  /** What decides. */
  readonly compared: Figure
  /** How many rounds are enough, where one takes long. Default: as many as are asked for. */
  readonly rounds?: number
  prepare(bench: Bench): Promise<readonly Lane[]>
}
