import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { requestHead } from '../support/request-head.ts'
import type { StartService } from '../support/running-service.ts'

const paths: Readonly<Record<string, readonly string[]>> = {
  '/ping': ['GET', 'HEAD'],
  '/upload': ['POST'],
  '/upload/a': ['PUT'],
  '/upload/batch': ['POST', 'PUT'],
  '/serve/a': ['GET', 'HEAD'],
  '/delete/a': ['DELETE'],
  '/serve/batch': ['POST', 'GET', 'HEAD'],
  '/delete/batch': ['POST', 'DELETE'],
  '/list': ['GET', 'HEAD'],
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']

function methodsIn(allow: string | null): readonly string[] {
  return (allow ?? '').split(', ')
}

export function methodsAndPaths(start: StartService): void {
  describe('unknown path', () => {
    for (const path of [
      '/',
      '/nowhere',
      '/Ping',
      '/LIST',
      '/ping/',
      '/list/',
      '//ping',
      '/v1/ping',
    ]) {
      it(`${path} is 404, with the error body`, async () => {
        await using service = await start()
        const head = requestHead('GET', path, service.anna.headers)
        expectError(await service.exchange(head), 404, 'Not Found')
      })
    }

    for (const [method, path] of [
      ['GET', '/serve/a/b'],
      ['DELETE', '/delete/a/b'],
      ['PUT', '/upload/dir/a.txt'],
    ] as const) {
      it(`${method} ${path} is 404, and says why`, async () => {
        await using service = await start()
        const head = requestHead(method, path, service.anna.headers)
        const message = 'Not Found: the name of a file has no /'
        expectError(await service.exchange(head), 404, message)
      })
    }
  })

  describe('wrong method', () => {
    for (const [path, allowed] of Object.entries(paths)) {
      it(`on ${path} is 405 with Allow: ${allowed.join(', ')}, OPTIONS, and the error body`, async () => {
        await using service = await start()
        for (const method of methods.filter((each) => !allowed.includes(each))) {
          using connection = await service.connect()
          const headers = { ...service.anna.headers, 'Content-Length': 0 }
          await connection.send(requestHead(method, path, headers))
          const answer = await connection.answer({ toHead: method === 'HEAD' })
          expect(answer.status, method).to.equal(405)
          expect(methodsIn(answer.headers.get('allow'))).to.have.members([...allowed, 'OPTIONS'])
          if (method === 'HEAD') continue
          expectError(answer, 405, `Method not allowed. Use ${answer.headers.get('allow') ?? ''}`)
        }
      })
    }

    it('CONNECT is 405, TRACE too', async () => {
      await using service = await start()
      const connect = Buffer.from('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n')
      expectError(await service.exchange(connect), 405, 'Method not allowed')
      expect((await service.exchange(requestHead('TRACE', '/ping'))).status).to.equal(405)
    })
  })

  describe('OPTIONS', () => {
    for (const [path, allowed] of Object.entries(paths)) {
      it(`${path} is 204 with Allow, and needs no credentials`, async () => {
        await using service = await start()
        const answer = await service.exchange(requestHead('OPTIONS', path))
        expect(answer.status).to.equal(204)
        expect(methodsIn(answer.headers.get('allow'))).to.have.members([...allowed, 'OPTIONS'])
      })
    }
  })

  describe('HEAD, wherever GET is', () => {
    for (const path of ['/ping', '/serve/a', '/list']) {
      it(`${path} has the status of GET and no body, and the connection goes on`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a', 'content'))
        using connection = await service.connect()
        for (const method of ['HEAD', 'GET']) {
          await connection.send(requestHead(method, path, service.anna.headers))
          const answer = await connection.answer({ toHead: method === 'HEAD' })
          expect(answer.status).to.equal(200)
        }
        expect(connection.unread().length).to.equal(0)
      })
    }
  })

  describe('versioning', () => {
    it('has none in headers: whatever version a client asks for, the answer is the same', async () => {
      await using service = await start()
      const asked = { Accept: 'application/vnd.holdfast.v2+json', 'Api-Version': '2' }
      expect((await service.exchange(requestHead('GET', '/ping', asked))).status).to.equal(200)
    })
  })
}
