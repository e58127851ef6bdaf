import { readFile } from 'node:fs/promises'
import { SetupError } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file/messages'
import { secretVariables, type SecretName } from './secrets.ts'

/**
 * A secret from `environment`, or from the file that it names there; `undefined` if neither is set. A line break at the
 * end does not count.
 *
 * @throws SetupError that names the variable, and never what it holds, if both are set, or the file cannot be read, or
 * it is not one line
 */
export async function readSecret(
  name: SecretName,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const variables = secretVariables(name)
  const value = environment[variables.value] || undefined
  const path = environment[variables.file] || undefined
  if (value !== undefined && path !== undefined) {
    const both = `${variables.value} and ${variables.file}`
    throw new SetupError(`Both ${both} are set`, ['unset one of them.'])
  }
  if (value !== undefined) return onlyLine(value, variables.value)
  if (path === undefined) return undefined
  const place = `The file ${path} that ${variables.file} names`
  return onlyLine(await readText(path, place), place)
}

function onlyLine(text: string, place: string): string {
  const line = text.replace(/\r?\n$/, '')
  if (line === '') throw new SetupError(`${place} is empty.`)
  if (/[\r\n]/.test(line)) throw new SetupError(`${place} has more than one line.`)
  return line
}

async function readText(path: string, place: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = describeDenial(error) ?? (error instanceof Error ? error.message : String(error))
    throw new SetupError(`${place} cannot be read (${reason}).`)
  }
}
