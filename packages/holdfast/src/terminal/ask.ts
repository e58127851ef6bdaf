import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { SetupError } from '@holdfast/core'
import { standardError } from './standard-error.ts'

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
  try {
    const line: unknown[] = await Promise.race([
      once(lines, 'line'),
      once(lines, 'close'),
      once(lines, 'SIGINT'),
    ])
    const [answer] = line
    if (typeof answer === 'string') return answer
    throw new SetupError('There was no answer.')
  } finally {
    lines.close()
    if (isSecret) standardError().write('\n')
  }
}
