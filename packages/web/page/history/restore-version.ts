import { type Client, isHoldfastError, type FileVersion } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { afterTime } from '../browser/after-time.ts'
import { formatSecond, shortName } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { Deletions } from '../list/deletions.ts'
import type { FileList } from '../list/file-list-state.ts'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'

/** How long the notice offers to undo a restore, in milliseconds. */
const shownMs = 10_000
/** Among so many of the newest versions, the one that was replaced is searched: others may have replaced the file meanwhile. */
const mostSearched = 10

/** What a restored version changes. */
export interface VersionSite {
  readonly connection: Connection
  readonly files: Pick<FileList, 'add' | 'load' | 'refreshUsage'>
  readonly deletions: Pick<Deletions, 'finishDeletion' | 'cancelDeletion'>
}

/**
 * Makes an earlier version the present one, and says so with a button that undoes it.
 *
 * @throws HoldfastError if it is not restored
 */
export async function restoreVersion(
  site: VersionSite,
  name: string,
  { version, modified }: Pick<FileVersion, 'version' | 'modified'>,
): Promise<void> {
  const { client } = site.connection
  const present = await client.stat(name).catch(() => undefined)
  await store(site, name, version)
  const replaced = present && (await findVersion(client, name, present.modified))
  const date = formatSecond(new Date(modified), language.peek())
  const dismiss = notify({
    text: t('versionRestored', { name: shortName(name), date }),
    isError: false,
    ...(replaced !== undefined && {
      action: { label: t('undo'), run: () => void restoreAgain(site, name, replaced) },
    }),
  })
  afterTime(shownMs, dismiss)
}

/** Restores what `restoreVersion` has replaced. */
async function restoreAgain(site: VersionSite, name: string, version: string): Promise<void> {
  try {
    await store(site, name, version)
    afterTime(
      shownMs,
      notify({ text: t('versionUndone', { name: shortName(name) }), isError: false }),
    )
  } catch (error) {
    notifyError(`${t('restoreFailed', { name: shortName(name) })} ${explainError(error)}`)
  }
}

/** Restores a version in place of the present file, and shows that in the list. */
async function store(site: VersionSite, name: string, version: string): Promise<void> {
  const { connection, files, deletions } = site
  await deletions.finishDeletion(name)
  try {
    await connection.client.restore(name, { version })
  } catch (error) {
    // The server may have restored it.
    if (isHoldfastError(error, 'no-answer')) void files.load()
    throw error
  }
  deletions.cancelDeletion(name)
  files.refreshUsage()
  try {
    files.add(await connection.client.stat(name))
  } catch {
    // It is restored; the list says what is there now, or why it cannot.
    void files.load()
  }
}

/** The newest version that was stored at `modified`; `undefined` if there is none. */
async function findVersion(
  client: Client,
  name: string,
  modified: string,
): Promise<string | undefined> {
  let searched = 0
  try {
    for await (const version of client.versions(name, { pageSizes: [mostSearched] })) {
      if (version.modified === modified) return version.version
      if (++searched === mostSearched) return undefined
    }
  } catch {
    // Then it cannot be undone here.
  }
  return undefined
}
