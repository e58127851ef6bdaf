/** A word of a command line of bash. */
export interface ShellWord {
  /** Without quotes and backslashes. */
  readonly value: string
  /** As it was typed. */
  readonly raw: string
}

export interface SplitLine {
  /** The last one is the one that the cursor stands at; it may be empty. */
  readonly words: readonly ShellWord[]
  /** Whether the last word has a quote that is still open. */
  readonly isQuoted: boolean
}

/** A word part: quoted, a character after a backslash, or a plain one. The closing quote may be missing at the end. */
const part = /'([^']*)('|$)|"((?:\\[^]|[^"\\])*)("|\\?$)|\\([^]|$)|([^\s'"\\]+)/y

/** Splits the line before the cursor as bash does. Variables and patterns stay what they are. */
export function splitLine(line: string): SplitLine {
  const words: ShellWord[] = []
  let isQuoted = false
  let position = 0
  while (true) {
    position += /^\s*/.exec(line.slice(position))?.[0].length ?? 0
    const start = position
    let value = ''
    isQuoted = false
    for (let match = partAt(line, position); match; match = partAt(line, position)) {
      const [text, single, singleEnd, double, doubleEnd, escaped, plain] = match
      isQuoted = singleEnd === '' || (doubleEnd !== undefined && doubleEnd !== '"')
      value += single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? ''
      position += text.length
    }
    words.push({ value, raw: line.slice(start, position) })
    if (position === line.length) return { words, isQuoted }
  }
}

function partAt(line: string, position: number): RegExpExecArray | null {
  if (position === line.length) return null
  part.lastIndex = position
  return part.exec(line)
}
