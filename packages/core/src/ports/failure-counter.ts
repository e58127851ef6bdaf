/** How often something failed lately. */
export interface FailureCount {
  readonly failures: number
  /** Milliseconds until these failures are forgotten; 0 where there are none. */
  readonly forgottenInMs: number
}

/**
 * Counts failures by key within a window of time that the counter was made with; the window of a key begins with its
 * first failure. Servers that share a counter share the brake on bad logins.
 */
export interface FailureCounter {
  /**
   * The failures of `key` in its window. Asked at every request of a customer: a counter that knows says it at once, and
   * gives a promise only where it has to ask.
   */
  read(key: string): FailureCount | Promise<FailureCount>
  /** Counts one more failure of `key`. */
  add(key: string): Promise<void>
}
