import { foldersFromName } from '@holdfast/client/browser'
import { signal } from '@preact/signals'
import { Hash, History, Link } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { readSetting, writeSetting } from '../browser/storage.ts'
import { formatCount, formatPercent, formatSecond, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { pathOf } from '../list/folders.ts'
import { explainError } from '../parts/explain-error.ts'
import { Icon } from '../parts/icon.tsx'

/** Whether the details are shown beside the preview. The browser keeps it. */
export const areDetailsShown = signal(readSetting('details') === 'shown')

export function toggleDetails(): void {
  areDetailsShown.value = !areDetailsShown.value
  writeSetting('details', areDetailsShown.value ? 'shown' : undefined)
}

interface DetailsProps {
  readonly connection: Connection
  readonly file: ViewedFile
  // What cannot be done is left out.
  readonly onLink: (() => void) | undefined
  readonly onVersions: (() => void) | undefined
}

/** What is known of a file, and its digest, which the browser computes when that is asked for. */
export function Details({ connection, file, onLink, onVersions }: DetailsProps): JSX.Element {
  const { name, size, modified, expires, type, etag, version } = file
  const folder = foldersFromName(name).at(-1)
  const shown = language.value
  const bytes = size < 1000 ? '' : ` (${t('bytes', { count: formatCount(size, shown) })})`
  const facts: readonly (readonly [label: string, value: string])[] = [
    [t('columnName'), name],
    ...(folder === undefined ? [] : ([[t('folder'), pathOf(folder)]] as const)),
    [t('columnSize'), formatSize(size, shown) + bytes],
    [t('columnModified'), formatSecond(new Date(modified), shown)],
    ...(expires === undefined
      ? []
      : ([[t('expiry'), formatSecond(new Date(expires), shown)]] as const)),
    [t('columnType'), type],
    ...(version === undefined ? ([['ETag', etag]] as const) : []),
  ]
  return (
    <aside class="details" aria-label={t('details')}>
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
        <Digest key={`${name}\n${etag}`} connection={connection} file={file} />
      </dl>
      {onLink && (
        <button type="button" class="button" onClick={onLink}>
          <Icon of={Link} />
          {t('makeLink')}
        </button>
      )}
      {onVersions && (
        <button type="button" class="button" onClick={onVersions}>
          <Icon of={History} />
          {t('earlierVersions')}
        </button>
      )}
    </aside>
  )
}

type DigestState =
  | { readonly progress: number }
  | { readonly digest: string }
  | { readonly error: unknown }
  | undefined

/** The SHA-256 of a file. The server has none, so that the browser reads the file, in chunks. */
function Digest({ connection, file }: Pick<DetailsProps, 'connection' | 'file'>): JSX.Element {
  const [state, setState] = useState<DigestState>()
  const until = useRef(new AbortController())
  useEffect(() => () => until.current.abort(), [])
  const compute = async () => {
    const { signal: ended } = until.current
    setState({ progress: 0 })
    try {
      const digest = await digestOf(connection, file, ended, (progress) => setState({ progress }))
      if (!ended.aborted) setState({ digest })
    } catch (error) {
      if (!ended.aborted) setState({ error })
    }
  }
  return (
    <div>
      <dt>SHA-256</dt>
      <dd>
        {state === undefined && (
          <button type="button" class="button" onClick={() => void compute()}>
            <Icon of={Hash} />
            {t('computeDigest')}
          </button>
        )}
        <span role="status">
          {state && 'progress' in state && formatPercent(state.progress, language.value)}
          {state && 'digest' in state && <code>{state.digest}</code>}
          {state && 'error' in state && explainError(state.error)}
        </span>
      </dd>
    </div>
  )
}

async function digestOf(
  { client }: Connection,
  { name, version, size }: ViewedFile,
  signal: AbortSignal,
  onProgress: (progress: number) => void,
): Promise<string> {
  const { sha256 } = await import('@noble/hashes/sha2.js')
  const hash = sha256.create()
  const { body } = await client.download(name, { version, signal })
  let done = 0
  let reported = 0
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    hash.update(next.value)
    done += next.value.length
    const progress = Math.min(1, Math.floor((100 * done) / size) / 100)
    if (progress > reported) onProgress((reported = progress))
  }
  return [...hash.digest()].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
