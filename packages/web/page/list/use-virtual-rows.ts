import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

export interface VirtualRows {
  /** The indexes of the rows that are in the document, ascending. */
  readonly rows: readonly number[]
  /** Of all rows, in pixels. */
  readonly height: number
  scrollTo(index: number): void
  /** How many rows are seen at a time. */
  pageLength(): number
}

interface Rows {
  readonly count: number
  /** In pixels; all rows have the same. */
  readonly height: number
  /** The row that stays in the document wherever one scrolls, since it may have the focus. */
  readonly active: number
}

/** How many rows there are beyond those in sight, above and below. */
const spare = 8

/** The rows of a long list that are in sight, those around them, and the active one. */
export function useVirtualRows(
  scroller: RefObject<HTMLElement>,
  { count, height, active }: Rows,
): VirtualRows {
  const [seen, setSeen] = useState({ first: 0, length: 0 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () => {
      const first = Math.floor(element.scrollTop / height)
      const length = Math.ceil(element.clientHeight / height) + 1
      setSeen((known) =>
        known.first === first && known.length === length ? known : { first, length },
      )
    }
    look()
    const resized = new ResizeObserver(look)
    resized.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller, height])
  return {
    rows: rowsAround(seen, count, active),
    height: count * height,
    scrollTo(index) {
      const element = scroller.current
      if (!element) return
      const top = index * height
      const lowest = top + height - element.clientHeight
      element.scrollTop = Math.max(lowest, Math.min(element.scrollTop, top))
    },
    pageLength: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1),
  }
}

function rowsAround(
  seen: { readonly first: number; readonly length: number },
  count: number,
  active: number,
): readonly number[] {
  // A list that has become shorter is scrolled by the browser, which says so later.
  const first = Math.max(0, Math.min(seen.first, count - seen.length) - spare)
  const end = Math.min(count, first + seen.length + 2 * spare)
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
  if (active >= 0 && active < first) return [active, ...rows]
  return active >= end ? [...rows, active] : rows
}
