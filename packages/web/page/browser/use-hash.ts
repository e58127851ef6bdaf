import { useEffect, useState } from 'preact/hooks'

/** The part of the page's address after `#`. It changes by links, and by the browser's Back and Forward. */
export function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const update = () => setHash(location.hash)
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return hash.slice(1)
}
