import type { HttpLog } from '../../src/guards/errors.ts'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** A log that can be read. */
export interface CollectedLog extends HttpLog {
  readonly lines: readonly LogLine[]
}

export function collectLog(): CollectedLog {
  const lines: LogLine[] = []
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, info: at('info'), warn: at('warn'), error: at('error') }
}
