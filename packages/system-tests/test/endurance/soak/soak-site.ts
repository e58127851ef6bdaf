import type { SoakCustomer } from './turn.ts'

/** A server under test. */
export interface RunningSoakServer {
  readonly url: string
  /** As `kill -9` does; resolves when it is gone. */
  kill(): Promise<void>
  /** As SIGTERM does; resolves with the exit code, or what else it ended by. */
  stop(): Promise<number | string | null>
  /** As SIGSTOP does, and SIGCONT after so many milliseconds; resolves then. Not for servers in the process of the test. */
  readonly suspend?: (ms: number) => Promise<void>
  /** Resolves, with the reason, when it is gone, whoever ended it. */
  readonly ended: Promise<unknown>
}

/** Where the servers under test keep their files: one after the other, or several at once. */
export interface SoakSite {
  start(): Promise<RunningSoakServer>
  /**
   * Looks behind the servers, none of which is doing anything, and says what is wrong: what is there of no file, or how
   * many bytes of a customer's files there are.
   * @param bytes what each customer's files must come to
   * @param live how many servers there are, and nothing of any other; `undefined` when one was killed beside them
   */
  problems(bytes: ReadonlyMap<string, number>, live: number | undefined): Promise<readonly string[]>
  remove(): Promise<void>
}

export type OpenSoakSite = (customers: readonly SoakCustomer[]) => Promise<SoakSite>
