import { expect } from 'chai'
import { createCors } from '../../src/guards/cors.ts'
import { auth, runApp, type RunningApp } from '../support/running-app.ts'

const origin = 'https://app.example.com'

const send = (app: RunningApp, method: string, path: string, headers: Record<string, string>) =>
  fetch(`${app.url}${path}`, { method, headers: { ...auth, ...headers } })
const accessOf = ({ headers }: Response) => headers.get('access-control-allow-origin')

describe('corsOrigins', () => {
  it('answers preflights of every path, with the methods and the headers that scripts need', async () => {
    await using app = await runApp({ corsOrigins: [origin] })
    for (const path of ['/upload', '/upload/a', '/resumable', '/serve/a', '/list', '/link/a']) {
      const wanted = 'x-auth-name,x-auth-password,tus-resumable,upload-offset'
      const answer = await fetch(`${app.url}${path}`, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'PATCH',
          'Access-Control-Request-Headers': wanted,
        },
      })
      expect(answer.status, path).to.equal(204)
      expect(accessOf(answer)).to.equal(origin)
      expect(answer.headers.get('access-control-allow-methods')?.split(',')).to.have.members([
        'GET',
        'HEAD',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
      ])
      expect(answer.headers.get('access-control-allow-headers')).to.equal(wanted)
      expect(answer.headers.get('access-control-max-age')).to.equal('86400')
      expect(answer.headers.get('access-control-allow-credentials')).to.equal(null)
    }
  })

  it('lets scripts read answers and errors, small files too, and never by cookie', async () => {
    await using app = await runApp({ corsOrigins: [origin] })
    await app.files.upload('a', 'content')
    for (const [path, status] of [
      ['/serve/a', 200],
      ['/serve/none', 400],
      ['/serve/a?link=wrong', 403],
      ['/list', 200],
      ['/nowhere', 404],
    ] as const) {
      const answer = await send(app, 'GET', path, { Origin: origin })
      expect([answer.status, accessOf(answer)], path).to.deep.equal([status, origin])
      expect(answer.headers.get('vary')).to.equal('Origin')
      expect(answer.headers.get('access-control-expose-headers')).to.include('ETag')
      expect(answer.headers.get('access-control-allow-credentials')).to.equal(null)
    }
    const refused = await send(app, 'POST', '/list', { Origin: origin })
    expect([refused.status, accessOf(refused)]).to.deep.equal([405, origin])
  })

  it('gives no other origin anything, and answers requests without one as ever', async () => {
    await using app = await runApp({ corsOrigins: [origin, 'http://localhost:8080'] })
    await app.files.upload('a', 'content')
    for (const other of ['https://app.example.com.evil', 'http://app.example.com', 'null']) {
      expect(accessOf(await send(app, 'GET', '/serve/a', { Origin: other })), other).to.equal(null)
    }
    const own = await send(app, 'GET', '/serve/a', {})
    expect([await own.text(), accessOf(own), own.headers.get('vary')]).to.deep.equal([
      'content',
      null,
      'Origin',
    ])
  })

  it('has * for all, and nothing by default', async () => {
    await using open = await runApp({ corsOrigins: ['*'] })
    expect(accessOf(await send(open, 'GET', '/ping', { Origin: origin }))).to.equal('*')
    await using closed = await runApp()
    const answer = await send(closed, 'GET', '/ping', { Origin: origin })
    expect([accessOf(answer), answer.headers.get('vary')]).to.deep.equal([null, null])
  })

  it('refuses what is no origin', () => {
    for (const wrong of [
      '',
      'app.example.com',
      'https://a.example/',
      'https://*.example',
      'null',
      'ftp://a',
    ]) {
      expect(() => createCors([wrong]), wrong).to.throw(RangeError)
    }
  })
})
