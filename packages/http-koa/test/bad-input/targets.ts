import { customerRequest } from '../support/request.ts'
import { badRequests, type Table } from './bad-request.ts'

const names: readonly string[] = [
  '%',
  '%4',
  '%ZZ',
  '%u0041',
  'a%',
  '%00',
  'a%00.txt',
  '%0A',
  '%0d%0aSet-Cookie:%20a=b',
  '%1F',
  '%7F',
  '%09',
  '%2F',
  '%2f%2f',
  'a%2Fb',
  '..%2f',
  '..%2F..%2F..%2Fetc%2Fpasswd',
  '%2e%2e%2fa',
  '%2e',
  '%2e%2e',
  '.',
  '..',
  '.%2e',
  '%80',
  '%C0%80',
  '%C0%AF',
  '..%c0%af',
  '%E0%80%AF',
  '%F0%80%80%AF',
  '%C3',
  '%C3%28',
  '%ED%A0%80',
  '%ED%BF%BF',
  '%ED%A0%BD%ED%B8%80',
  '%F4%90%80%80',
  '%F8%88%80%80%80',
  '%FF%FE',
  'x'.repeat(256),
  '%E6%96%87'.repeat(86),
  '\u00e9',
]

const decoded: Table = names.flatMap((name) => [
  [`GET of ${name.slice(0, 40)}`, customerRequest('GET', `/serve/${name}`), 400],
  [`PUT of ${name.slice(0, 40)}`, customerRequest('PUT', `/upload/${name}`, {}, 'body'), 400],
  [`DELETE of ${name.slice(0, 40)}`, customerRequest('DELETE', `/delete/${name}`), 400],
])

const fragments: Table = [
  ['GET', customerRequest('GET', '/serve/kept.txt#zzz'), 400],
  ['DELETE', customerRequest('DELETE', '/delete/kept.txt#zzz'), 400],
  ['PUT', customerRequest('PUT', '/upload/a#b.txt', {}, 'body'), 400],
  ['list', customerRequest('GET', '/list#prefix=a'), 400],
]

const paths: Table = [
  ['the root', customerRequest('GET', '/'), 404],
  ['another case', customerRequest('GET', '/LIST'), 404],
  ['a slash too many', customerRequest('GET', '/list/'), 404],
  ['two slashes', customerRequest('GET', '//list'), 404],
  ['a path below a file', customerRequest('GET', '/serve/a/b'), 404],
  ['a path of two for an upload', customerRequest('PUT', '/upload/a/b', {}, 'body'), 404],
  ['a path above', customerRequest('GET', '/../list'), 404],
  ['a path through ..', customerRequest('GET', '/serve/../list'), 404],
  ['an encoded route', customerRequest('GET', '/%6cist'), 404],
  ['a semicolon', customerRequest('GET', '/list;jsessionid=1'), 404],
  ['a backslash', customerRequest('GET', '/serve\\a'), 404],
  ['no file name', customerRequest('GET', '/serve/'), 400],
  ['no file name, nor a slash', customerRequest('GET', '/serve'), 400],
  ['no file name to delete', customerRequest('DELETE', '/delete/'), 400],
  ['no file name to upload', customerRequest('PUT', '/upload/', {}, 'body'), 400],
  ['a name encoded twice, of no file', customerRequest('GET', '/serve/%252e%252e%252f'), 400],
  ['the name __proto__, of no file', customerRequest('GET', '/serve/__proto__'), 400],
]

const limits = ['0', '-1', '1.5', '1e3', '0x10', 'all', '', '%20', '+1', '9'.repeat(40), 'NaN']
const queries: Table = [
  ...limits.map((limit) => `limit=${limit}`),
  'limit=1&limit=1',
  'after=a&after=b',
  'prefix=a&prefix=b',
  'limit',
  'limit=%ZZ',
  'limit=1%00',
  'limit[]=1&limit=x',
].map((query) => [query.slice(0, 40), customerRequest('GET', `/list?${query}`), 400])

const ranges: Table = [
  'bytes=100-',
  'bytes=5-5',
  'bytes=-0',
  `bytes=${'9'.repeat(400)}-`,
  'bytes=9007199254740993-9007199254740999',
].map((range) => [
  range.slice(0, 40),
  customerRequest('GET', '/serve/kept.txt', { Range: range }),
  416,
])

const conditional = (title: string, headers: Readonly<Record<string, string>>) =>
  [title, customerRequest('GET', '/serve/kept.txt', headers), 412] as const

const conditions: Table = [
  conditional('If-Match of another tag', { 'If-Match': '"other"' }),
  conditional('If-Match of nothing', { 'If-Match': '' }),
  conditional('If-Match of garbage', { 'If-Match': '""", W/' }),
  conditional('If-Unmodified-Since long ago', {
    'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT',
  }),
]

const deletion = (field: string, value: string) =>
  [
    `deletion with ${field}`,
    customerRequest('DELETE', '/delete/kept.txt', { [field]: value }),
    400,
  ] as const

const conditionsOfDeletions: Table = [
  deletion('If-Match', '"other"'),
  deletion('If-None-Match', '*'),
  deletion('If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'),
]

export const badTargets = [
  ...badRequests('name', decoded),
  ...badRequests('fragment', fragments),
  ...badRequests('path', paths),
  ...badRequests('query', queries),
  ...badRequests('range', ranges),
  ...badRequests('condition', conditions),
  ...badRequests('condition of a deletion', conditionsOfDeletions),
]
