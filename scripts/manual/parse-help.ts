/** What `--help` says of a command. */
export interface HelpPage {
  /** How the command is called, such as `holdfast usage [name]`. */
  readonly usage: string
  readonly description: readonly string[]
  readonly sections: readonly HelpSection[]
  /** Paragraphs after the last section. */
  readonly epilog: readonly string[]
}

export interface HelpSection {
  /** Without the colon. */
  readonly heading: string
  readonly entries: readonly HelpEntry[]
}

export interface HelpEntry {
  /** An option, a command, an argument or an example. */
  readonly term: string
  readonly text: string
}

/** Reads a help text of yargs whose lines are not broken. */
export function parseHelp(text: string): HelpPage {
  const blocks = text.trim().split(/\n{2,}/)
  const isSection = (block: string) => /^\S.*:\n {2}/.test(block)
  const [usage = '', ...others] = blocks.map((block) => block.trimEnd())
  const begin = others.findIndex(isSection)
  const end = others.findLastIndex(isSection)
  return {
    usage,
    description: others.slice(0, Math.max(begin, 0)),
    sections: others.slice(begin, end + 1).map(parseSection),
    epilog: others.slice(end + 1),
  }
}

function parseSection(block: string): HelpSection {
  const [heading = '', ...lines] = block.split('\n')
  return { heading: heading.replace(/:$/, ''), entries: lines.map(parseEntry) }
}

/** Yargs sets the term apart by two spaces, and so what it knows of the type, which says nothing to a reader. */
function parseEntry(line: string): HelpEntry {
  const [term = '', ...rest] = line.trim().split(/ {2,}/)
  const text = rest
    .join(' ')
    .replace(/ ?\[(boolean|string|number|count|array|required|default: (no|\[\]))\]/g, '')
  return { term, text: text.trim() }
}
