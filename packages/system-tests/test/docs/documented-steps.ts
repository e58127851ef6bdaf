/** A piece of shell in a document, as a reader would paste it. */
export interface DocumentedStep {
  /** Where it stands in the document, counted from 1. */
  readonly line: number
  readonly script: string
  /** What the document says it prints; `undefined` where it does not say. */
  readonly expected: string | undefined
}

const fence = /^```(\w+)\n([^]*?)^```$/gm
const commented = /^(.*\S) {2,}# (.+)$/

/**
 * The shell of `markdown` that talks to a server, in order: each fenced `sh` block in which `isMeant` finds what it looks
 * for. A block is followed by what it prints in a `text` block, or says it behind each line as `  # …`; then each line
 * is a step of its own.
 */
export function documentedSteps(
  markdown: string,
  isMeant: (script: string) => boolean,
): DocumentedStep[] {
  const fences = [...markdown.matchAll(fence)]
  return fences.flatMap((match, index) => {
    const [whole, language, script = ''] = match
    if (language !== 'sh' || !isMeant(script)) return []
    const line = markdown.slice(0, match.index).split('\n').length + 1
    const lines = commentedLines(script, line)
    if (lines.some(({ expected }) => expected !== undefined)) return lines
    const next = fences[index + 1]
    const between = markdown.slice(match.index + whole.length, next?.index)
    const isPrinted = next?.[1] === 'text' && between.trim() === ''
    return [{ line, script, expected: isPrinted ? next[2] : undefined }]
  })
}

function commentedLines(script: string, first: number): DocumentedStep[] {
  const lines = script.split('\n').map((text, index) => {
    const [, command = text, expected] = commented.exec(text) ?? []
    return { line: first + index, script: command, expected }
  })
  return lines.filter((step) => step.script !== '')
}

/** What a fenced block of `language` in `markdown` says, in order. */
export function fencedBlocks(markdown: string, language: string): string[] {
  return [...markdown.matchAll(fence)].flatMap(([, found, text = '']) =>
    found === language ? [text] : [],
  )
}

/** `example` with `statement` in place of the one that declares the same constant and ends with `})`. */
export function withStatement(example: string, statement: string): string {
  const [start = ''] = /^const \w+ = /.exec(statement) ?? []
  const from = start === '' ? -1 : example.indexOf(`\n${start}`)
  if (from < 0)
    throw new Error(`The example before declares nothing that this could replace: ${statement}`)
  const end = '\n})\n'
  return (
    example.slice(0, from + 1) + statement + example.slice(example.indexOf(end, from) + end.length)
  )
}

/** `output` without what is different each time: ids, dates and entity tags. */
export function stableOutput(output: string): string {
  return output
    .replaceAll('\r', '')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/g, '<date>')
    .replaceAll(/"[0-9a-z]+-[0-9a-z]+-[0-9a-z]+\\?"/g, '"<tag>"')
    .trim()
}
