import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from '../../packages/testing/src/browsers.ts'

/** Light or dark, and without motion. */
export async function setColorScheme(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
}

export const press = (page: Page, name: string) =>
  page.locator(`::-p-aria([name="${name}"][role="button"])`).click()

export async function fillIn(page: Page, name: string, password = 'sesame'): Promise<void> {
  await page.locator('[name=username]').fill(name)
  await page.locator('[name=password]').fill(password)
  await press(page, 'Sign in')
}

/** Signs in as the customer who has the sample files. */
export async function signIn(page: Page): Promise<void> {
  await fillIn(page, 'anna')
  await page.waitForSelector('::-p-text(14 files)')
}

/** Makes files of these sizes in `folder`, and begins to upload them over a slow line. */
export async function upload(
  page: Page,
  folder: string,
  sizes: Readonly<Record<string, number>>,
): Promise<void> {
  const paths = Object.keys(sizes).map((name) => join(folder, name))
  for (const [index, size] of Object.values(sizes).entries()) {
    await writeFile(paths[index] ?? '', '')
    await truncate(paths[index] ?? '', size)
  }
  await page.emulateNetworkConditions({ upload: 6_000_000, download: -1, latency: 0 })
  const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, 'Upload')])
  await chooser.accept(paths)
}
