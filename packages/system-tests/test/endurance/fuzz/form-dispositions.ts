import fc from 'fast-check'

/** Writes what a part says of itself, as some client does. */
export type WriteDisposition = (name: string, filename: string) => string

const plain: WriteDisposition = (name, filename) =>
  `form-data; name="${name}"; filename="${filename}"`

const percentEncoded = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')

/** Each a way that is seen, or one that is close to it. */
const others: Readonly<Record<string, WriteDisposition>> = {
  'pairs escaped': (name, filename) => plain(name, filename.replaceAll(/["\\]/g, '\\$&')),
  'quotes in percent': (name, filename) => plain(name, filename.replaceAll('"', '%22')),
  'backslashes escaped, quotes in percent': (name, filename) =>
    plain(name, filename.replaceAll('\\', '\\\\').replaceAll('"', '%22')),
  'semicolon behind': (name, filename) => `${plain(name, filename)};`,
  'spaces around': (name, filename) => `form-data ; name = "${name}" ; filename = "${filename}" `,
  'no quotes': (name, filename) => `form-data; name=${name}; filename=${filename}`,
  'the name behind': (name, filename) => `form-data; filename="${filename}"; name="${name}"`,
  extended: (name, filename) =>
    `form-data; name="${name}"; filename*=UTF-8''${percentEncoded(filename)}`,
  both: (name, filename) =>
    `${plain(name, filename)}; filename*=UTF-8''${percentEncoded(filename)}`,
  'extended, broken': (name, filename) => `${plain(name, filename)}; filename*=UTF-8''%ZZ`,
  'quote open': (name, filename) => plain(name, filename).slice(0, -1),
  'no semicolon': (name, filename) => `form-data; name="${name}" filename="${filename}"`,
  twice: (name, filename) => `${plain(name, filename)}; filename="${filename}"`,
  attachment: (name, filename) => plain(name, filename).replace('form-data', 'attachment'),
  'a second line': (name, filename) =>
    `${plain(name, filename)}\r\nContent-Disposition: ${plain(name, filename)}`,
  'another header': (name, filename) => `x\r\nX-Disposition: ${plain(name, filename)}`,
}

export const dispositions: fc.Arbitrary<WriteDisposition> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(plain) },
  // By name, which is what a finding shows.
  fc.constantFrom(...Object.keys(others)).map((title) => others[title] ?? plain),
)
