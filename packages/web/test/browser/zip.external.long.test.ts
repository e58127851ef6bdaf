import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { openDriver, type PageDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('A download of several files as a ZIP', (browser, name) => {
  const files = {
    '..\\a.txt': 'text of a',
    'Überblick – 日本.txt': 'x'.repeat(20_000),
    leer: '',
  }
  /** As they are called in the ZIP. */
  const { '..\\a.txt': text, ...others } = files
  const packed = { '.._a.txt': text, ...others }

  async function selected(prepare: (page: PageDriver['page']) => Promise<unknown>) {
    await using opened = new AsyncDisposableStack()
    const server = opened.use(await runPage())
    for (const [each, content] of Object.entries(files)) await server.put(each, content)
    const driver = await openDriver(browser(), server.url)
    await prepare(driver.page)
    await driver.signIn()
    await driver.page.waitForSelector('.rows .row')
    await driver.click('.row-head [type=checkbox]')
    await driver.sees('.status', '3 selected')
    const kept = opened.move()
    return { server, driver, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  }

  /** The dialog of the browser is beyond scripts; a file of the page's own storage stands for the chosen one. */
  const chooseFile = (page: PageDriver['page']) =>
    page.evaluate(() => {
      Object.assign(window, {
        showSaveFilePicker: async () =>
          (await navigator.storage.getDirectory()).getFileHandle('saved.zip', { create: true }),
      })
    })

  const savedZip = async (page: PageDriver['page']) => {
    const bytes = await page.evaluate(async () => {
      const folder = await navigator.storage.getDirectory()
      const file = await (await folder.getFileHandle('saved.zip')).getFile()
      return [...new Uint8Array(await file.arrayBuffer())]
    })
    return Buffer.from(bytes)
  }

  // Firefox cannot write a file as it comes.
  if (name === 'chromium') {
    it('writes them to the disk as they come', async () => {
      await using opened = await selected(chooseFile)
      const { page, click, misses } = opened.driver
      await click('[aria-label="Download as ZIP"]')
      await page.waitForFunction(async () => {
        const folder = await navigator.storage.getDirectory()
        const handle = await folder.getFileHandle('saved.zip').catch(() => undefined)
        return handle && (await handle.getFile()).size > 0
      })
      await misses('.notices', 'Packing')
      expect(entriesOf(await savedZip(page))).to.deep.equal(packed)
      expect(await opened.driver.axe()).to.deep.equal([])
    })

    it('leaves the chosen file as it was where one of them is gone, and says which', async () => {
      await using opened = await selected(chooseFile)
      const { page, click, sees } = opened.driver
      await remove(opened.server.url, 'leer')
      await click('[aria-label="Download as ZIP"]')
      await sees('.notices', '“leer” could not be downloaded')
      expect(await savedZip(page)).to.have.length(0)
    })
  }

  const noteSaved = (page: PageDriver['page']) =>
    page.evaluate(() => {
      Reflect.deleteProperty(window, 'showSaveFilePicker')
      const create = URL.createObjectURL.bind(URL)
      URL.createObjectURL = (blob: Blob) => {
        Object.assign(window, { saved: blob })
        return create(blob)
      }
    })

  it('packs in memory where the browser cannot write a stream', async () => {
    await using opened = await selected(noteSaved)
    const { page, click } = opened.driver
    await click('[aria-label="Download as ZIP"]')
    await page.waitForFunction(() => 'saved' in window)
    const bytes = await page.evaluate(async () => {
      const { saved } = window as never as { saved: Blob }
      return [...new Uint8Array(await saved.arrayBuffer())]
    })
    expect(entriesOf(Buffer.from(bytes))).to.deep.equal(packed)
  })

  it('saves nothing that was packed in memory where one of them is gone, and says which', async () => {
    await using opened = await selected(noteSaved)
    const { page, click, sees } = opened.driver
    await remove(opened.server.url, 'leer')
    await click('[aria-label="Download as ZIP"]')
    await sees('.notices', '“leer” could not be downloaded')
    expect(await page.evaluate(() => 'saved' in window)).to.equal(false)
  })
})

async function remove(url: string, name: string): Promise<void> {
  const headers = { 'x-auth-name': 'anna', 'x-auth-password': 'sesame' }
  await fetch(`${url}delete/${name}`, { method: 'DELETE', headers })
}

/** The files of a ZIP that compresses nothing, by its directory (APPNOTE.TXT 4.3.12). */
function entriesOf(zip: Buffer): Record<string, string> {
  const found: Record<string, string> = {}
  const end = zip.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [size, start] = [zip.readUInt32LE(at + 24), zip.readUInt32LE(at + 42)]
    const [nameLength, extraLength] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const begin = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28)
    const content = zip.subarray(begin, begin + size)
    expect(crc32(content)).to.equal(zip.readUInt32LE(at + 16))
    found[zip.toString('utf8', at + 46, at + 46 + nameLength)] = content.toString()
    at += 46 + nameLength + extraLength + zip.readUInt16LE(at + 32)
  }
  return found
}
