import {
  boundary,
  customerRequest,
  filePart,
  form,
  formRequest,
  part,
  textPart,
} from '../support/request.ts'
import { badRequests, type Table } from './bad-request.ts'

const file = filePart('refused.txt')
const whole = form(file)
const disposition = 'Content-Disposition: form-data; name="file"; filename="refused.txt"'

const typed = (type: string, body = whole) => formRequest(body, { 'Content-Type': type })

const types: Table = [
  ['none', customerRequest('POST', '/upload', {}, whole), 400],
  ['empty', typed(''), 400],
  ['text/plain', typed('text/plain'), 400],
  ['application/x-www-form-urlencoded', typed('application/x-www-form-urlencoded', 'file=a'), 400],
  ['application/json', typed('application/json', '{"file":"a"}'), 400],
  ['multipart/mixed', typed(`multipart/mixed; boundary=${boundary}`), 400],
  ['multipart/form-data-2', typed(`multipart/form-data-2; boundary=${boundary}`), 400],
  ['multipart', typed(`multipart; boundary=${boundary}`), 400],
  ['no boundary', typed('multipart/form-data'), 400],
  ['another parameter only', typed('multipart/form-data; charset=utf-8'), 400],
  ['an empty boundary', typed('multipart/form-data; boundary='), 400],
  ['an empty boundary in quotes', typed('multipart/form-data; boundary=""'), 400],
  ['a boundary of 71 characters', typed(`multipart/form-data; boundary=${'b'.repeat(71)}`), 400],
  ['a boundary of 8 kB', typed(`multipart/form-data; boundary=${'b'.repeat(8_000)}`), 400],
  ['a quote that is not closed', typed(`multipart/form-data; boundary="${boundary}`), 400],
  ['a broken parameter', typed(`multipart/form-data; =; boundary=${boundary}`), 400],
  ['a parameter without a value', typed(`multipart/form-data; x; boundary=${boundary}`), 400],
  ['a comma instead of the semicolon', typed(`multipart/form-data, boundary=${boundary}`), 400],
  ['another boundary', typed('multipart/form-data; boundary=other'), 400],
  [
    'the boundary in upper case',
    typed(`multipart/form-data; boundary=${boundary.toUpperCase()}`),
    400,
  ],
]

const bodies: Table = [
  ['empty', formRequest(''), 400],
  ['empty, of length 0', formRequest('', { 'Content-Length': 0 }), 400],
  ['one byte', formRequest('x'), 400],
  ['no boundary in it', formRequest('just some bytes'), 400],
  ['a boundary alone', formRequest(`--${boundary}`), 400],
  ['an opening boundary alone', formRequest(`--${boundary}\r\n`), 400],
  ['a closing boundary alone', formRequest(`--${boundary}--\r\n`), 400],
  ['a boundary without its dashes', formRequest(whole.replaceAll('--boundary', 'boundary')), 400],
  ['a closing boundary with one dash', formRequest(whole.replace(/--\r\n$/, '-\r\n')), 400],
  ['a closing boundary without dashes', formRequest(whole.replace(/--\r\n$/, '\r\n')), 400],
  ['a longer closing boundary', formRequest(whole.replace(/--\r\n$/, 'x--\r\n')), 400],
  ['LF for CRLF', formRequest(whole.replaceAll('\r\n', '\n')), 400],
  ['CR for CRLF', formRequest(whole.replaceAll('\r\n', '\r')), 400],
  [
    'no CRLF before the closing boundary',
    formRequest(whole.replace('content\r\n', 'content')),
    400,
  ],
  [
    'a part without a blank line behind its headers',
    formRequest(`--${boundary}\r\n${disposition}\r\n\r\n${form(textPart('note', 'text'))}`),
    400,
  ],
  [
    'a file behind the closing boundary',
    formRequest(`--${boundary}--\r\n${textPart('lost', '')}${file}--${boundary}--\r\n`),
    400,
  ],
  [
    'a file without an end behind the closing boundary',
    formRequest(`--${boundary}--\r\n${textPart('lost', '')}${file}`),
    400,
  ],
  ['NUL for the boundary', formRequest(whole.replaceAll(boundary, '\0'.repeat(20))), 400],
]

const partHeaders: Table = [
  ['no headers', form(part('')), 400],
  ['no disposition', form(part('Content-Type: text/plain')), 400],
  ['an empty disposition', form(part('Content-Disposition:')), 400],
  ['an attachment', form(part('Content-Disposition: attachment; filename="a"')), 400],
  ['no name', form(part('Content-Disposition: form-data; filename="a"')), 400],
  ['an empty name', form(part('Content-Disposition: form-data; name=""; filename="a"')), 400],
  ['another name', form(part('Content-Disposition: form-data; name="File"; filename="a"')), 400],
  ['no file name', form(part('Content-Disposition: form-data; name="file"')), 400],
  ['an empty file name', form(filePart('')), 400],
  ['a disposition without semicolons', form(part(disposition.replaceAll(';', ''))), 400],
  ['a quote that is not closed', form(part(disposition.slice(0, -1))), 400],
  ['a line without a colon', form(part(`nonsense\r\n${disposition}`)), 400],
  ['a space before the colon', form(part(disposition.replace(':', ' :'))), 400],
  ['a NUL in a header', form(part(`X-Test: \0\r\n${disposition}`)), 400],
  ['headers of 100 kB', form(part(`X-Test: ${'x'.repeat(100_000)}\r\n${disposition}`)), 400],
  ['three thousand headers', form(part(`${'a: b\r\n'.repeat(3_000)}${disposition}`)), 400],
  ['a text field without a name', form(part('Content-Disposition: form-data'), file), 400],
  ['a nested form', form(part('Content-Type: multipart/mixed; boundary=inner', '--inner--')), 400],
].map(([title, body, status]) => [String(title), formRequest(String(body)), Number(status)])

