import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { createElement, type ComponentChildren, type JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { isSafeLink, isSlowMarkdown } from '../list/file-kind.ts'

/** Deeper ones are shown as they are written. */
const mostLevels = 20

/**
 * A Markdown text as elements. It never becomes HTML: `marked` only reads it, and each token becomes an element of this list. So HTML in
 * it is text, nothing is loaded, and the policy of the page, which forbids HTML from strings, holds.
 */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const tokens = useMemo(() => read(text), [text])
  if (tokens === undefined) return <pre dir="auto">{text}</pre>
  return (
    <div class="markdown" dir="auto">
      {elementsOf(tokens)}
    </div>
  )
}

/** `undefined` for a text that cannot be read, such as one that nests too deep, or not soon. */
function read(text: string): readonly Token[] | undefined {
  if (isSlowMarkdown(text)) return undefined
  try {
    return new Lexer({ gfm: true }).lex(text)
  } catch {
    return undefined
  }
}

function elementsOf(tokens: readonly Token[] | undefined, level = 0): ComponentChildren {
  if (level > mostLevels) return tokens?.map(({ raw }) => raw).join('')
  return tokens?.map((token) => elementOf(token as MarkedToken, level + 1))
}

function elementOf(token: MarkedToken, level: number): ComponentChildren {
  const inner = (tokens: readonly Token[] | undefined) => elementsOf(tokens, level)
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      // The title of the dialog is an `h2`.
      return createElement(
        `h${Math.min(token.depth + 2, 6)}`,
        { 'data-level': token.depth },
        inner(token.tokens),
      )
    case 'paragraph':
      return <p>{inner(token.tokens)}</p>
    case 'blockquote':
      return <blockquote>{inner(token.tokens)}</blockquote>
    case 'code':
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      )
    case 'list':
      return listOf(token, level)
    case 'table':
      return tableOf(token, level)
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{inner(token.tokens)}</strong>
    case 'em':
      return <em>{inner(token.tokens)}</em>
    case 'del':
      return <del>{inner(token.tokens)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'link':
      return linkOf(token, level)
    case 'image':
      // Nothing is loaded: another server would learn who looks at this.
      return <span class="markdown-image">{token.text}</span>
    case 'text':
      return token.tokens ? inner(token.tokens) : withoutEntities(token.text)
    case 'escape':
      return withoutEntities(token.text)
    case 'html':
    case 'checkbox':
    case 'list_item':
      return token.raw
  }
}

function listOf({ ordered, start, items }: Tokens.List, level: number): JSX.Element {
  const entries = items.map((item) => (
    <li>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {elementsOf(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        level,
      )}
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{entries}</ol> : <ul>{entries}</ul>
}

function tableOf({ header, rows }: Tokens.Table, level: number): JSX.Element {
  const cell = ({ header: isHead, align, tokens }: Tokens.TableCell) =>
    createElement(
      isHead ? 'th' : 'td',
      { class: align ? `align-${align}` : undefined },
      elementsOf(tokens, level),
    )
  return (
    <table>
      <thead>
        <tr>{header.map(cell)}</tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>{row.map(cell)}</tr>
        ))}
      </tbody>
    </table>
  )
}

/** A link to another site opens in a tab of its own, which does not learn where it came from. All others are text. */
function linkOf({ href, tokens }: Tokens.Link, level: number): JSX.Element {
  const inner = elementsOf(tokens, level)
  if (!isSafeLink(href)) return <span>{inner}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {inner}
    </a>
  )
}

const entities: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
])

function withoutEntities(text: string): string {
  return text.replace(/&(\w+);/g, (written, name: string) => entities.get(name) ?? written)
}
