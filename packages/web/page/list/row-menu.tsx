import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { ViewedFile } from '../api/connection.ts'
import { t } from '../i18n/language.ts'
import { Icon } from '../parts/icon.tsx'
import { fileActions, type RowActions } from './file-row.tsx'

/** Where a menu opens, in pixels from the left and the top of the window. */
export interface OpenMenu {
  readonly file: ViewedFile
  readonly x: number
  readonly y: number
}

interface RowMenuProps {
  readonly menu: OpenMenu
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly onClose: () => void
}

/**
 * The actions of a file, at the pointer or below the button of its row. It closes itself: an automatic popover that opens while the right
 * button is down is closed by some browsers when that goes up.
 */
export function RowMenu({ menu, actions, onClose }: RowMenuProps): JSX.Element {
  const { file, x, y } = menu
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const focused = document.activeElement
    const shown = element.current
    shown?.showPopover()
    const { offsetWidth: width = 0, offsetHeight: height = 0 } = shown ?? {}
    shown?.style.setProperty('left', `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`)
    shown?.style.setProperty('top', `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`)
    shown?.querySelector('button')?.focus()
    const closeOutside = ({ target }: Event) => {
      if (!shown?.contains(target as Node)) onClose()
    }
    addEventListener('pointerdown', closeOutside)
    addEventListener('scroll', closeOutside, true)
    return () => {
      removeEventListener('pointerdown', closeOutside)
      removeEventListener('scroll', closeOutside, true)
      if (focused instanceof HTMLElement && document.activeElement === document.body) {
        focused.focus()
      }
    }
  }, [menu])
  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...(element.current?.querySelectorAll('button') ?? [])]
    const at = items.findIndex((item) => item === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    // The list has keys of its own.
    event.stopPropagation()
    if (event.key === 'Tab' || event.key === 'Escape') onClose()
    if (to === undefined) return
    event.preventDefault()
    items.at(to % items.length)?.focus()
  }
  return (
    <div
      ref={element}
      class="row-menu"
      role="menu"
      popover="manual"
      aria-label={t('actionsFor', { name: file.folder?.title ?? file.name })}
      onKeyDown={onKeyDown}
    >
      {fileActions(file, actions).map(({ icon, label, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          onClick={() => {
            onClose()
            run(file)
          }}
        >
          <Icon of={icon} />
          {t(label)}
        </button>
      ))}
    </div>
  )
}
