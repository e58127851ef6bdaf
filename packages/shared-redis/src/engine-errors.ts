import { SetupError } from '@holdfast/core'
import { ErrorReply } from '@redis/client'

/** The engine does not answer, or has not answered in time. What was asked may have happened. */
export class EngineAwayError extends Error {
  override readonly name = 'EngineAwayError'
}

/** Answers of an engine that cannot do its work now, by their first word. The cause is its state, not the command. */
const awayAnswers: ReadonlySet<string> = new Set([
  'OOM',
  'READONLY',
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'NOREPLICAS',
  'BUSY',
  'MISCONF',
  // What an operator has changed while we run.
  'NOAUTH',
  'WRONGPASS',
  'NOPERM',
])

/** The first word of an answer that is an error, such as `OOM`; empty for other errors. */
export function answerKind(error: unknown): string {
  return error instanceof ErrorReply ? (/^[A-Z]+/.exec(error.message)?.[0] ?? '') : ''
}

/** Whether the error is an answer to the command itself, as for a script that is wrong: the engine works. */
export function isOwnFault(error: unknown): boolean {
  return error instanceof ErrorReply && !awayAnswers.has(answerKind(error))
}

/** Whether the cluster moves the keys of the command at this moment. It may succeed a little later; other keys are not concerned. */
export function isMoving(error: unknown): boolean {
  return ['MOVED', 'ASK', 'TRYAGAIN'].includes(answerKind(error))
}

const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name of the host cannot be resolved at the moment',
  ETIMEDOUT: 'no connection',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ECONNRESET: 'connection lost',
  EPIPE: 'connection lost',
}

/** Why the engine is away, in a few words for a log. */
export function reasonOf(error: unknown): string {
  if (error instanceof SetupError) return error.problem
  if (!(error instanceof Error)) return String(error)
  const known = codes[codeOf(error)]
  if (known !== undefined) return known
  if (error.message.startsWith('Socket closed')) return 'connection lost'
  return error.message.split('\n', 1)[0] ?? ''
}

/** The `code` of a system error or a TLS error; empty for others. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * Awaits `work` for at most `ms` milliseconds.
 *
 * @throws EngineAwayError afterwards; `work` goes on, and its result is dropped
 */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const give = () => reject(new EngineAwayError(`no answer within ${ms} ms`))
  // Where this process itself was suspended, the answer may lie in the socket: it is read before `setImmediate` calls back.
  const timer = setTimeout(() => setImmediate(give), ms)
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
