import type { StringKey, Values } from '../i18n/strings.ts'

/** An error that a text of the page explains. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError'
  readonly key: StringKey
  readonly values: Values

  constructor(key: StringKey, values: Values = {}, options?: ErrorOptions) {
    super(key, options)
    this.key = key
    this.values = values
  }
}
