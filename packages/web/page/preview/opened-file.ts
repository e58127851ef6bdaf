import { useEffect, useRef, useState } from 'preact/hooks'
import type { ViewedFile } from '../api/connection.ts'
import { address, changeAddress } from '../browser/address.ts'
import { shortName } from '../i18n/format.ts'
import { t } from '../i18n/language.ts'
import type { ListedFiles } from '../list/file-list-state.ts'
import { explainError } from '../parts/explain-error.ts'
import { notifyError } from '../parts/notices.ts'

/** Opens a file: its name comes into the address of the page, and Back closes it. */
export const openFile = ({ name }: ViewedFile) => changeAddress({ file: name })

export const closeFile = () => changeAddress({ file: undefined })

/**
 * The file that the address names, `undefined` unless it names one of this list. A link may name one that the list has not loaded yet: then `find` looks for it, or, without that, it is
 * waited for. A name without a file is taken out of the address, and the page says why.
 */
export function useOpenedFile(
  files: ListedFiles,
  isOfDeleted: boolean,
  find?: (name: string) => Promise<ViewedFile>,
): ViewedFile | undefined {
  const { isDeleted, file } = address.value
  const name = isDeleted === isOfDeleted ? file : undefined
  const last = useRef<ViewedFile>()
  const [found, setFound] = useState<ViewedFile>()
  const listed = name === undefined ? undefined : files.all.value.find((file) => file.name === name)
  // A file that is open stays so when it leaves the list.
  const opened = listed ?? [found, last.current].find((file) => file?.name === name)
  last.current = opened
  const isMissing = name !== undefined && opened === undefined
  const isComplete = files.status.value === 'complete'
  useEffect(() => {
    if (!isMissing || (!find && !isComplete)) return
    let isWanted = true
    const giveUp = (reason: string) => {
      if (!isWanted) return
      closeFile()
      notifyError(`${t('openFailed', { name: shortName(name) })} ${reason}`)
    }
    if (find) find(name).then(setFound, (error: unknown) => giveUp(explainError(error)))
    else giveUp(t('errorNotKept'))
    return () => void (isWanted = false)
  }, [name, isMissing, isComplete])
  return name === undefined ? undefined : opened
}
