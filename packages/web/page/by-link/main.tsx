import { render } from 'preact'
import { keepFocus, keepTitle } from '../parts/document.ts'
import { startLanguage } from '../i18n/language.ts'
import { keepDocumentLanguage } from '../parts/preferences.tsx'
import { readTerms } from '../links/link-terms.ts'
import { ByLinkPage } from './by-link-page.tsx'

const root = document.getElementById('app')
if (!root) throw new Error('index.html has no #app')
await startLanguage()
keepDocumentLanguage()
keepTitle()
keepFocus(root)
const written = document.querySelector<HTMLMetaElement>('meta[name="link"]')?.content
render(<ByLinkPage terms={readTerms(written)} />, root)
