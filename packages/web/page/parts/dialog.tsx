import { X } from 'lucide'
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { closeByBack } from '../browser/address.ts'
import { t } from '../i18n/language.ts'
import { IconButton } from './icon.tsx'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Left out if the dialog requires an answer. */
  readonly onClose?: () => void
  /** Whether the address of the page says that the dialog is open. Default: false. */
  readonly isInAddress?: boolean
  readonly class?: string
  readonly onKeyDown?: (event: KeyboardEvent) => void
}

/** A dialog above the page. The browser keeps the focus in it, and returns it at the end. */
export function Dialog(props: DialogProps): JSX.Element {
  const { title, children, onClose, isInAddress = false, class: own = '', onKeyDown } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  // Before the next paint, since the next key is for the dialog.
  useLayoutEffect(() => {
    const element = dialog.current
    const focused = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus()
    }
  }, [])
  useBackToClose(isInAddress ? undefined : onClose)
  const closeOutside = ({ target }: MouseEvent) => {
    if (target === dialog.current) onClose?.()
  }
  const cancel = (event: Event) => {
    event.preventDefault()
    onClose?.()
  }
  // Browsers close any dialog at a second Escape; one that requires an answer opens again.
  const stay = () => {
    const element = dialog.current
    if (!onClose && element?.isConnected && !element.open) element.showModal()
  }
  return (
    <dialog
      ref={dialog}
      class={`dialog ${own}`}
      aria-labelledby={heading}
      onCancel={cancel}
      onClose={stay}
      onClick={closeOutside}
      {...(onKeyDown && { onKeyDown })}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={heading}>{title}</h2>
          {onClose && <IconButton icon={X} label={t('close')} onClick={onClose} />}
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** Lets the browser's Back close the dialog, and the next question in the same dialog, too. */
function useBackToClose(onClose: (() => void) | undefined): void {
  const latest = useRef(onClose)
  latest.current = onClose
  const isClosable = onClose !== undefined
  useLayoutEffect(() => {
    if (!isClosable) return
    let remove = () => {}
    let isOpen = true
    const register = () => {
      remove = closeByBack(() => {
        latest.current?.()
        setTimeout(() => isOpen && register())
      })
    }
    register()
    return () => {
      isOpen = false
      remove()
    }
  }, [isClosable])
}
