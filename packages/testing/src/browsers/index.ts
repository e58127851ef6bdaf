export type { BrowserContext, Page } from 'puppeteer-core'
export {
  browse,
  browserNames,
  type BrowserName,
  openBrowser,
  type BrowserOptions,
  type OpenBrowser,
} from './open-browser.ts'
