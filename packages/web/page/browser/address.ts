import { signal } from '@preact/signals'

/** What the part of the page's address after `#` says. */
export interface Address {
  /** The path of the open folder as `folderInHash` reads it, such as `/photos/2026`; empty if none is open. */
  readonly folder: string
  /** Whether the deleted files are shown. */
  readonly isDeleted: boolean
  /** The filter of the list; empty if there is none. */
  readonly filter: string
  /** The name of the file that is open. */
  readonly file: string | undefined
}

/**
 * The page's address. The browser's Back closes what was opened last: a dialog, then the file, then the filter, then the folder. Each of
 * them has an entry in the browser's history, whose `state` has their number.
 */
export const address = signal<Address>(parseAddress(location.hash))

/** Parses the address after `#`, such as `/photos/2026&filter=pdf&file=a.txt`, or `deleted`. */
export function parseAddress(hash: string): Address {
  const parts = hash.replace(/^#/, '').split('&')
  const valueOf = (key: string) => {
    const part = parts.find((each) => each.startsWith(`${key}=`))
    return part === undefined ? undefined : decode(part.slice(key.length + 1))
  }
  const [first = ''] = parts
  return {
    folder: first.startsWith('/') ? first : '',
    isDeleted: parts.includes('deleted'),
    filter: valueOf('filter') ?? '',
    file: valueOf('file') || undefined,
  }
}

export function formatAddress({ folder, isDeleted, filter, file }: Address): string {
  const parts = [
    ...(folder === '' ? [] : [folder]),
    ...(isDeleted ? ['deleted'] : []),
    ...(filter === '' ? [] : [`filter=${encodeURIComponent(filter.toWellFormed())}`]),
    ...(file === undefined ? [] : [`file=${encodeURIComponent(file.toWellFormed())}`]),
  ]
  return parts.length === 0 ? '' : `#${parts.join('&')}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Changes the address, and the browser's history with it. */
export function changeAddress(changes: Partial<Address>): void {
  address.value = { ...address.peek(), ...changes }
  updateSoon()
}

/** The dialogs that Back closes, in the order in which they were opened. */
const dialogs: (() => void)[] = []

/** Lets Back close a dialog; returns a function for when it is closed otherwise. */
export function closeByBack(close: () => void): () => void {
  dialogs.push(close)
  updateSoon()
  return () => {
    const index = dialogs.indexOf(close)
    if (index < 0) return
    dialogs.splice(index, 1)
    updateSoon()
  }
}

/** Whether the page itself goes back, and waits for the browser. */
let isGoing = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Once for all changes of a moment: one dialog may follow another, and browsers limit how often a page changes its history. */
function updateSoon(): void {
  clearTimeout(timer)
  timer = setTimeout(update, 100)
}

/** Makes the browser's history match what is open. */
function update(): void {
  if (isGoing) return
  const urls = entryUrls()
  const depth = depthNow()
  if (depth >= urls.length) {
    isGoing = true
    history.go(urls.length - 1 - depth)
    return
  }
  urls.forEach((url, index) => {
    if (index > depth) history.pushState({ depth: index }, '', url)
    else if (index === depth && url !== urlNow()) history.replaceState({ depth }, '', url)
  })
}

const urlNow = () => location.pathname + location.search + location.hash

/** The URL of each entry, from the list itself to what was opened last. */
function entryUrls(): readonly string[] {
  const { folder, isDeleted, filter, file } = address.peek()
  const list = { folder, isDeleted, filter: '', file: undefined }
  const steps = [
    list,
    ...(filter === '' ? [] : [{ ...list, filter }]),
    ...(file === undefined ? [] : [{ ...list, filter, file }]),
  ]
  const urls = steps.map((step) => location.pathname + location.search + formatAddress(step))
  return [...urls, ...dialogs.map(() => urls.at(-1) ?? '')]
}

function depthNow(): number {
  const state: unknown = history.state
  const isOurs = typeof state === 'object' && state !== null && 'depth' in state
  return isOurs && typeof state.depth === 'number' ? state.depth : 0
}

/** A link that was clicked meanwhile. */
let clicked: string | undefined

/** Holds back a click on a link while the page itself goes back, which would undo it. */
function holdLink(event: MouseEvent): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#"]')
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
  if (!isGoing || link === null || opensElsewhere) return
  event.preventDefault()
  clicked = link.hash
}

/** Follows the browser, which has gone to another entry of its history, or to a link. */
function follow(): void {
  if (!isGoing) {
    address.value = parseAddress(location.hash)
    const { filter, file } = address.peek()
    const open = Math.max(0, depthNow() - Number(filter !== '') - Number(file !== undefined))
    for (const close of dialogs.splice(open).reverse()) close()
  }
  isGoing = false
  updateSoon()
  if (clicked === undefined) return
  location.hash = clicked
  clicked = undefined
}

/** Keeps the address and the browser's history together until the returned function is called, which forgets what was open. */
export function followHistory(): () => void {
  address.value = parseAddress(location.hash)
  addEventListener('popstate', follow)
  addEventListener('click', holdLink, { capture: true })
  updateSoon()
  return () => {
    removeEventListener('popstate', follow)
    removeEventListener('click', holdLink, { capture: true })
    clearTimeout(timer)
    dialogs.length = 0
    isGoing = false
    clicked = undefined
    // The next user must not see the name.
    address.value = parseAddress('')
    history.replaceState(null, '', location.pathname + location.search)
  }
}
