import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { SetupError } from '@holdfast/core'
import { headerProblem } from '@holdfast/credentials-file/messages'
import { standardError } from './print.ts'

/** The most files that are deleted, or restored, without a question on a terminal. */
export const mostUnasked = 10

/** Whether someone can answer a question. */
export function isTerminal(): boolean {
  return process.stdin.isTTY && standardError().isTTY
}

/**
 * Asks a yes-no question on the terminal; resolves with whether the answer is yes.
 *
 * @throws SetupError if there is no answer; the reason of `signal`, which ends the question
 */
export async function confirm(question: string, signal?: AbortSignal): Promise<boolean> {
  const answer = await ask(`${question} [y/N] `, { isSecret: false, signal })
  return /^y(es)?$/i.test(answer.trim())
}

/** How a question ends. */
interface Ending {
  readonly answer?: string
  readonly isInterrupted?: boolean
}

/**
 * Asks for a line on the terminal. The question goes to standard error. The input is visible unless it is secret.
 *
 * @throws SetupError if there is no answer; the reason of `signal`, which ends the question
 */
export async function ask(
  question: string,
  { isSecret, signal }: { readonly isSecret: boolean; readonly signal?: AbortSignal | undefined },
): Promise<string> {
  signal?.throwIfAborted()
  const answered = new AbortController()
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Readline switches off the terminal's own echo only for a terminal.
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? unseen : standardError(),
    terminal: true,
    historySize: 0,
  })
  if (isSecret) standardError().write(question)
  else lines.setPrompt(question)
  lines.prompt()
  const { answer, isInterrupted } = await Promise.race<Ending>([
    once(lines, 'line').then(([line]) => ({ answer: String(line) })),
    once(lines, 'close').then(() => ({})),
    once(lines, 'SIGINT').then(() => ({ isInterrupted: true })),
    ...(signal ? [once(signal, 'abort', answered).then(() => ({}))] : []),
  ]).finally(() => {
    answered.abort()
    lines.close()
    if (isSecret || signal?.aborted) standardError().write('\n')
  })
  if (answer !== undefined) return answer
  if (isInterrupted) interrupt()
  signal?.throwIfAborted()
  throw new SetupError('There was no answer.')
}

/** Does what the terminal would do at Ctrl+C if readline had not switched it off. The signal would reach its handlers only later. */
function interrupt(): void {
  if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT')
}

/**
 * The password in `input`, without the line break at its end and otherwise unchanged.
 *
 * @throws SetupError for one that no client could send
 */
export async function readPassword(input: NodeJS.ReadableStream): Promise<string> {
  const password = decode(await buffer(input)).replace(/\r?\n$/, '')
  if (password === '') throw new SetupError('Standard input holds no password.')
  const problem = headerProblem(password)
  if (problem !== undefined) {
    throw new SetupError(`The password on standard input ${problem}`, ['Choose another.'])
  }
  return password
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new SetupError('The password on standard input is not UTF-8', [
      'Convert it, or choose another.',
    ])
  }
}
