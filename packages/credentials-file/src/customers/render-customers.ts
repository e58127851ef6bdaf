import { isDeepStrictEqual } from 'node:util'
import { advice } from '@holdfast/core'
import type { Document } from 'yaml'
import { CustomersFileError } from './customers-file-error.ts'
import { type CustomerEntry, parseCustomers } from './parse-customers.ts'

export interface RenderInput {
  readonly document: Document
  /** What the text must say when it is read again. */
  readonly entries: readonly CustomerEntry[]
  /** The text that was edited: JSON stays JSON, with its indentation. */
  readonly original: string
  readonly path: string
}

/**
 * The text of an edited customers file.
 *
 * @throws CustomersFileError when the text would not say exactly what was meant, as can be where customers share values
 *   by aliases.
 */
export function renderCustomers({ document, entries, original, path }: RenderInput): string {
  const text = render(document, original)
  if (text === undefined || !isDeepStrictEqual(readBack(text, path), entries)) {
    const problem = 'cannot be edited without changing other customers (does it use YAML aliases?)'
    throw new CustomersFileError(path, [advice(problem, 'edit it by hand')])
  }
  return text
}

function render(document: Document, original: string): string | undefined {
  try {
    if (!isJson(original)) {
      const text = document.toString({ lineWidth: 0 })
      return original.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
    }
    const indent = /\n([ \t]+)/.exec(original)?.[1]
    return `${JSON.stringify(document.toJS(), undefined, indent ?? 2)}\n`
  } catch {
    // An alias whose anchor went with what was edited.
    return undefined
  }
}

function readBack(text: string, path: string): readonly CustomerEntry[] | undefined {
  try {
    return parseCustomers(text, path).entries
  } catch {
    return undefined
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
