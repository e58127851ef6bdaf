export type { BrowserContext, Page } from 'puppeteer-core'
export { browse } from './browse.ts'
export { browserNames, type BrowserName } from './browser-names.ts'
export { openBrowser, type BrowserOptions, type OpenBrowser } from './open-browser.ts'
