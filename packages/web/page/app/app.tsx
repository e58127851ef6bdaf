import { Eye, EyeOff } from 'lucide'
import type { JSX } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isHoldfastError } from '@holdfast/client/browser'
import { readSetting, writeSetting } from '../browser/storage-and-timers.ts'
import { t, plural } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { NoticeList } from '../parts/notice-list.tsx'
import { IconButton, Logo } from '../parts/icon.tsx'
import { Preferences } from '../parts/preferences.tsx'
import { isRefusedLogin } from '../api/connection.ts'
import { explainError } from '../parts/explain-error.ts'
import { FilesPage } from './files-page.tsx'
import { renewPassword, session, signOut, type Session, signIn } from './session.ts'

/** The page. */
export function App(): JSX.Element {
  const current = session.value
  return (
    <>
      {current ? <FilesPage key={current.connection.customer} session={current} /> : <SignInPage />}
      {current?.connection.isRefused.value && <RenewPassword session={current} />}
      <NoticeList />
    </>
  )
}

/** Asks for the new password after the server has refused the old one; requests wait meanwhile. */
function RenewPassword({ session: { connection, files, uploads } }: { readonly session: Session }) {
  const renew = async (_customer: string, password: string) => {
    await renewPassword(connection, password)
    uploads.proceed()
    void files.load()
  }
  return (
    <Dialog title={t('signIn')} class="renew">
      <p>{t('signInAgain')}</p>
      <SignInForm customer={connection.customer} onSubmit={renew} />
      <button type="button" class="button" onClick={signOut}>
        {t('signOut')}
      </button>
    </Dialog>
  )
}

/** The first page for visitors. */
function SignInPage(): JSX.Element {
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

interface SignInFormProps {
  /** A fixed name, if only the password is needed. */
  readonly customer?: string
  readonly onSubmit: (customer: string, password: string, isKept: boolean) => Promise<void>
}

/** Name and password, in fields that password managers recognize. */
function SignInForm({ customer, onSubmit }: SignInFormProps): JSX.Element {
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isShown, setShown] = useState(false)
  const password = useRef<HTMLInputElement>(null)
  const first = useRef<HTMLInputElement>(null)
  const hint = useId()
  useLayoutEffect(() => first.current?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy) return
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const [name, secret] = [textOf(data, 'username'), textOf(data, 'password')]
    if (name === '' || secret === '') {
      setProblem(t('fillBoth'))
      return
    }
    setBusy(true)
    setProblem('')
    try {
      const isKept = data.has('keep')
      await onSubmit(name, secret, isKept)
      if (customer === undefined) writeSetting('keep', isKept ? 'yes' : undefined)
    } catch (error) {
      setProblem(signInProblem(error))
      password.current?.focus()
      password.current?.select()
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      <label class="field">
        <span>{t('customer')}</span>
        <input
          ref={customer === undefined ? first : null}
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          {...(customer === undefined ? {} : { value: customer, readOnly: true })}
        />
      </label>
      <div class="password">
        <label class="field">
          <span>{t('password')}</span>
          <input
            ref={password}
            name="password"
            type={isShown ? 'text' : 'password'}
            autocomplete="current-password"
            spellcheck={false}
            autofocus={customer !== undefined}
          />
        </label>
        <IconButton
          icon={isShown ? EyeOff : Eye}
          label={t(isShown ? 'hidePassword' : 'showPassword')}
          onClick={() => setShown(!isShown)}
        />
      </div>
      {customer === undefined && (
        <label class="check">
          <input
            type="checkbox"
            name="keep"
            defaultChecked={readSetting('keep') === 'yes'}
            aria-describedby={hint}
          />
          <span>
            {t('remember')}
            <small id={hint}>{t('rememberHint')}</small>
          </span>
        </label>
      )}
      <p role="alert" class="form-error">
        {problem}
      </p>
      <button type="submit" class="button button-main" aria-disabled={isBusy}>
        {t(isBusy ? 'signingIn' : 'signIn')}
      </button>
    </form>
  )
}

function textOf(data: FormData, field: string): string {
  const value = data.get(field)
  return typeof value === 'string' ? value : ''
}

/** Why signing in failed, as a text for the user. */
function signInProblem(error: unknown): string {
  if (isRefusedLogin(error)) return t('wrongPassword')
  if (isHoldfastError(error) && error.status === 429) {
    return plural('tooManyAttempts', error.retryAfter ?? 60)
  }
  return explainError(error)
}
