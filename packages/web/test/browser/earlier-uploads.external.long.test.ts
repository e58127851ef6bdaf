import type { OpenBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { openDriver } from './page-driver.ts'
import { runPage, type RunningPage } from './running-page.ts'

const size = 17 * 1024 * 1024
const film = { name: 'film.bin', content: 'y', times: size, lastModified: 7 }
const auth = { 'x-auth-name': 'anna', 'x-auth-password': 'sesame', 'tus-resumable': '1.0.0' }

/** What an earlier visit has begun, and the same file is chosen again. */
const tests = (browser: () => OpenBrowser) => {
  /** Has the server begin an upload; of all of the content, or of nothing. */
  async function begin(server: RunningPage, body?: string): Promise<string> {
    const headers = {
      ...auth,
      'upload-length': String(size),
      'upload-metadata': `filename ${btoa(film.name)}`,
      'content-type': 'application/offset+octet-stream',
    }
    const answer = await fetch(`${server.url}resumable`, {
      method: 'POST',
      headers,
      ...(body !== undefined && { body }),
    })
    expect(answer.status).to.equal(201)
    return new URL(answer.headers.get('location') ?? '', server.url).href
  }

  async function visit(server: RunningPage, address: string) {
    const driver = await openDriver(browser(), server.url)
    const { content: _, times: _times, ...file } = film
    const noted = [{ ...file, size, address, sent: 1, replaces: false }]
    await driver.page.evaluate((uploads) => {
      localStorage.setItem('holdfast:unfinished:anna', JSON.stringify(uploads))
    }, noted)
    await driver.signIn()
    await driver.sees('.upload-unfinished', film.name)
    return driver
  }

  it('sends the file anew where it was stored, and has been deleted since', async () => {
    await using server = await runPage()
    const address = await begin(server, film.content.repeat(size))
    await fetch(`${server.url}delete/${film.name}`, { method: 'DELETE', headers: auth })
    const { drop, reads, page, complaints } = await visit(server, address)
    await drop([film])
    await reads('All uploads are done')
    expect(await server.content(film.name)).to.have.length(size)
    expect(await page.evaluate(() => localStorage.length)).to.equal(0)
    expect(complaints).to.deep.equal([])
  })

  /** Sends `content` as the beginning of the upload, as an earlier visit did. */
  async function append(address: string, content: string): Promise<void> {
    const answer = await fetch(address, {
      method: 'PATCH',
      headers: {
        ...auth,
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
      },
      body: content,
    })
    expect(answer.status).to.equal(204)
  }

  it('goes on where the file is still the same', async () => {
    await using server = await runPage()
    const address = await begin(server)
    await append(address, film.content.repeat(size - 1000))
    const { drop, reads, complaints } = await visit(server, address)
    await drop([film])
    await reads('All uploads are done')
    expect(await server.content(film.name)).to.have.length(size)
    expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(1)
    expect(complaints).to.deep.equal([])
  })

  it('sends the file anew where it has the same size and time, and other content', async () => {
    await using server = await runPage()
    const address = await begin(server)
    await append(address, 'x'.repeat(size - 1000))
    const { drop, reads, complaints } = await visit(server, address)
    await drop([film])
    await reads('All uploads are done')
    const content = (await server.content(film.name)) ?? ''
    expect(content.length).to.equal(size)
    expect(content.includes('x'), 'bytes of the other one').to.equal(false)
    expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(2)
    expect(complaints).to.deep.equal([])
  })

  it('does not begin it anew where the server only does not say where it is', async () => {
    await using server = await runPage()
    const address = await begin(server)
    const { drop, press, reads, page } = await visit(server, address)
    const statuses = [429, 503, 500]
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      const status = request.method() === 'HEAD' ? statuses.shift() : undefined
      void (status === undefined ? request.continue() : request.respond({ status }))
    })
    await drop([film])
    // It tries again by itself until no time makes the error go away.
    await reads('The server answered 500')
    await press('button', `Try ${film.name} again`)
    await reads('All uploads are done')
    expect(statuses).to.deep.equal([])
    expect(await server.content(film.name)).to.have.length(size)
    expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(1)
  })
}

describeInBrowsers('An upload by the page that an earlier visit has begun', tests, {
  names: ['chromium'],
  watchesNetwork: true,
})
