/** The destinations of a Markdown text's links and images, in order. Code, inline or fenced, has none. */
export function linkDestinations(markdown: string): string[] {
  const text = withoutCode(markdown)
  const inline = text.matchAll(/\]\(\s*<?([^\s<>()]+)>?(?:\s+"[^"]*")?\s*\)/g)
  const references = text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]+)>?/gm)
  return [...inline, ...references].flatMap(([, destination]) => destination ?? [])
}

/** The fragments (without `#`) that a Markdown text's headings can be linked by, as code hosts form them. */
export function headingAnchors(markdown: string): string[] {
  const seen = new Map<string, number>()
  return [...withoutFences(markdown).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(
    ([, heading = '']) => {
      const anchor = slug(heading)
      const count = seen.get(anchor) ?? 0
      seen.set(anchor, count + 1)
      return count === 0 ? anchor : `${anchor}-${count}`
    },
  )
}

function slug(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

function withoutCode(markdown: string): string {
  return withoutFences(markdown).replaceAll(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '')
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^ *(```+|~~~+)[\s\S]*?^ *\1 *$/gm, '')
}
