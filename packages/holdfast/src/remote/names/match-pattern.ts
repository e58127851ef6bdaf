/** Matches one character, or (`*`) any number of them. */
type Token = RegExp | '*'

/** A backslash and a character, `*`, a class, or any character. A `[` that opens no class stands for itself. */
const tokens = /\\(.)|(\*)|\[([!^]|(?![!^]))(\](?:ITEM)*|(?:ITEM)+)\]|(.)/
const item = /\[:\w+:\]|\\.|(?!\[:\w+:\])[^\]\\]/
const tokenPattern = new RegExp(tokens.source.replaceAll('ITEM', item.source), 'gsu')

/** An item of a class: a POSIX class, a range, or a character. */
const itemPattern = /\[:(\w+):\]|(\\.|[^\\])(?:-(\\.|[^\\]))?/gsu

const posixClasses = new Map([
  ['alnum', '\\p{L}\\p{Nd}'],
  ['alpha', '\\p{L}'],
  ['blank', ' \\t'],
  ['digit', '0-9'],
  ['lower', '\\p{Ll}'],
  ['punct', '\\p{P}\\p{S}'],
  ['space', '\\s'],
  ['upper', '\\p{Lu}'],
  ['xdigit', '0-9A-Fa-f'],
])

/** Whether a word has a wildcard. */
export function isPattern(word: string): boolean {
  return /[*?[]/.test(word)
}

/**
 * Makes a test whether names match `pattern`, as in a shell: only a pattern that begins with a dot matches names that do, unless
 * `takesHidden`.
 */
export function createMatcher(
  pattern: string,
  { takesHidden = /^\\?\./.test(pattern) }: { readonly takesHidden?: boolean } = {},
): (name: string) => boolean {
  const tests = [...pattern.matchAll(tokenPattern)]
    .map(tokenOf)
    .map((token) => (token === '*' ? token : (character: string) => token.test(character)))
  return (name) => (takesHidden || !name.startsWith('.')) && matchesItems(tests, Array.from(name))
}

/** The text that every match of `pattern` begins with. */
export function fixedStart(pattern: string): string {
  return /^[^*?[\\]*/.exec(pattern)?.[0] ?? ''
}

/**
 * Whether `items` match a pattern of tests for one item each; `*` stands for any number of items. Backtracks to the last `*` only, so that
 * no pattern takes long.
 */
export function matchesItems(
  pattern: readonly (((item: string) => boolean) | '*')[],
  items: readonly string[],
): boolean {
  let next = 0
  let star = -1
  let starEnd = 0
  for (let at = 0; at < items.length;) {
    const test = pattern[next]
    if (test === '*') {
      star = next++
      starEnd = at
    } else if (test?.(items[at] ?? '')) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++starEnd
    } else return false
  }
  return pattern.slice(next).every((test) => test === '*')
}

function tokenOf([, escaped, star, negation = '', members, character]: RegExpExecArray): Token {
  if (star !== undefined) return '*'
  if (members !== undefined) {
    const set = members.replace(itemPattern, classPart)
    return new RegExp(`[${negation && '^'}${set}]`, 'u')
  }
  if (character === '?') return /./su
  return new RegExp(`^${literal(escaped ?? character ?? '')}$`, 'u')
}

function classPart(_: string, posix?: string, first = '', last = first): string {
  if (posix !== undefined) return posixClasses.get(posix) ?? ''
  return codeOf(first) <= codeOf(last) ? `${literal(first)}-${literal(last)}` : ''
}

/** The code of a character, or of the one after a backslash. */
const codeOf = (text: string) => text.replace(/^\\(?=.)/s, '').codePointAt(0) ?? 0

const literal = (text: string) => `\\u{${codeOf(text).toString(16)}}`
