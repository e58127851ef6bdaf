/** What a part can say of itself besides what every reader takes for the same. */
export const malformed = 'Malformed multipart body'
export const isEmpty = 'Invalid filename: it is empty'

const utf8 = (text: string) => Buffer.from(text).toString('latin1')

const shapes: readonly (readonly [headers: string, reading: { name: string } | string])[] = [
  // Read, since there is one way to.
  ['form-data; name="file"; filename="q".txt"', { name: 'q".txt' }],
  ['form-data; name="file"; filename="say "hi" twice.txt"', { name: 'say "hi" twice.txt' }],
  ['form-data; name="file"; filename="a.txt";', { name: 'a.txt' }],
  ['form-data; name="file"; filename="a.txt" ; ; ', { name: 'a.txt' }],
  ['form-data; name="file"; filename=a.txt;', { name: 'a.txt' }],
  ['form-data; name=file; filename=a b.txt', { name: 'a b.txt' }],
  ['form-data; name=file; filename=a=b.txt', { name: 'a=b.txt' }],
  [utf8('form-data; name="file"; filename=é.txt'), { name: 'é.txt' }],
  [utf8('form-data; name="file"; filename="é.txt"'), { name: 'é.txt' }],
  ['form-data; name = "file" ;filename\t=\t"sp.txt"', { name: 'sp.txt' }],
  ['form-data;filename="order.txt";name="file"', { name: 'order.txt' }],
  ['Form-Data; Name="file"; FileName="case.txt"', { name: 'case.txt' }],
  ['form-data; name="file"; filename="a.txt"; size=3', { name: 'a.txt' }],
  ['form-data; name="file";\r\n filename="folded.txt"', { name: 'folded.txt' }],
  [String.raw`form-data; name="file"; filename="back\\slash.txt"`, { name: 'back\\slash.txt' }],
  [String.raw`form-data; name="file"; filename="back\slash.txt"`, { name: 'back\\slash.txt' }],
  [String.raw`form-data; name="file"; filename="end\"`, { name: 'end\\' }],
  [`form-data; name="file"; filename="x"; filename*=UTF-8''%C3%A9`, { name: 'é' }],
  [`form-data; name="file"; filename*=utf-8'en'a%2541.txt`, { name: 'a%41.txt' }],
  [`form-data; name="file"; filename*="UTF-8''quoted.txt"`, { name: 'quoted.txt' }],
  [`form-data; name*=UTF-8''file; filename*=ISO-8859-1''%E9`, { name: 'é' }],
  // Apache HttpClient 5, in its mode EXTENDED, and from 5.5 on.
  [`form-data; name="file"; filename="a%20b"`, { name: 'a%20b' }],
  [
    `form-data; name="file"; filename="%C5%82"; filename*="UTF-8''UTF-8%27%27%25C5%2582"`,
    { name: "UTF-8''%C5%82" },
  ],
  // Refused: there are several ways to read them, or none.
  [`form-data; name="file"; filename="x"; filename*=utf-8''%ZZ`, malformed],
  [`form-data; name="file"; filename="x"; filename*=utf-8''a b`, malformed],
  [`form-data; name="file"; filename*=x.txt`, malformed],
  [`form-data; name="file"; filename*=no-charset''x.txt`, malformed],
  [`form-data; name="file"; filename*0="x"; filename*1="y"`, malformed],
  ['form-data; name="file"; filename="open', malformed],
  ['form-data; name="file"; filename="', malformed],
  ['form-data; name="file"; filename=open"', malformed],
  ['form-data; name="file"; filename="a"; b".txt"', malformed],
  ['form-data; name="file"; filename="a.txt" size="3"', malformed],
  ['form-data; name="file"; filename=a.txt size=3', malformed],
  ['form-data; name="file"; filename=a;b.txt', malformed],
  [String.raw`form-data; name="file"; filename="a\b"c".txt"`, malformed],
  ['form-data; name="file"; filename', malformed],
  ['form-data; name="file"; filename="a"; filename="b"', malformed],
  ['form-data; name="file"; name="other"; filename="a"', malformed],
  ['form-data; name="file" filename="a"', malformed],
  ['form-data name="file"; filename="a"', malformed],
  ['form-data, name="file"; filename="a"', malformed],
  ['form-data; filename="a"', malformed],
  ['form-data; name=""; filename="a"', malformed],
  ['form-data; name="file"; filename="a"\r\nContent-Disposition: form-data; name="b"', malformed],
  ['attachment; name="file"; filename="a"', malformed],
  ['attachment; filename="a"', malformed],
  ['', malformed],
  // Read, and no name of a file.
  ['form-data; name="file"; filename=""', isEmpty],
  ['form-data; name="file"; filename=', isEmpty],
  [`form-data; name="file"; filename="x"; filename*=UTF-8''`, isEmpty],
  ['form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream', isEmpty],
]

/** The lines of a part's headers, and what they mean: the name of a file, or why it is refused. */
export const oddParts: readonly (readonly [headers: string, reading: { name: string } | string])[] =
  [
    ...shapes.map(([value, reading]) => [`Content-Disposition: ${value}`, reading] as const),
    ['Content-Type: text/plain', malformed],
  ]
