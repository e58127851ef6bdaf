import { expect } from 'chai'
import { carriesAdvice } from '@holdfast/core'
import { parseEngineUrl } from '../src/index.ts'

describe('parseEngineUrl', () => {
  const refusal = (url: string) => {
    try {
      parseEngineUrl(url)
    } catch (error) {
      if (carriesAdvice(error)) return error.message
      throw error
    }
    throw new Error(`${url} is not refused`)
  }

  it('reads the address of a single server', () => {
    expect(parseEngineUrl('redis://cache.example')).to.deep.equal({
      kind: 'single',
      tls: false,
      hosts: [{ host: 'cache.example', port: 6379 }],
      database: 0,
      masterName: '',
    })
    expect(parseEngineUrl('rediss://10.0.0.1:7000/12')).to.include({ tls: true, database: 12 })
    expect(parseEngineUrl('REDIS://host/')).to.include({ kind: 'single', database: 0 })
    expect(parseEngineUrl('redis://[::1]:7000').hosts).to.deep.equal([{ host: '::1', port: 7000 }])
    expect(parseEngineUrl('redis://[fe80::1]').hosts).to.deep.equal([
      { host: 'fe80::1', port: 6379 },
    ])
  })

  it('reads a user', () => {
    expect(parseEngineUrl('redis://bob@host')).to.include({ username: 'bob' })
    expect(parseEngineUrl('redis://b%40b@host')).to.include({ username: 'b@b' })
    expect(parseEngineUrl('redis://host')).to.not.have.property('username')
  })

  it('reads the addresses of Sentinels, and what they call the master', () => {
    expect(parseEngineUrl('redis+sentinel://a,b:7/my%20main/3')).to.deep.equal({
      kind: 'sentinel',
      tls: false,
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 7 },
      ],
      database: 3,
      masterName: 'my main',
    })
    expect(parseEngineUrl('rediss+sentinel://a/main')).to.include({ tls: true, kind: 'sentinel' })
  })

  it('reads the addresses of nodes of a Cluster', () => {
    const { kind, tls, hosts } = parseEngineUrl('rediss+cluster://bob@a:1,b')
    expect({ kind, tls }).to.deep.equal({ kind: 'cluster', tls: true })
    expect(hosts).to.deep.equal([
      { host: 'a', port: 1 },
      { host: 'b', port: 6379 },
    ])
  })

  it('refuses what has no scheme, or an unknown one, and names the right ones', () => {
    expect(refusal('host:6379')).to.match(/has no scheme: host:6379.*redis:\/\/host:6379/s)
    expect(refusal('localhost')).to.include('redis://localhost')
    for (const url of ['', 'redis:host', '//host', '/run/redis.sock']) {
      expect(refusal(url), url).to.include('redis://HOST:6379')
    }
    expect(refusal('redi://host')).to.match(/unknown scheme, redi:\/\/.*redis:\/\/HOST/s)
    expect(refusal('http://host')).to.include('unknown scheme, http://')
    expect(refusal('unix:///run/redis.sock')).to.include('cannot be a Unix socket')
  })

  it('refuses a password, and does not repeat it', () => {
    for (const url of [
      'redis://bob:s3cret@host',
      'redis://:s3cret@host',
      'redis://bob:s3cret/x@host',
      'redis://bob:s3cret@x@host/1',
      'redis://bob:s3cret?@host',
      'redis+sentinel://:s3cret@host/main',
    ]) {
      expect(refusal(url), url)
        .to.include('HOLDFAST_SHARED_PASSWORD_FILE')
        .and.not.include('s3cret')
    }
    // Passwords that went to the wrong setting.
    for (const url of ['s3cret', 'My-s3cret', 's3cret:pass:word']) {
      expect(refusal(url), url).to.not.include('s3cret')
    }
  })

  it('refuses queries and fragments', () => {
    for (const url of ['redis://host?db=1', 'redis://host/0?x', 'redis://host#x']) {
      expect(refusal(url), url).to.include('query or a fragment')
    }
  })

  it('refuses hosts and ports that cannot be read', () => {
    for (const url of [
      'redis://',
      'redis:///0',
      'redis://host:',
      'redis://host:0',
      'redis://host:65536',
      'redis://host:x',
      'redis://ho st',
      'redis://-x',
      'redis+cluster://a,,b',
      'redis+cluster://a,b,',
    ]) {
      expect(refusal(url), url).to.include('a host that cannot be read')
    }
    expect(refusal('redis://::1:6379')).to.include('redis://[::1]:6379')
    expect(refusal('redis://a,b')).to.include('several hosts').and.include('redis+cluster://')
    expect(refusal('redis://@host')).to.include('a user that cannot be read')
    expect(refusal('redis://%zz@host')).to.include('a user that cannot be read')
  })

  it('refuses a path that is not the number of a database', () => {
    for (const url of ['redis://host/main', 'redis://host/1/2', 'redis://host/-1']) {
      expect(refusal(url), url).to.include('not the number of a database')
    }
    expect(refusal('redis+sentinel://host')).to.include('what the Sentinels call the master')
    expect(refusal('redis+sentinel://host/main/x')).to.include('not the number of a database')
    expect(refusal('redis+cluster://host/1')).to.include('the database 0 only')
  })
})
