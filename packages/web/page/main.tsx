import { render } from 'preact'
import { App } from './app/app.tsx'
import { keepFocus, keepTitle } from './parts/document.ts'
import { signInAgain } from './app/session.ts'
import { startLanguage } from './i18n/language.ts'
import { keepDocumentLanguage } from './parts/preferences.tsx'

const root = document.getElementById('app')
if (!root) throw new Error('index.html has no #app')
await startLanguage()
keepDocumentLanguage()
keepTitle()
keepFocus(root)
await signInAgain().catch(() => {
  // The page asks for the password, and then reports what is wrong.
})
render(<App />, root)
