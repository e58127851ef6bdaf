import { effect, signal } from '@preact/signals'
import { formatPercent } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'

/** Moves the focus to a neighbour when its element leaves the page or moves: otherwise the Tab key would start at the top again. */
export function keepFocus(root: HTMLElement): void {
  /** The last element with the focus, and all its parents. */
  let path: readonly EventTarget[] = []
  root.addEventListener('focusin', (event) => (path = event.composedPath()))
  const observer = new MutationObserver((records) => {
    const [last] = path
    if (!(last instanceof HTMLElement) || document.activeElement !== document.body) return
    const gone = records.find(({ removedNodes }) =>
      [...removedNodes].some((node) => path.includes(node)),
    )
    if (!gone) return
    const next = last.isConnected ? last : nextOf(path, gone)
    next?.focus({ preventScroll: true })
  })
  observer.observe(root, { childList: true, subtree: true })
}

/** The nearest element that can take the focus: the list, or otherwise what follows. */
function nextOf(path: readonly EventTarget[], gone: MutationRecord): HTMLElement | undefined {
  for (const container of path) {
    if (!(container instanceof Element) || !container.isConnected) continue
    const main = container.matches('main') ? container : container.querySelector('main')
    const found = activeRow(container) ?? main ?? neighbour(container, gone)
    if (found instanceof HTMLElement) return found
  }
  return undefined
}

/** The row or the tile of the list that the Tab key reaches. */
export function activeRow(container: ParentNode): HTMLElement | null {
  return container.querySelector<HTMLElement>('[role=row][tabindex="0"], .tile-open[tabindex="0"]')
}

/** The next element in `container` that Tab reaches after the one that is gone, or otherwise the one before. */
function neighbour(container: Element, { target, previousSibling }: MutationRecord) {
  const all = [...container.querySelectorAll<HTMLElement>('button, input, select, a, [tabindex]')]
  const reached = all.filter((each) => each.tabIndex >= 0 && each.checkVisibility())
  const before = previousSibling?.isConnected === true ? previousSibling : undefined
  const isAfter = (each: Element) =>
    follows(each, before ?? target) && before?.contains(each) !== true
  return reached.find(isAfter) ?? reached.at(-1)
}

const follows = (each: Node, other: Node) =>
  (other.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0

/** The title of the document, without the progress. */
export const title = signal('holdfast')

/** How far the uploads are, from 0 to 1; the title shows it, so that one sees it from another tab. */
export const shownProgress = signal<number | undefined>(undefined)

/** Keeps the document's title current. */
export function keepTitle(): void {
  effect(() => {
    const share = shownProgress.value
    const progress = share === undefined ? [] : [formatPercent(share, language.value)]
    document.title = [...progress, title.value].join(' · ')
  })
}
