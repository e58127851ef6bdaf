import { openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { generateStore } from '../support/generated-store.ts'
import { customerRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const archive = (names: readonly string[]) =>
  customerRequest('POST', '/serve/batch', {}, JSON.stringify(names))
const mebibyte = 1024 ** 2

describe('POST /serve/batch', () => {
  it('says the sizes of files in a record of pax where the field is too short for them', async () => {
    for (const [size, field, record] of [
      [8 ** 11 - 1, '77777777777\0', undefined],
      [8 ** 11, '77777777777\0', '19 size=8589934592\n'],
      [9.5 * 1024 ** 4, '77777777777\0', `23 size=${9.5 * 1024 ** 4}\n`],
    ] as const) {
      const store = generateStore({ size })
      await using app = await runApp({ store })
      using connection = await openConnection(app.port)
      connection.write(archive(['a']))
      await connection.saw('xxxx')
      const received = connection.received()
      expect(received).to.include(field)
      if (record === undefined) expect(received).not.to.include(' size=')
      else expect(received).to.include(record)
      connection.close()
      await until('the file is closed', () => store.closed() === store.opened())
    }
  })

  it('has one file open at a time where they are not in memory', async () => {
    const store = generateStore({ size: mebibyte })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.pause()
    connection.write(archive(Array.from({ length: 100 }, (_, index) => `file ${index}`)))
    await until('the client takes nothing more', () => store.pulled() > 2 * mebibyte)
    expect(store.opened() - store.closed()).to.be.at.most(2)
    connection.close()
    await until('all files are closed', () => store.closed() === store.opened())
  })
})
