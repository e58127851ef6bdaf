import { parseByteSize, parseKeepReplaced } from '@holdfast/core'
import { parseReceiver } from '@holdfast/credentials-file/messages'
import {
  count,
  endpoint,
  keyPrefix,
  list,
  oneOf,
  origins,
  port,
  sharedUrl,
  text,
  truth,
  workers,
  parseDelay,
  parseDuration,
  parsePeriod,
} from './parse-setting.ts'

/** The stores that files can be kept in. */
export type StoreKind = 'disk' | 'minio'

/** One thing that can be set by a flag, in the environment, and in the configuration file. */
export interface Setting<Value, Default extends string | undefined = string | undefined> {
  readonly describe: string
  /** The only store that the setting is for; absent if it is for the server. */
  readonly store?: StoreKind
  /** Whether only a running server uses it, and not the other commands that open its store. */
  readonly isForServing?: true
  /** Whether the flag may have no value, which means `true`; in the configuration file `true` and `false` need no quotes. */
  readonly isSwitch?: true
  /** The default, as it would be written; `undefined` if an unset setting has a meaning of its own. */
  readonly default: Default
  /**
   * Parses the text of a value.
   *
   * @throws RangeError, possibly with its remedy (see `adviceOf`); its message ends a sentence that begins with the setting's name
   */
  readonly parse: (text: string) => Value
}

const setting = <Value, Default extends string | undefined>(setting: Setting<Value, Default>) =>
  setting

/**
 * Everything that can be set for `holdfast serve`. The keys are the flags, and the keys of the configuration file; the type of the
 * configuration follows from the parsers and the defaults.
 */
