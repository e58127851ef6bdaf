import {
  type Advice,
  advice,
  adviceOf,
  adviceText,
  closestWord,
  messageOf,
  SetupError,
} from '@holdfast/core'
import { Ajv, type ErrorObject } from 'ajv'
import { isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { quoted } from './parse-setting.ts'
import { readText, secretRemedy } from './environment.ts'
import { settingNames, settings, type SettingName } from './settings.ts'

/** Settings as text that has not been checked. */
export type WrittenSettings = Partial<Record<SettingName, string>>

type FileSettings = Partial<Record<SettingName, string | number | boolean>>

const validate = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  // See the schema of the customers file.
  meta: false,
  validateSchema: false,
}).compile<FileSettings>({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    settingNames.map((name) => [
      name,
      { type: settings[name].isSwitch ? ['boolean', 'string'] : ['string', 'integer'] },
    ]),
  ),
})

/** A mistake in the file, at one of its keys or in the whole file. */
interface Problem extends Advice {
  readonly key?: string
}

/**
 * Reads a configuration file, YAML or JSON: one map, whose keys are the flags of `holdfast serve` without the dashes. An empty file
 * sets nothing.
 *
 * @throws SetupError with a line for each problem: file, line, key and remedy
 */
export async function readConfigFile(path: string): Promise<WrittenSettings> {
  const lines = new LineCounter()
  const remedy = 'Check --config or HOLDFAST_CONFIG.'
  const text = await readText(path, `The configuration file ${path}`, remedy)
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    // Otherwise keys within keys take a time that grows as a power of their depth: 1 kB takes a minute.
    stringKeys: true,
  })
  const lineAt = (offset: number) => lines.linePos(offset).line
  const [syntaxError] = [...document.errors, ...document.warnings]
  if (syntaxError) {
    const location = `${path}:${lineAt(syntaxError.pos[0])}`
    throw new SetupError(`${location}: this is not YAML: ${withoutSource(syntaxError.message)}`)
  }
  const { written, problems } = read(dataOf(document, path), (key) => numberAt(document, key))
  if (problems.length > 0) {
    const lineOf = (key: string) => {
      const offset = offsetOfKey(document, key)
      return offset === undefined ? path : `${path}:${lineAt(offset)}`
    }
    const located = problems.map(({ key, problem, remedies }) => {
      const location = key === undefined ? path : lineOf(key)
      return advice(`${location}: ${problem}`, ...remedies)
    })
    throw errorOf(located)
  }
  return written
}

function errorOf(problems: readonly Advice[]): SetupError {
  const [first] = problems
  if (first && problems.length === 1) return new SetupError(first.problem, first.remedies)
  return new SetupError(problems.map(adviceText).join('\n'))
}

/** The data of the YAML. Only here it shows that an alias is unknown, or expands to too much. */
function dataOf(document: Document, path: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    const reason = messageOf(error)
    throw new SetupError(`${path}: this is not YAML: ${withoutSource(reason)}`)
  }
}

/** A message of the YAML parser without the text of the file after its colon, which may be a line with a password. */
function withoutSource(message: string): string {
  return message.replace(/: [^]*$/, '')
}

/** `textOfNumber` returns the text of a value that is a number, as it stands in the file. */
function read(
  data: unknown,
  textOfNumber: (key: string) => string | undefined,
): { written: WrittenSettings; problems: readonly Problem[] } {
  const found = data ?? {}
  if (!validate(found)) return { written: {}, problems: (validate.errors ?? []).map(explain) }
  const textOf = (name: SettingName) => {
    const text = String(found[name])
    const written = textOfNumber(name) ?? text
    // What is a number, or a size, may be written as `1e9`.
    return problemOf(name, written) && !problemOf(name, text) ? text : written
  }
  const entries = settingNames.flatMap((name) =>
    found[name] === undefined ? [] : [[name, textOf(name)] as const],
  )
  const problems = entries.flatMap(([key, text]): Problem[] => {
    const wrong = problemOf(key, text)
    if (wrong === undefined) return []
    return [{ key, ...wrong, problem: `${key} ${quoted(text)} ${wrong.problem}` }]
  })
  return { written: Object.fromEntries(entries), problems }
}

/** Checks a value, even if a flag will override it: only here its line is known. */
function problemOf(name: SettingName, text: string): Advice | undefined {
  try {
    settings[name].parse(text)
    return undefined
  } catch (error) {
    return adviceOf(error)
  }
}

function explain(error: ErrorObject): Problem {
  if (error.keyword === 'additionalProperties') {
    const key = String(error.params['additionalProperty'])
    const remedy = secretRemedy(key)
    if (remedy !== undefined) {
      return { key, ...advice(`${key} is a secret and is not read from this file`, remedy) }
    }
    const meant = closestWord(key, settingNames)
    const hints = meant === undefined ? [] : [`did you mean "${meant}"?`]
    // Any other key may be a line that contains a secret.
    const shown = /^[\w-]{1,40}$/.test(key) ? `"${key}" is` : 'a key that is'
    const known = `there are ${settingNames.join(', ')}`
    return { key, ...advice(`${shown} not a setting`, [...hints, known].join(' ')) }
  }
  const key = error.instancePath.slice(1)
  if (key === '') return advice('the file must be a map of settings, such as "port: 3000"')
  if (String(error.params['type']).includes('boolean')) {
    return { key, ...advice(`${key} must be true or false`) }
  }
  return { key, ...advice(`${key} must be text or a whole number`, 'put other values in quotes') }
}

/** The text of a value that YAML takes for a number: a bucket called 0042 is not 42. */
function numberAt(document: Document, key: string): string | undefined {
  const value = document.get(key, true)
  return isScalar(value) && typeof value.value === 'number' ? value.source : undefined
}

function offsetOfKey({ contents }: Document, key: string): number | undefined {
  const items = isMap(contents) ? contents.items : []
  const found = items.find((item) => isScalar(item.key) && String(item.key.value) === key)
  return isScalar(found?.key) ? found.key.range?.[0] : undefined
}
