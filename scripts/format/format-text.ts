import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, type FormatConfig } from 'oxfmt'

const settings = join(import.meta.dirname, '../../.oxfmtrc.json')

/**
 * Formats `text` as the check of the format wants it; the name of `path` says which language it is. Rejects with what the
 * formatter does not understand.
 */
export async function formatText(path: string, text: string): Promise<string> {
  const config = JSON.parse(await readFile(settings, 'utf8')) as FormatConfig
  const { code, errors } = await format(path, text, config)
  const [error] = errors
  if (error) throw new Error(`Cannot format ${path}: ${error.message}`)
  return code
}
