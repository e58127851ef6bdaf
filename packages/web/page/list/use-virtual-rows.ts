import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type Range,
  type VirtualItem,
} from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useState } from 'preact/hooks'

export interface VirtualRows {
  readonly rows: readonly VirtualItem[]
  readonly height: number
  scrollTo(index: number): void
  /** How many rows are seen at a time. */
  pageLength(): number
}

interface Rows {
  readonly count: number
  /** In pixels. */
  readonly height: number
  /** The row that stays in the document wherever one scrolls, since it may have the focus. */
  readonly active: number
}

/** The rows of a long list that are in sight, those around them, and the active one. */
export function useVirtualRows(
  scroller: RefObject<HTMLElement>,
  { count, height, active }: Rows,
): VirtualRows {
  const [, redraw] = useReducer((times: number, _event: undefined) => times + 1, 0)
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 8,
    rangeExtractor: (range: Range) => {
      const indexes = defaultRangeExtractor(range)
      if (active < 0 || indexes.includes(active)) return indexes
      return active < range.startIndex ? [active, ...indexes] : [...indexes, active]
    },
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, height])
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
    pageLength: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1),
  }
}
