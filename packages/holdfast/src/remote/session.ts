import { constants } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import {
  createClient,
  isHoldfastError,
  type Client,
  type ClientOptions,
  createThrottledTransport,
  type Transport,
} from '@holdfast/client'
import { parseByteSize, messageOf } from '@holdfast/core'
import { isReaderGone, standardError } from '../terminal/print.ts'
import { stopOnSignal } from '../terminal/stop-on-signal.ts'
import { CommandError, exitCodes, explain } from './errors.ts'
import { parsed, textIn, type VerbArguments } from './client-verb.ts'
import { findLogin, type Login } from './profile.ts'
import { createReport, type Report, type ReportOptions } from './report.ts'
import { createScreen, type Screen } from './screen.ts'

/** What a verb uses. */
export interface Remote {
  readonly client: Client
  /** Whether the server answers at all; asked after a file had no answer for half a minute, so within some seconds. */
  readonly answers: (signal: AbortSignal) => Promise<boolean>
  readonly login: Login
  readonly report: Report
  /** Aborts at the first signal that ends the program. */
  readonly signal: AbortSignal
}

/**
 * Runs a verb with a client of the login; resolves with the exit code of the report, or 128 plus its number if a signal ended it.
 *
 * @throws CommandError for the error that ended the verb
 */
export async function withRemote(
  argv: VerbArguments,
  work: (remote: Remote) => Promise<void>,
  report: Report = createReport(outputOf(argv)),
): Promise<number> {
  const rate = parsed(argv, 'limit-rate', parseRate)
  const login = await findLogin(process.env, textIn(argv, 'profile'))
  const interruption = stopOnSignal()
  const { signal } = interruption
  const answers = async (until: AbortSignal) =>
    clientOf(login, report, { retries: 2 })
      .ping({ signal: until })
      .then(
        () => true,
        (error: unknown) => !isHoldfastError(error, 'no-answer'),
      )
  try {
    const client = clientOf(login, report, limited(rate))
    await work({ client, answers, login, report, signal })
    return report.exitCode()
  } catch (error) {
    if (isReaderGone(error)) return exitCodes.readerGone
    const stoppedBy = interruption.name()
    if (stoppedBy !== undefined && signal.aborted) {
      report.note(`Stopped by ${stoppedBy}.`)
      return 128 + constants.signals[stoppedBy]
    }
    throw isHoldfastError(error) ? explain(error, 'Failed') : error
  }
}

/** What `--json` and `--quiet` say of the output. */
function outputOf({ json, quiet }: VerbArguments): ReportOptions {
  return { isJson: json === true, isQuiet: quiet === true }
}

function limited(bytesPerSecond: number | undefined): Pick<ClientOptions, 'transport'> {
  return bytesPerSecond === undefined ? {} : { transport: limitRate(bytesPerSecond) }
}

function clientOf(
  { url, name, password }: Login,
  report: Report,
  options: Pick<ClientOptions, 'retries' | 'transport'>,
): Client {
  try {
    return createClient({
      url,
      name,
      password,
      ...options,
      onRetry: ({ error, delayMs }) =>
        report.note(`${error.message}; trying again in ${Math.ceil(delayMs / 1000)} s`),
    })
  } catch (error) {
    const reason = messageOf(error)
    throw new CommandError(exitCodes.login, `The login cannot be used: ${reason}.`)
  }
}

/** What a verb that transfers content uses. */
export interface RemoteWithScreen extends Remote {
  readonly screen: Screen
}

/** Like {@link withRemote}, with the progress of files on standard error. */
export async function withTransfers(
  argv: VerbArguments,
  work: (remote: RemoteWithScreen) => Promise<void>,
): Promise<number> {
  const output = outputOf(argv)
  const screen = createScreen(standardError(), process.env, output.isQuiet)
  const report = createReport(output, (line) => screen.line(line))
  try {
    return await withRemote(argv, (remote) => work({ ...remote, screen }), report)
  } finally {
    screen.end()
  }
}

/**
 * A transport that moves at most `bytesPerSecond` up and down together, over all requests of the command: a token bucket that holds a quarter
 * of a second.
 */
function limitRate(bytesPerSecond: number): Transport {
  let readyAt = performance.now()
  const burstMs = 250
  return createThrottledTransport({
    largestChunk: Math.max(512, Math.floor(bytesPerSecond / 8)),
    async wait(bytes, signal) {
      const now = performance.now()
      readyAt = Math.max(readyAt, now - burstMs) + (bytes / bytesPerSecond) * 1000
      if (readyAt > now) await setTimeout(readyAt - now, undefined, { signal })
    },
  })
}

/**
 * Bytes in a second, such as `2M`, `500k` or `2 MiB`.
 *
 * @throws RangeError
 */
function parseRate(text: string): number {
  const rate = parseByteSize(/[kKMGT]$/.test(text) ? `${text}B` : text)
  if (rate >= 1) return rate
  throw new RangeError('is less than a byte in a second')
}
