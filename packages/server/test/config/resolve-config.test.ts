import { inspect } from 'node:util'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { resolveConfig, type Config, type ConfigSources } from '../../src/config/resolve-config.ts'
import { settingNames, type SettingName } from '../../src/config/settings.ts'

describe('resolveConfig', () => {
  it('has defaults for everything', () => {
    const { readSecret: _, ...values } = resolveConfig()
    expect(values).to.deep.equal({
      host: '127.0.0.1',
      port: 3000,
      customers: './customers.yaml',
      store: 'disk',
      'max-file-size': undefined,
      'keep-replaced': undefined,
      'keep-quota': undefined,
      'upload-expiry': 604_800_000,
      'max-unfinished-uploads': 1000,
      'max-connections': undefined,
      'max-requests': 1000,
      'max-requests-per-customer': 100,
      'trust-proxy': undefined,
      'login-failures-per-address': 30,
      'login-failures-per-name': 10,
      'login-failures-window': 60_000,
      'login-failures-exempt': undefined,
      workers: 1,
      'tls-cert': undefined,
      'tls-key': undefined,
      'resumable-draft': false,
      'cors-origin': undefined,
      'max-link-age': 604_800_000,
      'no-links': false,
      'no-web': false,
      'idle-timeout': 60_000,
      'shutdown-grace': 30_000,
      'shutdown-delay': 0,
      'admin-port': undefined,
      'admin-host': '127.0.0.1',
      'log-level': 'info',
      'log-format': 'auto',
      'audit-log': undefined,
      webhook: undefined,
      'webhook-allow-private': false,
      'shared-url': undefined,
      'shared-user': undefined,
      'shared-ca': undefined,
      'shared-prefix': 'holdfast',
      data: './data',
      'min-free-space': 16 * 1024 * 1024,
      'cache-size': 32 * 1024 * 1024,
      'minio-endpoint': undefined,
      'minio-bucket': undefined,
      'minio-region': 'us-east-1',
      'minio-prefix': '',
      'minio-create-bucket': false,
    })
  })

  it('lets a flag win over the environment, that over the file, that over the default', () => {
    const file = { port: '1', host: 'file', data: 'file' }
    const environment = { HOLDFAST_PORT: '2', HOLDFAST_HOST: 'environment' }
    const flags = { port: '3' }
    const { port, host, data, store } = resolveConfig({
      flags,
      environment,
      file,
      filePath: 'f.yaml',
    })
    expect({ port, host, data, store }).to.deep.equal({
      port: 3,
      host: 'environment',
      data: 'file',
      store: 'disk',
    })
  })

  it('takes an empty variable for one that is not set', () => {
    const { port } = resolveConfig({ environment: { HOLDFAST_PORT: '' }, file: { port: '1' } })
    expect(port).to.equal(1)
  })

  it('reads sizes and times', () => {
    const environment = { HOLDFAST_MAX_FILE_SIZE: '10GB', HOLDFAST_IDLE_TIMEOUT: '5m' }
    const config = resolveConfig({ environment })
    expect(config['max-file-size']).to.equal(10_000_000_000)
    expect(config['idle-timeout']).to.equal(300_000)
  })

  it('ignores variables of other programs, whatever they are called', () => {
    expect(resolveConfig({ environment: { HOLDFAST_BACKUP_HOST: 'x', PORT: '1' } }).port).to.equal(
      3000,
    )
  })

  it('reads switches as they come from each place', () => {
    const isOn = (sources: ConfigSources) => resolveConfig(sources)['minio-create-bucket']
    const environment = { HOLDFAST_MINIO_CREATE_BUCKET: '1' }
    expect(isOn({ environment })).to.equal(true)
    expect(isOn({ environment, flags: { 'minio-create-bucket': 'false' } })).to.equal(false)
    expect(isOn({ file: { 'minio-create-bucket': 'true' } })).to.equal(true)
  })

  it('lets a flag take a prefix away that the environment sets', () => {
    const environment = { HOLDFAST_MINIO_PREFIX: 'old/' }
    const config = resolveConfig({ environment, flags: { 'minio-prefix': '' } })
    expect(config['minio-prefix']).to.equal('')
  })

  it('reads secrets from the environment when asked, and shows them in no print', async () => {
    const environment = {
      HOLDFAST_MINIO_ACCESS_KEY: 'key-of-minio',
      HOLDFAST_MINIO_SECRET_KEY: 's3cret',
    }
    const config = resolveConfig({ environment })
    expect(await config.readSecret('minio-access-key')).to.equal('key-of-minio')
    expect(await config.readSecret('minio-secret-key')).to.equal('s3cret')
    expect(inspect(config) + JSON.stringify(config)).not.to.match(/key-of-minio|s3cret/)
  })

  it('repeats no password in an endpoint', () => {
    for (const endpoint of [
      'http://me:s3cret@minio:9000',
      'http://me:s3/cret@minio',
      '//me:s3cret@x',
    ]) {
      expect(() => resolveConfig({ flags: { 'minio-endpoint': endpoint } }))
        .to.throw(SetupError, '--minio-endpoint "')
        .with.property('message')
        .that.does.not.match(/me:|cret/)
    }
  })

  it('repeats no password in the URL of Valkey or Redis', () => {
    for (const url of [
      'rediss://me:s3cret@valkey:6379',
      'redis+sentinel://:s3cret@a:26379,b:26379/main',
      'redis://me:s3/cret@valkey',
      'valkey://me:s3cret@valkey',
      'me:s3cret@valkey',
    ]) {
      expect(() => resolveConfig({ environment: { HOLDFAST_SHARED_URL: url } }))
        .to.throw(SetupError, 'HOLDFAST_SHARED_URL "')
        .with.property('message')
        .that.does.not.match(/me:|cret/)
    }
  })

  it('names the place of what is wrong', () => {
    const place = (sources: ConfigSources) => {
      try {
        resolveConfig(sources)
      } catch (error) {
        if (error instanceof SetupError) return error.message.split(' "')[0]
      }
      return 'nothing is wrong'
    }
    expect(place({ flags: { port: 'x' } })).to.equal('--port')
    expect(place({ environment: { HOLDFAST_LOG_LEVEL: 'x' } })).to.equal('HOLDFAST_LOG_LEVEL')
    expect(place({ file: { port: 'x' }, filePath: 'h.yaml' })).to.equal('h.yaml: port')
  })

  it('gives each setting the type of its parser, and undefined only where it has no default', () => {
    // Compiles only while the types are these, exactly.
    const areSame: readonly [
      Same<Config['port'], number>,
      Same<Config['log-level'], 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>,
      Same<Config['max-file-size'], number | undefined>,
      Same<Config['trust-proxy'], readonly string[] | undefined>,
      Same<Config['minio-create-bucket'], boolean>,
      Same<keyof Config, SettingName | 'readSecret'>,
    ] = [true, true, true, true, true, true]
    expect(areSame.every(Boolean)).to.equal(true)
    expect(Object.keys(resolveConfig())).to.have.members([...settingNames, 'readSecret'])
  })
})

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false
