import type { Page } from '@holdfast/testing/browsers'

/** Drops a file or a folder of the disk in the middle of the page, as a file manager does. In Chromium only. */
export async function dropFromDisk(page: Page, path: string): Promise<void> {
  const session = await page.createCDPSession()
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data })
  }
}
