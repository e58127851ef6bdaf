import type { JSX } from 'preact'
import { Logo } from '../app/logo.tsx'
import { Preferences } from '../app/preferences.tsx'
import { signIn } from '../app/session.ts'
import { t } from '../i18n/language.ts'
import { SignInForm } from './sign-in-form.tsx'

/** What a visitor sees first. */
export function SignInPage(): JSX.Element {
  return (
    <main class="sign-in" tabIndex={-1}>
      <div class="sign-in-card">
        <h1>
          <Logo />
          <span>holdfast</span>
        </h1>
        <p class="sign-in-lead">{t('signInLead')}</p>
        <SignInForm
          onSubmit={(customer, password, isKept) => signIn({ customer, password }, isKept)}
        />
      </div>
      <footer class="sign-in-foot">
        <Preferences />
      </footer>
    </main>
  )
}