const names: Table = [
  ['.', '.'],
  ['..', '..'],
  ['a path that ends with a slash', 'a/b/'],
  ['a path that ends with ..', '/etc/..'],
  ['a slash', '/'],
  ['a NUL', 'a\0b'],
  ['a tab', 'a\tb'],
  ['an escaped line break', 'a%0D%0Ab'],
  ['a DEL', 'a\u007f'],
  ['256 bytes', 'x'.repeat(256)],
  ['bytes that are not UTF-8', '\u00e9\u00ff'],
  ['an overlong slash', '..\u00c0\u00af'],
  ['a surrogate', '\u00ed\u00a0\u0080'],
].map(([title = '', name = '']) => [title, formRequest(form(filePart(name))), 400])

const extended: Table = [
  ["filename*=UTF-8''%00", 400],
  ["filename*=UTF-8''..", 400],
  ["filename*=UTF-8''a%2Fb%2F", 400],
  ["filename*=UTF-8''%FF", 400],
  ["filename*=UTF-8''%E6%96%87%0A", 400],
].map(([parameter, status]) => [
  String(parameter),
  formRequest(form(part(`Content-Disposition: form-data; name="file"; ${parameter}`))),
  Number(status),
])

const digest = 'a'.repeat(64)
const contents: Table = [
  ['two files', form(file, filePart('other.txt')), 400],
  ['three thousand files', form(...Array<string>(3_000).fill(filePart('x'))), 400],
  [
    'three thousand other files',
    form(
      ...Array<string>(3_000).fill(part('Content-Disposition: form-data; name="x"; filename="x"')),
    ),
    413,
  ],
  ['two thousand text fields', form(...Array<string>(2_000).fill(textPart('a', 'b')), file), 413],
  ['text fields behind the file', form(file, ...Array<string>(200).fill(textPart('a', 'b'))), 413],
  ['a text field of 100 kB', form(textPart('a', 'b'.repeat(100_000)), file), 413],
  ['only text fields', form(textPart('a', 'b')), 400],
  ['a text field called file', form(textPart('file', 'content')), 400],
  ['a wrong digest', form(textPart('sha256', digest), file), 400],
  ['a wrong digest behind the file', form(file, textPart('sha256', digest)), 400],
  ['a digest that is none', form(textPart('sha256', 'abc'), file), 400],
  ['an empty digest', form(textPart('sha256', ''), file), 400],
  ['two digests', form(textPart('sha256', digest), textPart('sha256', digest), file), 400],
  ['a list of digests', form(textPart('sha256[]', digest), file), 400],
  ['an object for a digest', form(textPart('sha256[toString]', digest), file), 400],
].map(([title, body, status]) => [String(title), formRequest(String(body)), Number(status)])

/** A form that ends too early although the request does not, cut at every so many bytes. */
const text = form(textPart('note', 'text'), file)
const cuts: Table = Array.from({ length: 24 }, (_, i) => Math.floor((i / 24) * (text.length - 2)))
  .filter((end) => end > 0)
  .map((end) => [`after ${end} bytes`, formRequest(text.slice(0, end)), 400])

const batch = (type: string, body = whole) =>
  customerRequest('POST', '/upload/batch', { 'Content-Type': type }, body)

const batches: Table = [
  [
    'no body',
    customerRequest('POST', '/upload/batch', {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    }),
    400,
  ],
  ['no boundary', batch('multipart/form-data'), 400],
  ['a broken parameter', batch(`multipart/form-data; =; boundary=${boundary}`), 400],
  ['a parameter without a value', batch(`multipart/form-data; x; boundary=${boundary}`), 400],
  ['a quote that is not closed', batch(`multipart/form-data; boundary="${boundary}`), 400],
  ['text/plain', batch('text/plain'), 400],
  ['no file', batch(`multipart/form-data; boundary=${boundary}`, form(textPart('a', 'b'))), 400],
  ['garbage', batch(`multipart/form-data; boundary=${boundary}`, 'garbage'), 400],
  [
    'a flood of text fields',
    batch(
      `multipart/form-data; boundary=${boundary}`,
      form(...Array<string>(200).fill(textPart('a', 'b')), file),
    ),
    413,
  ],
]

export const badForms = [
  ...badRequests('content type', types),
  ...badRequests('form', bodies),
  ...badRequests('part', partHeaders),
  ...badRequests('file name', names),
  ...badRequests('extended file name', extended),
  ...badRequests('form content', contents),
  ...badRequests('form cut off', cuts),
  ...badRequests('batch', batches),
]
