import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { SetupError } from '@holdfast/core'
import { standardError } from './standard-error.ts'

/** How a question ends. */
interface Ending {
  readonly answer?: string
  readonly isInterrupted?: boolean
}

/**
 * Asks for a line on the terminal. The question goes to standard error; what is typed shows unless it is secret.
 *
 * @throws SetupError if there is no answer
 */
export async function ask(
  question: string,
  { isSecret }: { readonly isSecret: boolean },
): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  // As a terminal, so that readline turns off the terminal's own echo.
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
  ]).finally(() => {
    lines.close()
    if (isSecret) standardError().write('\n')
  })
  if (answer !== undefined) return answer
  // What the terminal does at Ctrl+C where readline has not turned it off.
  if (isInterrupted) process.kill(process.pid, 'SIGINT')
  throw new SetupError('There was no answer.')
}
