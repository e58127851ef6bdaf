import { SetupError } from '@holdfast/core'
import { ErrorReply } from '@redis/client'

/**
 * The engine does not answer, or has not answered in time. What was asked may have happened, or may still happen: an engine that stood
 * still runs what it has received.
 */
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

/** Whether the error is one of the command itself, as for a script that is wrong: the engine works. */
export function isOwnFault(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
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

/** The same for answers of an engine that cannot do its work, by their first word. */
const answers: Readonly<Record<string, string>> = {
  OOM: 'the memory of the engine is full: maxmemory',
  READONLY: 'the engine is a replica, which takes no changes',
  LOADING: 'the engine loads its data',
  MASTERDOWN: 'the engine is a replica that has lost its master',
  CLUSTERDOWN: 'the cluster is down',
  NOREPLICAS: 'the engine has too few replicas in reach: min-replicas-to-write',
  BUSY: 'a script of another program runs in the engine for too long',
  MISCONF: 'the engine cannot write to its disk',
}

/** Why the engine is away, in a few words for a log. */
export function reasonOf(error: unknown): string {
  if (error instanceof SetupError) return error.problem
  if (!(error instanceof Error)) return String(error)
  const known = codes[codeOf(error)]
  if (known !== undefined) return known
  const kind = answerKind(error)
  const answer = answers[kind]
  // An operator looks up the word that the engine has for it.
  if (answer !== undefined) return `${answer} (${kind})`
  if (error.message.startsWith('Socket closed')) return 'connection lost'
  return error.message.split('\n', 1)[0] ?? ''
}

/** The `code` of a system error or a TLS error; empty for others. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** How late a timer must be for the process to have stood still, in milliseconds. */
const noticedDelayMs = 20

/** How long it then waits for an answer, in milliseconds. */
const graceMs = 100

/**
 * Awaits `work` for at most `ms` milliseconds; a little longer only where this process itself stood still.
 *
 * @throws EngineAwayError afterwards; `work` goes on, and its result is dropped
 */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const give = () => reject(new EngineAwayError(`no answer within ${ms} ms`))
  const due = performance.now() + ms
  let timer = setTimeout(() => {
    // Where this process itself stood still, the answer may lie in the socket, and the command may not even be sent.
    if (performance.now() - due > noticedDelayMs) timer = setTimeout(give, graceMs)
    else setImmediate(give)
  }, ms)
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
