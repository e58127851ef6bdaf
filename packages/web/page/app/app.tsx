import type { JSX } from 'preact'
import { t } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { NoticeList } from '../parts/notice-list.tsx'
import { SignInForm, SignInPage } from './sign-in.tsx'
import { FilesPage } from './files-page.tsx'
import { renewPassword, session, signOut, type Session } from './session.ts'

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

/** Asks for the new password where the old one is refused; what is under way waits. */
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
