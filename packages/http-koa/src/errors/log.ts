/** Where lines for the operator go; a pino logger is one. `fields` never hold a credential. */
export interface HttpLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A log that drops everything. */
export const noLog: HttpLog = { info() {}, warn() {}, error() {} }
