/** Is called once for each change; the reason is in words, and empty if the engine is back. */
export type AwayListener = (isAway: boolean, reason: string) => void

/** Whether the engine is away, and why. */
export interface AwayState {
  isAway(): boolean
  /** Empty if it is not away. */
  reason(): string
  onChange(listener: AwayListener): void
  /** Says that the engine is away, for a reason in words; with an empty reason, that it is back. */
  set(reason: string): void
  /** Notifies no one any more. */
  end(): void
}

/** Makes an {@link AwayState}, which is away at first. */
export function createAwayState(): AwayState {
  const listeners: AwayListener[] = []
  let reason = 'not connected yet'
  return {
    isAway: () => reason !== '',
    reason: () => reason,
    onChange: (listener) => void listeners.push(listener),
    set(why) {
      const hasChanged = (why === '') !== (reason === '')
      reason = why
      if (!hasChanged) return
      for (const listener of listeners) listener(why !== '', why)
    },
    end: () => void listeners.splice(0),
  }
}
