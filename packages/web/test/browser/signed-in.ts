import type { OpenBrowser } from '@holdfast/testing/browsers'
import { endVisit } from './end-visit.ts'
import { openDriver, type PageDriver } from './page-driver.ts'
import { serveSite, type Customer, type ServedSite } from './served-site.ts'

export interface SignedIn extends AsyncDisposable {
  readonly site: ServedSite
  readonly driver: PageDriver
}

/** The page for `anna`, who has signed in and has no files, on a real server. */
export async function signedIn(
  browser: OpenBrowser,
  customers?: readonly Customer[],
): Promise<SignedIn> {
  const site = await serveSite(customers)
  const driver = await openDriver(browser, site.line.url)
  await driver.signIn()
  await driver.reads('Nothing here yet')
  return {
    site,
    driver,
    [Symbol.asyncDispose]: () => endVisit(driver, site),
  }
}
