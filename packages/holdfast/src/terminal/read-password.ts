import { buffer } from 'node:stream/consumers'
import { SetupError } from '@holdfast/core'
import { headerProblem } from '@holdfast/credentials-file/messages'

/**
 * The password in `input`, without the line end after it and otherwise unchanged.
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
