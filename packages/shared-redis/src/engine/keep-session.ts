import { setTimeout as delay } from 'node:timers/promises'
import { SetupError } from '@holdfast/core'
import { EngineAwayError, reasonOf, within, explainAnswer } from './engine-errors.ts'
import { backoffMs, connectTimeoutMs, type EngineSettings } from './engine-settings.ts'
import { openSession, type Session } from './session.ts'

/** A session with the engine, and another one after each that has ended. */
export interface SessionKeeper {
  readonly state: AwayState
  /** The session, also while the engine is away but connected. */
  current(): Session | undefined
  /** Resolves with the session, or with the next one. */
  wait(): Promise<Session>
  /** The history of the session, or of the last one. */
  history(): string
  /** Gives a heartbeat at once, unless one waits for its answer. */
  beat(): void
  /** Resolves when the engine is reached for the first time. Rejects with the first SetupError, and connects again all the same. */
  readonly first: Promise<unknown>
  /** Ends the session, after `leave`. */
  close(leave: (session: Session) => Promise<unknown>): Promise<void>
}

/** What a keeper does with a session. */
interface SessionUse {
  /** Runs before the session is used for anything else. */
  readonly begin: (session: Session, isNewHistory: boolean) => Promise<unknown>
  /** Rejects if the engine cannot do its work. */
  readonly giveBeat: (session: Session) => Promise<unknown>
}

/** How many signs of life a server gives within a lease. */
const beatsPerLease = 10

/** After how long without an answer a connection is given up, in milliseconds. */
export const silenceMs = 1_000

/** Connects for ever, and gives heartbeats. */
export function keepSession(
  settings: EngineSettings,
  { begin, giveBeat }: SessionUse,
): SessionKeeper {
  const { leaseMs, timeoutMs, now } = settings
  const state = createAwayState()
  const closing = new AbortController()
  const isClosing = () => closing.signal.aborted
  const first = Promise.withResolvers<undefined>()
  // It may reject when no one waits for it any more.
  first.promise.catch(() => {})
  let next = Promise.withResolvers<Session>()
  let session: Session | undefined
  let history = ''

  const enter = async (opened: Session) => {
    const isNew = history !== opened.history
    try {
      await within(begin(opened, isNew), connectTimeoutMs)
    } catch (error) {
      const [at] = opened.nodes
      throw (at && explainAnswer(error, at.at, settings.prefix)) ?? error
    }
    if (isClosing() || opened.isLost()) return
    // Nothing may come between: scripts run from here on.
    history = opened.history
    session = opened
    next.resolve(opened)
    state.set('')
    first.resolve(undefined)
  }
  const live = async () => {
    const opened = await openSession(settings)
    try {
      // Otherwise the others would see this server alive after it has left.
      if (isClosing()) return
      await enter(opened)
      if (isClosing()) return
      state.set(reasonOf(await opened.lost))
    } finally {
      if (session !== undefined) next = Promise.withResolvers()
      session = undefined
      opened.destroy()
    }
  }
  const keep = async () => {
    for (let failures = 0; !isClosing(); failures++) {
      const began = now()
      await live().catch((error: unknown) => {
        state.set(reasonOf(error))
        if (error instanceof SetupError) first.reject(error)
      })
      if (now() - began > leaseMs) failures = 0
      await delay(backoffMs(failures), undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  /** The engine is back if it answers in time. A connection that stays silent is ended. */
  const tryBeat = async (at: Session) => {
    const answered = within(giveBeat(at), Math.max(silenceMs, timeoutMs))
    try {
      await within(answered, timeoutMs)
      if (session === at && !at.isLost()) state.set('')
    } catch (error) {
      if (session === at) state.set(reasonOf(error))
      await answered.catch((cause: unknown) => at.destroy(asError(cause)))
    }
  }
  let beating = false
  const beat = () => {
    if (session === undefined || beating) return
    beating = true
    const wasAway = state.isAway()
    void tryBeat(session).finally(() => {
      beating = false
      // It has answered late: try once more before the next time.
      if (!wasAway && state.isAway()) beat()
    })
  }
  const timer = setInterval(beat, leaseMs / beatsPerLease)
  timer.unref()
  void keep()

  return {
    state,
    current: () => session,
    wait: async () => session ?? next.promise,
    history: () => history,
    beat,
    first: first.promise,
    async close(leave) {
      state.end()
      clearInterval(timer)
      closing.abort()
      const last = session
      if (last !== undefined) await within(leave(last), timeoutMs).catch(() => {})
      last?.destroy(new EngineAwayError('this server has left'))
    },
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new EngineAwayError(String(error))
}

/** Is called once for each change; the reason is in words, and empty if the engine is back. */
export type AwayListener = (isAway: boolean, reason: string) => void

/** Whether the engine is away, and why. */
interface AwayState {
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
function createAwayState(): AwayState {
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
