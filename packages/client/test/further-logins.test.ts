import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import type { Client, HoldfastError } from '../src/index.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { clientOf, login, startService } from './support/running-service.ts'

const start = () =>
  startService({
    logins: {
      reader: ['read'],
      lister: ['list'],
      adder: ['list', 'read', 'create'],
      dropper: ['create'],
    },
  })

type Service = Awaited<ReturnType<typeof start>>

const ofLogin = (service: Service, name: string): Client =>
  clientOf(service, { name: `${login.name}/${name}`, password: name })

async function codeOf(work: Promise<unknown>): Promise<readonly string[]> {
  const { code, message } = (await rejection(work)) as HoldfastError
  return [code, message]
}

describe('A client with a further login', function () {
  this.timeout(60_000)

  it('learns which right is missing', async () => {
    await using service = await start()
    const dropper = ofLogin(service, 'dropper')
    expect(await codeOf(dropper.usage())).to.deep.equal([
      'not-allowed',
      'Not allowed: missing right list',
    ])
    expect((await codeOf(dropper.download('a')))[0]).to.equal('not-allowed')
    expect((await codeOf(dropper.delete('a')))[0]).to.equal('not-allowed')
    expect((await codeOf(ofLogin(service, 'reader').upload('a', 'x')))[0]).to.equal('not-allowed')
  })

  it('learns what it may do', async () => {
    await using service = await start()
    expect(await ofLogin(service, 'adder').usage()).to.deep.include({
      login: 'adder',
      may: ['list', 'read', 'create'],
    })
  })

  it('uploads files of every size that it may not read', async () => {
    await using service = await start()
    const dropper = ofLogin(service, 'dropper')
    const bytes = contentOf(17 * mebibyte)
    await dropper.upload('small', 'x')
    await dropper.upload('large', bytes)
    expect((await service.files.stat('large')).size).to.equal(bytes.length)
    for (const name of ['small', 'large']) {
      expect((await codeOf(dropper.upload(name, bytes)))[0]).to.equal('already-exists')
    }
  })

  it('takes an earlier upload that was published for done, though it may not read it', async () => {
    await using service = await start()
    const dropper = ofLogin(service, 'dropper')
    const bytes = contentOf(17 * mebibyte)
    let uploadUrl = ''
    await dropper.upload('large', bytes, { onUploadUrl: (url) => void (uploadUrl = url) })
    service.requests.length = 0
    await dropper.upload('large', bytes, { uploadUrl })
    expect(service.requests[0]).to.equal(`HEAD ${new URL(uploadUrl).pathname}`)
    expect(service.requests).to.not.include('POST /resumable')
  })

  it('says that it may not continue an upload, once it may only read', async () => {
    await using service = await start()
    let uploadUrl = ''
    const bytes = contentOf(17 * mebibyte)
    await clientOf(service).upload('large', bytes, { onUploadUrl: (url) => void (uploadUrl = url) })
    const again = ofLogin(service, 'reader').upload('large', bytes, { uploadUrl })
    expect((await codeOf(again))[0]).to.equal('not-allowed')
  })

  it('finds the details of a file by reading or by listing', async () => {
    await using service = await start()
    await clientOf(service).upload('a', 'content')
    for (const name of ['reader', 'lister']) {
      for (const isRounded of [false, true]) {
        expect((await ofLogin(service, name).stat('a', { isRounded })).size).to.equal(7)
      }
    }
    expect((await codeOf(ofLogin(service, 'dropper').stat('a')))[0]).to.equal('not-allowed')
  })
})
