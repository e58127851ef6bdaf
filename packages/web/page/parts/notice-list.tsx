import { X } from 'lucide'
import type { JSX } from 'preact'
import { t } from '../i18n/language.ts'
import { IconButton } from './icon.tsx'
import { dismissNotice, notices } from './notices.ts'

/** The messages, which screen readers read aloud when they appear. */
export function NoticeList(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, isError, action }) => (
        <div key={id} class={isError ? 'notice notice-error' : 'notice'}>
          <p>{typeof text === 'function' ? text() : text}</p>
          {action && (
            <button
              type="button"
              class="notice-action"
              onClick={() => {
                dismissNotice(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          {isError && <IconButton icon={X} label={t('close')} onClick={() => dismissNotice(id)} />}
        </div>
      ))}
    </div>
  )
}
