import { expect } from 'chai'
import type { PageDriver } from './page-driver.ts'

/** Closes the page, and then its server. Expects that the browser had nothing to complain about. */
export async function endVisit(driver: PageDriver, server: AsyncDisposable): Promise<void> {
  await driver.page.close()
  await server[Symbol.asyncDispose]()
  expect(driver.complaints).to.deep.equal([])
}
