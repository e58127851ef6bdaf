import { expect } from 'chai'
import { settings } from '../../src/config/settings.ts'

describe('settings', () => {
  for (const [text, value] of [
    ['0', 0],
    ['080', 80],
    ['65535', 65_535],
  ] as const) {
    it(`takes ${text} for a port`, () => {
      expect(settings.port.parse(text)).to.equal(value)
    })
  }

  for (const text of ['', '-1', '65536', '1e3', '0x10', '80 ', 'http', '3.5']) {
    it(`refuses "${text}" for a port`, () => {
      expect(() => settings.port.parse(text)).to.throw(RangeError, 'is not a port')
    })
  }

  it('knows the variable that Kubernetes sets for a service called holdfast', () => {
    expect(() => settings.port.parse('tcp://10.0.0.1:3000')).to.throw(
      RangeError,
      'enableServiceLinks: false',
    )
  })

  for (const [text, value] of [
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
    ['https://minio.example.com/', 'https://minio.example.com'],
    ['http://[::1]:9000', 'http://[::1]:9000'],
  ] as const) {
    it(`takes ${text} for an endpoint`, () => {
      expect(settings['minio-endpoint'].parse(text)).to.equal(value)
    })
  }

  for (const text of [
    '',
    'minio:9000',
    'minio.example.com',
    'ftp://minio',
    'http://',
    'http://key:secret@minio:9000',
    'http://minio:9000/files',
    'http://minio:9000/?key=secret',
    'http://minio:9000/#files',
  ]) {
    it(`refuses "${text}" for an endpoint`, () => {
      expect(() => settings['minio-endpoint'].parse(text)).to.throw(
        RangeError,
        'is not the address',
      )
    })
  }

  for (const [text, value] of [
    ['https://app.example.com', ['https://app.example.com']],
    ['https://a.example, http://localhost:8080', ['https://a.example', 'http://localhost:8080']],
    ['*', ['*']],
  ] as const) {
    it(`takes ${text} for origins`, () => {
      expect(settings['cors-origin'].parse(text)).to.deep.equal(value)
    })
  }

  for (const text of [
    '',
    'https://a.example/',
    'a.example',
    'https://a.example,null',
    'https://*',
  ]) {
    it(`refuses "${text}" for origins`, () => {
      expect(() => settings['cors-origin'].parse(text)).to.throw(
        RangeError,
        'which is not an origin',
      )
    })
  }

  for (const [text, value] of [
    ['1', 1],
    ['999999999', 999_999_999],
  ] as const) {
    it(`takes ${text} for a number of requests`, () => {
      expect(settings['max-requests'].parse(text)).to.equal(value)
    })
  }

  for (const text of ['', '0', '-1', '1.5', '1e3', '1000000000', 'none']) {
    it(`refuses "${text}" for a number of requests`, () => {
      expect(() => settings['max-requests'].parse(text)).to.throw(RangeError, 'whole number from 1')
    })
  }

  for (const [text, value] of [
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ] as const) {
    it(`takes ${text} for a switch`, () => {
      expect(settings['minio-create-bucket'].parse(text)).to.equal(value)
    })
  }

  for (const text of ['', 'yes', 'TRUE', '2', 'files']) {
    it(`refuses "${text}" for a switch`, () => {
      expect(() => settings['minio-create-bucket'].parse(text)).to.throw(RangeError, 'neither true')
    })
  }

  for (const url of [
    'redis://127.0.0.1:6379/0',
    'rediss://holdfast@valkey.example.com',
    'redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/main',
    'rediss+sentinel://10.0.0.1/main',
    'redis+cluster://10.0.0.1:6379,10.0.0.2:6379',
    'rediss+cluster://[2001:db8::1]:6379',
  ]) {
    it(`takes ${url} for the URL of Valkey or Redis`, () => {
      expect(settings['shared-url'].parse(url)).to.equal(url)
    })
  }

  for (const url of [
    '',
    'valkey',
    'valkey:6379',
    'redi://valkey',
    'https://valkey',
    'redis:valkey',
    'redis://',
  ]) {
    it(`refuses "${url}" for the URL of Valkey or Redis, and shows how to write it`, () => {
      expect(() => settings['shared-url'].parse(url)).to.throw(
        RangeError,
        /is not the address of Valkey or Redis[^]*such as rediss:/,
      )
    })
  }

  it('refuses a password in the URL of Valkey or Redis, and says where it belongs', () => {
    for (const url of ['redis://:s3cret@valkey', 'rediss+cluster://me:s3/cret@a,b']) {
      expect(() => settings['shared-url'].parse(url)).to.throw(
        RangeError,
        /has a password.*set HOLDFAST_SHARED_PASSWORD, or HOLDFAST_SHARED_PASSWORD_FILE/,
      )
    }
  })

  it('refuses braces and blanks in the prefix of keys', () => {
    expect(settings['shared-prefix'].parse('files:of_eu-1.')).to.equal('files:of_eu-1.')
    for (const prefix of ['', '{eu}', 'a b', 'a'.repeat(65)]) {
      expect(() => settings['shared-prefix'].parse(prefix)).to.throw(RangeError, 'is not a prefix')
    }
  })
})
