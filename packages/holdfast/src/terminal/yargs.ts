/** What yargs knows of the type of an option, which says nothing to a reader. */
const types = / *\[(?:boolean|string|number|count|array|required|default: (?:no|\[\]))\]/g

/** The narrowest column of texts that is worth having. */
const leastText = 30

/**
 * Lays out a help text of yargs whose lines are not broken: without the types of options, terms in one column and texts in another. Breaks
 * lines at spaces only, so that paths stay whole.
 */
export function formatHelp(help: string, width: number): string {
  return help
    .split(/\n{2,}/)
    .map((block) => formatBlock(block, width))
    .join('\n\n')
}

function formatBlock(block: string, width: number): string {
  const lines = block
    .replace(types, '')
    .replace(/\[default: "(.*?)"\]/g, '[default: $1]')
    .split('\n')
  if (!/^ {2,}/.test(lines[1] ?? '')) return lines.flatMap((line) => wrap(line, width)).join('\n')
  const [heading = '', ...rest] = lines
  const entries = rest.map((line) => {
    const [, indent = '', term = '', text = ''] = /^( *)(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? []
    return { term: `${indent}${term}`, text: text.trim().replace(/ {2,}/g, ' ') }
  })
  const column = Math.max(...entries.map(({ term }) => term.length)) + 2
  return [
    ...wrap(heading, width),
    ...entries.flatMap((entry) => formatEntry(entry, column, width)),
  ].join('\n')
}

function formatEntry(
  { term, text }: { readonly term: string; readonly text: string },
  column: number,
  width: number,
): readonly string[] {
  if (text === '') return [term]
  const isBeside = width - column >= leastText
  const indent = ' '.repeat(isBeside ? column : 8)
  const [first = '', ...others] = wrap(text, width - indent.length)
  const rest = others.map((line) => indent + line)
  return isBeside ? [term.padEnd(column) + first, ...rest] : [term, indent + first, ...rest]
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** An option that takes no value, and is off unless it is given. */
export const off = { type: 'boolean', default: false, defaultDescription: 'no' } as const

/** How yargs reads the command line. */
export const parserConfiguration = {
  'duplicate-arguments-array': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  // yargs would read "-minio-secret-key x" as letters, and its error would show the secret.
  'short-option-groups': false,
  'boolean-negation': false,
  'populate--': true,
}

/**
 * Words that yargs mistreats: it loses `-` among several words, and for a last word `help` it shows the help instead of running the
 * command.
 */
const words = ['-', 'help']

/** A NUL, which no argument of a process can contain. */
const mark = '\0'

/** Hides these words from yargs by a mark before each. */
export function hideWords(args: readonly string[]): readonly string[] {
  return args.map((arg) => (words.includes(arg) ? `${mark}${arg}` : arg))
}

/** Removes the marks, which gives the original text. */
export function showWords(text: string): string {
  return text.replaceAll(mark, '')
}
