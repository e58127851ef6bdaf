import { Search, X } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../app/icon.tsx'
import { IconButton } from '../app/icon-button.tsx'
import { activeRow } from '../app/keep-focus.ts'
import { t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'

/** Filters as one types. `/` leads to it from anywhere. */
export function FilterField({ files }: { readonly files: FileList }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const clear = () => {
    files.filter.value = ''
    field.current?.focus()
  }
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, select, textarea, dialog')
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div class="filter" role="search">
      <Icon of={Search} />
      <input
        ref={field}
        type="text"
        inputMode="search"
        value={files.filter.value}
        aria-label={t('filter')}
        placeholder={t('filter')}
        spellcheck={false}
        onInput={({ currentTarget }) => (files.filter.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') clear()
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          activeRow(document)?.focus()
        }}
      />
      {files.filter.value !== '' && (
        <IconButton icon={X} label={t('clearFilter')} onClick={clear} />
      )}
    </div>
  )
}
