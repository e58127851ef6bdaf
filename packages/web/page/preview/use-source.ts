import { useEffect, useState } from 'preact/hooks'
import { readFile } from '../api/files.ts'
import type { FileDetails } from '@holdfast/client/browser'
import { makeLink } from '../api/links.ts'
import type { Session } from '../app/session.ts'
import { harmlessType } from './preview-kind.ts'

export type Source = { readonly url: string } | { readonly error: unknown } | undefined

/** Where `<img>` and its kin find a file: by a link, or in memory. `undefined` until that is known. */
export function useSource({ connection, hasLinks }: Session, file: FileDetails): Source {
  const [source, setSource] = useState<Source>(undefined)
  useEffect(() => {
    const ended = new AbortController()
    let blobUrl: string | undefined
    const open = async () => {
      if (hasLinks) {
        return (await makeLink(connection, file.name, { inline: true })).url
      }
      const content = await readFile(connection, file.name, { signal: ended.signal })
      blobUrl = URL.createObjectURL(new Blob([content], { type: harmlessType(file.type) }))
      return blobUrl
    }
    setSource(undefined)
    open().then(
      (url) => {
        if (!ended.signal.aborted) setSource({ url })
        else if (blobUrl !== undefined) URL.revokeObjectURL(blobUrl)
      },
      (error: unknown) => {
        if (!ended.signal.aborted) setSource({ error })
      },
    )
    return () => {
      ended.abort()
      if (blobUrl !== undefined) URL.revokeObjectURL(blobUrl)
    }
  }, [file.name, file.etag])
  return source
}
