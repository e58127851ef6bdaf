import { readFile } from 'node:fs/promises'
import { Ajv, type ErrorObject } from 'ajv'
import { LineCounter, parseDocument } from 'yaml'
import { UsageError } from '../cli/usage-error.ts'
import { settingNames, type SettingName } from './settings.ts'

export type WrittenSettings = Partial<Record<SettingName, string>>

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile<
  Partial<Record<SettingName, string | number>>
>({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    settingNames.map((name) => [name, { type: ['string', 'integer'] }]),
  ),
})

/**
 * Reads a configuration file, YAML or JSON: one map, whose keys are the flags of `holdfast serve` without the dashes.
 *
 * @throws UsageError with file, line, key and remedy
 */
export async function readConfigFile(path: string): Promise<WrittenSettings> {
  const lines = new LineCounter()
  const document = parseDocument(await readText(path), { lineCounter: lines, prettyErrors: false })
  const [syntaxError] = document.errors
  if (syntaxError) {
    const { line } = lines.linePos(syntaxError.pos[0])
    throw new UsageError(`${path}:${line}: this is not YAML: ${syntaxError.message}`)
  }
  const data: unknown = document.toJS() ?? {}
  if (!validate(data)) {
    const problems = (validate.errors ?? []).map((error) => describe(error, path, lineOfKey))
    throw new UsageError(problems.join('\n'))
  }
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, String(value)]))

  function lineOfKey(key: string): string {
    const contents = document.contents
    const items = contents && 'items' in contents ? contents.items : []
    for (const item of items) {
      if (!('key' in item)) continue
      const { value, range } = item.key as {
        value?: unknown
        range?: readonly [number, ...number[]]
      }
      if (value === key && range) return `:${lines.linePos(range[0]).line}`
    }
    return ''
  }
}

function describe(error: ErrorObject, path: string, lineOfKey: (key: string) => string): string {
  if (error.keyword === 'additionalProperties') {
    const key = String(error.params['additionalProperty'])
    return `${path}${lineOfKey(key)}: "${key}" is no setting; there are ${settingNames.join(', ')}`
  }
  const key = error.instancePath.slice(1)
  if (key === '') return `${path}: the file must be a map of settings, such as "port: 3000"`
  return `${path}${lineOfKey(key)}: "${key}" must be text or a whole number`
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`The configuration file cannot be read: ${reason}. Check --config.`)
  }
}