export const settings = {
  host: setting({
    describe: 'Address to listen on; 0.0.0.0 for all of IPv4, :: for all',
    default: '127.0.0.1',
    parse: text,
  }),
  port: setting({
    describe: 'Port to listen on; 0 for any free one',
    default: '3000',
    parse: port,
  }),
  'tls-cert': setting({
    describe: 'File with the certificate to serve HTTPS with, chain included; PEM',
    default: undefined,
    parse: text,
  }),
  'tls-key': setting({
    describe: 'File with the key of that certificate; PEM, not encrypted',
    default: undefined,
    parse: text,
  }),
  customers: setting({
    describe: 'File with the customers; see holdfast customers',
    default: './customers.yaml',
    parse: text,
  }),
  store: setting({
    describe: 'Where files are kept: disk or minio',
    default: 'disk',
    parse: oneOf<StoreKind>('disk', 'minio'),
  }),
  'max-file-size': setting({
    describe: 'Largest file, such as 10GB or 512MiB; unlimited if unset',
    default: undefined,
    parse: parseByteSize,
  }),
  'keep-replaced': setting({
    describe:
      'How long what customers replace or delete can be restored, such as 30d, or off; as each customer says if unset',
    default: undefined,
    parse: parseKeepReplaced,
  }),
  'keep-quota': setting({
    describe: 'Most bytes that are kept of what a customer replaces or deletes; its quota if unset',
    default: undefined,
    parse: parseByteSize,
  }),
  'upload-expiry': setting({
    describe: 'How long an upload in pieces is kept after its last byte, such as 12h or 7d',
    default: '7d',
    parse: parsePeriod,
  }),
  'max-unfinished-uploads': setting({
    describe: 'Uploads in pieces that each customer may have begun and not finished',
    default: '1000',
    parse: count,
  }),
  'max-connections': setting({
    describe: 'Connections of each process; as many as its open files allow if unset',
    default: undefined,
    parse: count,
  }),
  'max-requests': setting({
    describe: 'Requests under way at a time, downloads included; more get 503',
    default: '1000',
    parse: count,
  }),
  'max-requests-per-customer': setting({
    describe: 'The same for each customer',
    default: '100',
    parse: count,
  }),
  'trust-proxy': setting({
    describe: 'Proxies whose X-Forwarded-For is trusted: addresses or subnets, with commas',
    default: undefined,
    parse: list,
  }),
  'resumable-draft': setting({
    describe: "Resumable uploads by the IETF's draft, which changes until it is an RFC",
    isSwitch: true,
    default: 'false',
    parse: truth,
  }),
  'cors-origin': setting({
    describe: 'Origins whose scripts may use the service, with commas; * for all',
    default: undefined,
    parse: origins,
  }),
  'max-link-age': setting({
    describe: 'Longest time for which a link to a file is valid, such as 12h or 7d',
    default: '7d',
    parse: parsePeriod,
  }),
  'no-links': setting({
    describe: 'Do not let customers make links',
    isSwitch: true,
    default: 'false',
    parse: truth,
  }),
  'no-web': setting({
    describe: 'Do not serve the page at /',
    isSwitch: true,
    default: 'false',
    parse: truth,
  }),
  'login-failures-per-address': setting({
    describe: 'Failed logins of an address before it is refused',
    default: '30',
    parse: count,
  }),
  'login-failures-per-name': setting({
    describe: 'Failed logins of a name before the addresses that caused them are refused',
    default: '10',
    parse: count,
  }),
  'login-failures-window': setting({
    describe: 'How long failed logins count',
    default: '60s',
    parse: parseDuration,
  }),
  'login-failures-exempt': setting({
    describe:
      'Addresses whose failed logins, and requests by links, count less: addresses or subnets, with commas',
    default: undefined,
    parse: list,
  }),
  workers: setting({
    describe: 'Processes that serve, on as many processors',
    default: '1',
    parse: workers,
  }),
  'idle-timeout': setting({
    describe: 'How long a client may make no progress before it is cut off',
    default: '60s',
    parse: parseDuration,
  }),
  'shutdown-grace': setting({
    describe: 'How long requests under way may go on after SIGTERM',
    default: '30s',
    parse: parseDuration,
  }),
  'shutdown-delay': setting({
    describe: 'How long to keep serving after SIGTERM while /ready fails, before the server stops',
    default: '0s',
    parse: parseDelay,
  }),
  'admin-port': setting({
    describe: 'Port of /live, /ready and /metrics, in plain HTTP; none if unset',
    default: undefined,
    parse: port,
  }),
  'admin-host': setting({
    describe: 'Address for that port',
    default: '127.0.0.1',
    parse: text,
  }),
  'log-level': setting({
    describe: 'Least important lines to log',
    default: 'info',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
  'log-format': setting({
    describe: 'How to log: json, pretty (for people), or auto, which is pretty on a terminal',
    default: 'auto',
    parse: oneOf('auto', 'json', 'pretty'),
  }),
  'audit-log': setting({
    describe: 'File for the audit trail, - for standard output; no trail if unset',
    default: undefined,
    parse: text,
  }),
  webhook: setting({
    describe: 'URL that gets an event for each change in the audit trail; no events if unset',
    default: undefined,
    parse: parseReceiver,
  }),
  'webhook-allow-private': setting({
    describe: 'The receiver of events may be in a private network, and speak plain HTTP',
    isSwitch: true,
    default: 'false',
    parse: truth,
  }),
  'shared-url': setting({
    describe:
      'Valkey or Redis in which several servers count together, such as rediss://host; each counts for itself if unset',
    default: undefined,
    parse: sharedUrl,
  }),
  'shared-user': setting({
    describe: 'Name under which the server logs in to Valkey or Redis',
    default: undefined,
    parse: text,
  }),
  'shared-ca': setting({
    describe: 'File with the authorities that certify Valkey or Redis; PEM',
    default: undefined,
    parse: text,
  }),
  'shared-prefix': setting({
    describe:
      'What all keys in Valkey or Redis begin with; servers with the same one count together',
    default: 'holdfast',
    parse: keyPrefix,
  }),
  data: setting({
    describe: 'Directory that keeps the files; made if missing',
    store: 'disk',
    default: './data',
    parse: text,
  }),
  'min-free-space': setting({
    describe:
      'If less disk space is free, earlier versions are removed and /ready fails; 0 for no limit',
    store: 'disk',
    isForServing: true,
    default: '16MiB',
    parse: parseByteSize,
  }),
  'cache-size': setting({
    describe: 'Memory in which each process keeps small files and names of lists; 0 for none',
    default: '32MiB',
    parse: parseByteSize,
  }),
  'minio-endpoint': setting({
    describe: 'Address of MinIO or another S3 server, such as http://host:9000',
    store: 'minio',
    default: undefined,
    parse: endpoint,
  }),
  'minio-bucket': setting({
    describe: 'Bucket that keeps the files',
    store: 'minio',
    default: undefined,
    parse: text,
  }),
  'minio-region': setting({
    describe: 'Region that requests are signed for',
    store: 'minio',
    default: 'us-east-1',
    parse: text,
  }),
  'minio-prefix': setting({
    describe: 'What all keys in the bucket begin with, such as holdfast/',
    store: 'minio',
    default: '',
    parse: (value) => value,
  }),
  'minio-create-bucket': setting({
    describe: 'Make the bucket if it is missing',
    store: 'minio',
    isSwitch: true,
    default: 'false',
    parse: truth,
  }),
} as const

export type SettingName = keyof typeof settings

/** The parsed value of each setting; `undefined` only if it has no default. */
export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> }

type ValueOf<S extends Setting<unknown>> =
  | ReturnType<S['parse']>
  | (S['default'] extends string ? never : undefined)

export const settingNames = Object.keys(settings) as readonly SettingName[]

/** The environment variable of a setting or secret: `HOLDFAST_MAX_FILE_SIZE` for `max-file-size`. */
export function environmentName(name: string): string {
  return `HOLDFAST_${name.toUpperCase().replaceAll('-', '_')}`
}
