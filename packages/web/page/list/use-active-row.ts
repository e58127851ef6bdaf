import { useMemo, useRef, useState } from 'preact/hooks'
import type { FileDetails } from '@holdfast/client/browser'

/** The row that the keys act on. */
export interface ActiveRow {
  /** Where it is now; -1 in an empty list. */
  readonly index: number
  set(index: number): void
  /** Where a range begins that is selected with the Shift key. */
  anchor(): number
  setAnchor(index: number): void
}

interface Place {
  readonly name: string | undefined
  readonly index: number
}

/**
 * Follows the active file, and not its place: an upload or another order may move it at any time, and the Delete key must not
 * meet the file that is in its place then. Where it has gone, its place counts.
 */
export function useActiveRow(shown: readonly FileDetails[]): ActiveRow {
  const [active, setActive] = useState<Place>({ name: shown[0]?.name, index: 0 })
  const anchor = useRef<Place>({ name: undefined, index: 0 })
  const index = useMemo(() => find(shown, active), [shown, active])
  const placeOf = (place: number) => ({ name: shown[place]?.name, index: place })
  return {
    index,
    set(place) {
      if (place !== index || shown[place]?.name !== active.name) setActive(placeOf(place))
    },
    anchor: () => find(shown, anchor.current),
    setAnchor: (place) => (anchor.current = placeOf(place)),
  }
}

function find(shown: readonly FileDetails[], { name, index }: Place): number {
  if (shown[index]?.name === name) return index
  const found = shown.findIndex((file) => file.name === name)
  return found >= 0 ? found : Math.min(index, shown.length - 1)
}
