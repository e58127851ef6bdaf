import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { SetupError } from '@holdfast/core'
import { ErrorReply } from '@redis/client'
import { hostPortText, type HostPort } from './engine-address.ts'

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

const passwordRemedy =
  'Set the password in HOLDFAST_SHARED_PASSWORD, or in a file that HOLDFAST_SHARED_PASSWORD_FILE names'

/** What the engine's user must be allowed. INFO is one of the commands that Redis calls dangerous. */
export function permissionRemedy(prefix: string): string {
  return `redis-cli ACL SETUSER USER '~${prefix}:*' '&${prefix}:*' +@all -@admin -@dangerous +info`
}

/**
 * A SetupError for an error that a person must mend: connecting again would not help. `undefined` for one that may pass, such as an
 * engine that is down.
 */
export function explainAnswer(
  error: unknown,
  at: HostPort,
  prefix: string,
): SetupError | undefined {
  if (error instanceof SetupError) return error
  const name = hostPortText(at)
  const { message } = error instanceof Error ? error : new Error(String(error))
  const refuse = (problem: string, ...remedies: string[]) =>
    new SetupError(problem, remedies, error)
  switch (answerKind(error)) {
    case 'WRONGPASS':
      return refuse(`The engine ${name} refuses the user or the password`, passwordRemedy)
    case 'NOAUTH':
      return refuse(`The engine ${name} asks for a password`, passwordRemedy)
    case 'NOPERM':
      return refuse(
        `The engine ${name} does not let the user do what is needed: ${message}`,
        permissionRemedy(prefix),
      )
    case 'DENIED':
      return refuse(
        `The engine ${name} is in protected mode: it has no password, and answers its own machine only`,
        'Set a password in its configuration: requirepass PASSWORD',
      )
    case 'NOPROTO':
      return refuse(`The engine ${name} is too old`, 'Install Valkey, or Redis 7 or later')
  }
  if (/^ERR unknown command/.test(message)) {
    return refuse(`${name} does not know a command that is needed: ${message}`, engineRemedy)
  }
  if (/DB index|SELECT is not allowed/.test(message)) {
    return refuse(`The engine ${name} does not have the database of the URL: ${message}`)
  }
  if (message.startsWith('Unknown RESP type')) {
    return refuse(
      `${name} is neither Valkey nor Redis: it answers in another protocol`,
      engineRemedy,
    )
  }
  return explainTls(error, name)
}

const engineRemedy = 'Name the host and port of Valkey, or of Redis 7 or later, in the URL'

function explainTls(error: unknown, name: string): SetupError | undefined {
  const code = codeOf(error)
  const refuse = (problem: string, ...remedies: string[]) =>
    new SetupError(problem, remedies, error)
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(code)) {
    return refuse(`The certificate of the engine ${name} is not valid today: ${reasonOf(error)}`)
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return refuse(
      `The certificate of the engine ${name} is for another host: ${reasonOf(error)}`,
      'Name the host in the URL as the certificate does',
    )
  }
  if (/SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(code)) {
    return refuse(
      `The certificate of the engine ${name} is of an authority that is not trusted`,
      'Name the file with the certificate of that authority, PEM, in --shared-ca',
    )
  }
  if (code.includes('ALERT_CERTIFICATE_REQUIRED')) {
    return refuse(
      `The engine ${name} asks for a certificate of the client`,
      'Set in its configuration: tls-auth-clients no',
    )
  }
  if (code.includes('_ALERT_')) {
    const alert = code
      .replace(/^.*_ALERT_/, '')
      .replaceAll('_', ' ')
      .toLowerCase()
    return refuse(
      `The engine ${name} refuses the TLS connection: ${alert}`,
      'If it asks for a certificate of the client, set in its configuration: tls-auth-clients no',
    )
  }
  if (code.startsWith('ERR_SSL_')) {
    return refuse(
      `${name} does not speak TLS as the URL says`,
      'Write redis:// for an engine without TLS',
    )
  }
  return undefined
}

/**
 * The same where the error alone does not show it: one side waits, or hangs up, if the other one speaks TLS and it does not. Looks at
 * the port for that, without anything secret.
 */
export async function explainConnection(
  error: unknown,
  at: HostPort,
  { prefix, tls }: { readonly prefix: string; readonly tls: boolean },
): Promise<SetupError | undefined> {
  const explained = explainAnswer(error, at, prefix)
  if (explained !== undefined || codeOf(error) === 'ECONNREFUSED') return explained
  const isSilence = error instanceof EngineAwayError || /timeout/i.test(reasonOf(error))
  const isEnd = reasonOf(error) === 'connection lost'
  if (!isSilence && !isEnd) return undefined
  const name = hostPortText(at)
  if (tls && (await answersPlainly(at))) {
    return new SetupError(`The engine ${name} does not speak TLS, but the URL says so`, [
      'Write redis:// instead of rediss://',
    ])
  }
  if (!tls && isEnd && (await answersTls(at))) {
    return new SetupError(`The engine ${name} speaks TLS, but the URL does not say so`, [
      'Write rediss:// instead of redis://',
    ])
  }
  return undefined
}

const probeTimeoutMs = 500

/** Whether a Redis without TLS answers there. */
async function answersPlainly({ host, port }: HostPort): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: probeTimeoutMs })
  socket.once('connect', () => socket.write('PING\r\n'))
  // Without a password, a Redis answers an error, which begins with a minus sign.
  socket.once('data', (chunk) => resolve(/^[+-]/.test(chunk.toString('latin1'))))
  for (const event of ['timeout', 'error', 'close']) socket.once(event, () => resolve(false))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

/** Whether a server completes, or answers, a TLS handshake there. */
async function answersTls({ host, port }: HostPort): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connectTls({ host, port, timeout: probeTimeoutMs, rejectUnauthorized: false })
  socket.once('secureConnect', () => resolve(true))
  socket.once('error', (error) => resolve(/ALERT/.test(codeOf(error))))
  for (const event of ['timeout', 'close']) socket.once(event, () => resolve(false))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
