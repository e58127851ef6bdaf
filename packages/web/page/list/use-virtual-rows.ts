import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
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

/** The rows of a long list that are in sight, and those around them. */
export function useVirtualRows(
  scroller: RefObject<HTMLElement>,
  count: number,
  rowHeight: number,
): VirtualRows {
  const [, redraw] = useReducer((times: number, _event: undefined) => times + 1, 0)
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight])
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
    pageLength: () =>
      Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1),
  }
}
