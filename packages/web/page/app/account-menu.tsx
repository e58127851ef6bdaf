import { CircleUser, LogOut } from 'lucide'
import type { JSX } from 'preact'
import { t } from '../i18n/language.ts'
import { Icon } from './icon.tsx'
import { Preferences } from './preferences.tsx'
import { signOut, type Session } from './session.ts'
import { UsageMeter } from './usage-meter.tsx'

/** Who is signed in, the settings, and the way out. The browser opens and closes it. */
export function AccountMenu({ session }: { readonly session: Session }): JSX.Element {
  const { customer } = session.connection
  const leave = () => {
    if (!session.uploads.isBusy.value || confirm(t('signOutBusy'))) signOut()
  }
  return (
    <div class="account">
      <button
        type="button"
        class="icon-button"
        popovertarget="account-menu"
        aria-label={t('account')}
        title={t('account')}
      >
        <Icon of={CircleUser} size={22} />
      </button>
      <div id="account-menu" class="menu" popover="auto">
        <p class="menu-name">{t('signedInAs', { name: customer })}</p>
        <UsageMeter files={session.files} />
        <Preferences />
        <button type="button" class="button" onClick={leave}>
          <Icon of={LogOut} />
          {t('signOut')}
        </button>
      </div>
    </div>
  )
}
