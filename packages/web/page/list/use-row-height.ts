import { useEffect, useState } from 'preact/hooks'

const narrow = matchMedia('(max-width: 40rem)')
const heightNow = () => (narrow.matches ? 64 : 48)

/** The height of a row in pixels, as the style sheet has it: on narrow screens a row has two lines. */
export function useRowHeight(): number {
  const [height, setHeight] = useState(heightNow)
  useEffect(() => {
    const update = () => setHeight(heightNow())
    narrow.addEventListener('change', update)
    return () => narrow.removeEventListener('change', update)
  }, [])
  return height
}
