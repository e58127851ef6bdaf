import { hashPassword } from '@holdfast/passwords'
import { cheapCost } from '@holdfast/testing'
import { expect } from 'chai'
import { parseCustomers } from '../../src/customers/parse-customers.ts'
import { refusal } from './refusal.ts'

/** Stands for whatever must not show in a message. */
const secret = 'hunter2'

const one = (fields: string) => `customers:\n  - name: alice\n    ${fields}\n`

describe('parseCustomers', () => {
  it('reads names, passwords and quotas in the order of the file', async () => {
    const hash = await hashPassword('x', cheapCost)
    const text = `# ours\ncustomers:\n  - {name: zoë, password: "${hash}", quota: 50GB}\n  - name: "123"\n    password: "456"\n    quota: 0\n    maxFiles: 3\n  - name: c\n    password: ${hash}\n`
    expect(parseCustomers(text, 'customers.yaml').entries).to.deep.equal([
      { name: 'zoë', password: hash, quota: 50_000_000_000 },
      { name: '123', password: '456', quota: 0, maxFiles: 3 },
      { name: 'c', password: hash },
    ])
  })

  const good: Record<string, string> = {
    JSON: '{"customers": [{"name": "a", "password": "b"}]}',
    'JSON indented with tabs':
      '{\n\t"customers": [\n\t\t{ "name": "a", "password": "b" }\n\t]\n}\n',
    'Windows line ends': 'customers:\r\n  - name: a\r\n    password: b\r\n',
    'aliases within measure': 'customers:\n  - name: &x a\n    password: *x\n',
  }
  for (const [what, text] of Object.entries(good)) {
    it(`reads ${what}`, () => {
      const { entries } = parseCustomers(text, 'customers.yaml')
      expect(entries.map(({ name }) => name)).to.deep.equal(['a'])
    })
  }

  const ends: Record<string, number> = {
    '2030-12-31': Date.UTC(2031, 0, 1),
    '2028-02-29': Date.UTC(2028, 2, 1),
    '2030-01-31T12:00Z': Date.UTC(2030, 0, 31, 12),
    '2030-01-31T12:00:30+02:00': Date.UTC(2030, 0, 31, 10, 0, 30),
  }
  for (const [until, endsAtMs] of Object.entries(ends)) {
    it(`reads a login that is good until ${until}`, () => {
      const login = `{ name: ci, password: x, until: ${JSON.stringify(until)} }`
      const text = `customers:\n  - name: a\n    password: x\n    logins: [${login}]\n`
      expect(parseCustomers(text, 'customers.yaml').entries[0]?.logins).to.deep.equal([
        { name: 'ci', password: 'x', endsAtMs },
      ])
    })
  }

  for (const [written, expireAfterMs] of [
    ['30d', 30 * 86_400_000],
    ['1h', 3_600_000],
    ['1.5 d', 1.5 * 86_400_000],
  ] as const) {
    it(`reads files that expire after ${written}`, () => {
      const text = `customers:\n  - { name: a, password: x, expireAfter: ${written}, logins: [{ name: b, password: y }] }\n`
      const [entry] = parseCustomers(text, 'customers.yaml').entries
      expect(entry?.expireAfterMs).to.equal(expireAfterMs)
    })
  }

  for (const [written, keepReplacedMs] of [
    ['30d', 30 * 86_400_000],
    ['90m', 5_400_000],
    ['1.5 h', 5_400_000],
    ['off', 0],
  ] as const) {
    it(`reads that what is replaced is kept for ${written}`, () => {
      const text = `customers:\n  - { name: a, password: x, keepReplaced: ${written}, logins: [{ name: b, password: y }] }\n`
      const [entry] = parseCustomers(text, 'customers.yaml').entries
      expect(entry?.keepReplacedMs).to.equal(keepReplacedMs)
      expect(entry).not.to.have.property('keepReplaced')
    })
  }

  const granted: Record<string, readonly string[] | undefined> = {
    full: undefined,
    'read-only': ['list', 'read'],
    'append-only': ['list', 'read', 'create'],
    'drop-box': ['create'],
    '[]': [],
    '[replace, create]': ['create', 'replace'],
    '[list, read, create, replace, delete, link]': undefined,
  }
  for (const [may, expected] of Object.entries(granted)) {
    it(`reads the rights ${may}`, () => {
      const text = `customers:\n  - { name: a, password: x, may: ${may} }\n`
      expect(parseCustomers(text, 'customers.yaml').entries[0]?.may).to.deep.equal(expected)
    })
  }

  it('takes an empty list for no customers', () => {
    expect(parseCustomers('customers: []', 'customers.yaml').entries).to.deep.equal([])
  })

  // What is wrong, the file, and the beginning of the message; each goes on with a remedy.
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['an empty file', '', /^customers\.yaml: is empty; add .* "holdfast customers add NAME"/],
    ['nothing but comments', '# later\n', /^customers\.yaml: is empty; add/],
    [
      'a list at the top',
      '- name: a\n',
      /^customers\.yaml:1: is a list where "customers:" was expected/,
    ],
    ['a bare word', secret, /^customers\.yaml:1: is a text where "customers:" was expected/],
    ['no customers field', 'a: 1\n', /:1: has no field "customers"; write/],
    [
      'customers without a value',
      'customers:\n',
      /:1: customers: is empty where a list .* \[\] for none/,
    ],
    ['customers as a mapping', 'customers:\n  a: b\n', /:2: customers: is a mapping where a list/],
    [
      'a customer as a word',
      `customers:\n  - ${secret}\n`,
      /:2: customers\[0\]: is a text where a customer/,
    ],
    [
      'a number as a name',
      'customers:\n  - name: 12\n    password: b\n',
      /:2: customers\[0\]\.name: is a number, not text; put it in quotes/,
    ],
    [
      'an empty name field',
      'customers:\n  - name:\n    password: b\n',
      /:2: customers\[0\]\.name: is empty; give it/,
    ],
    [
      'the name null',
      'customers:\n  - name: null\n    password: b\n',
      /:2: customers\[0\]\.name: is empty; .* in quotes/,
    ],
    [
      'the name true',
      'customers:\n  - name: true\n    password: b\n',
      /name: is true or false, not text; put it in quotes/,
    ],
    [
      'an impossible name',
      'customers:\n  - name: a/b\n    password: b\n',
      /:2: customers\[0\]\.name: .*it contains a slash; choose another/,
    ],
    [
      'an empty text as a name',
      'customers:\n  - name: ""\n    password: b\n',
      /name: .*it is empty; choose another/,
    ],
    ['no name', 'customers:\n  - password: b\n', /:2: customers\[0\]: has no name; add/],
    [
      'a number as a password',
      one('password: 123456'),
      /:3: customers\[0\]\.password: is a number, not text; put it in quotes$/,
    ],
    [
      'a hexadecimal password',
      one('password: 0xBEEF'),
      /password: is a number, not text; put it in quotes$/,
    ],
    [
      'no password',
      'customers:\n  - name: a\n',
      /:2: customers\[0\]: has no password; remove .* "holdfast customers add NAME"/,
    ],
    ['an empty password', one('password: ""'), /:3: customers\[0\]\.password: is empty; remove/],
    [
      'a broken hash',
      one('password: $scrypt$ln=15$hunter2'),
      /:3: .*password: is not of the form \$scrypt\$.*; remove/,
    ],
    [
      'a hash of gigabytes',
      one(`password: $scrypt$ln=24,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$${secret}`),
      /password: asks for an unacceptable cost: it takes more than 256 MiB/,
    ],
    [
      'a bcrypt hash',
      one('password: $2b$12$hunter2'),
      /password: is a hash of a kind that is not known here; remove/,
    ],
    [
      'the inner form of plain text',
      one('password: $holdfast-plain$hunter2'),
      /password: is a hash of a kind/,
    ],
    ['a password of lines', one('password: "hunter2\\n"'), /:3: .*password: has a line break/],
    ['a password that HTTP cuts', one('password: "x "'), /:3: .*password: begins or ends with/],
    [
      'a misspelt field',
      one('pasword: hunter2'),
      /:3: customers\[0\]: has a field that is not known; did you mean "password"\?/,
    ],
    ['a field in another case', one('Quota: 1'), /:3: .*not known; did you mean "quota"\?/],
    [
      'a strange field',
      one('colour: red'),
      /:3: .*a field that is not known; known: name, password, quota/,
    ],
    [
      'a strange field at the top',
      'customers: []\nversion: 1\n',
      /:2: has a field that is not known; known: customers/,
    ],
    ['a misspelt top', 'custmers: []\n', /:1: .*not known; did you mean "customers"\?/],
    [
      'a password without its field',
      'customers:\n  - {name: a, hunter2}\n',
      /has a field that is not known; known/,
    ],
    [
      'a password that is almost "password", without its field',
      'customers:\n  - {name: a, passw0rd}\n',
      /:2: customers\[0\]: has a field that is not known; did you mean "password"\?$/m,
    ],
    [
      'a password with a colon in it, without its field',
      one('hunter2: hunter3'),
      /:3: .*has a field that is not known; known/,
    ],
    [
      'a password as a field at the top',
      'hunter2: []\n',
      /:1: has a field that is not known; known/,
    ],
    ['__proto__ as a field', one('__proto__: {a: 1}'), /:3: .*a field that is not known/],
    [
      'a negative quota',
      one('password: x\n    quota: -1'),
      /:4: customers\[0\]\.quota: is negative; leave/,
    ],
    [
      'half a byte of quota',
      one('password: x\n    quota: 1.5'),
      /quota: is a number; write whole bytes/,
    ],
    [
      'a text for a number of files',
      one("password: x\n    maxFiles: '5'"),
      /:4: .*\.maxFiles: is a text; write/,
    ],
    ['half a file', one('password: x\n    maxFiles: 1.5'), /maxFiles: is a number; write a whole/],
    ['a negative number of files', one('password: x\n    maxFiles: -1'), /maxFiles: is negative/],
    ['an endless quota', one('password: x\n    quota: .inf'), /quota: is /],
    [
      'a quota beyond counting',
      one('password: x\n    quota: 99999999999999999999'),
      /quota: is a larger size/,
    ],
    [
      'a quota without a unit',
      one('password: x\n    quota: 10M'),
      /:4: customers\[0\]\.quota: is not a size; write bytes/,
    ],
    [
      'a quota as a list',
      one('password: x\n    quota: [1]'),
      /quota: is a list; write whole bytes/,
    ],
    [
      'two customers of one name',
      'customers:\n  - {name: a, password: x}\n  - {name: b, password: x}\n  - {name: a, password: y}\n',
      /:4: customers\[2\]\.name: customer "a" is there already, on line 2; remove one/,
    ],
    [
      'an expiry without a unit',
      one('password: x\n    expireAfter: "30"'),
      /expireAfter: is not a time between 1h and 36500d; write it as in 30d/,
    ],
    [
      'an expiry of minutes',
      one('password: x\n    expireAfter: 59m'),
      /expireAfter: is not a time between/,
    ],
    [
      'an expiry that is no text',
      one('password: x\n    expireAfter: 30'),
      /expireAfter: is a number, not text; put it in quotes/,
    ],
    [
      'a time to keep that is too short',
      one('password: x\n    keepReplaced: 59s'),
      /keepReplaced: is not a time between 1m and 36500d; write it as in 30d or 12h, or off/,
    ],
    [
      'a time to keep that is no text',
      one('password: x\n    keepReplaced: 30'),
      /keepReplaced: is a number, not text; put it in quotes/,
    ],
    [
      'two logins of one name',
      one('password: x\n    logins: [{name: a, password: x}, {name: a, password: y}]'),
      /:4: customers\[0\]\.logins\[1\]\.name: login "a" is there already, on line 4; remove one/,
    ],
    [
      'a slash in the name of a login',
      one('password: x\n    logins: [{name: a/b, password: x}]'),
      /logins\[0\]\.name: cannot be a login's name: it contains a slash; choose another/,
    ],
    [
      'a login without a password',
      one('password: x\n    logins: [{name: a}]'),
      /logins\[0\]: has no password; remove this login .* customers add NAME --login LOGIN"/,
    ],
    [
      'a login with a field of customers',
      one('password: x\n    logins: [{name: a, password: hunter2, quota: 5}]'),
      /logins\[0\]: has a field that is not known; known: name, password, may, until/,
    ],
    ['logins as a word', one('password: x\n    logins: hunter2'), /logins: is a text where a list/],
    [
      'a login as a word',
      one('password: x\n    logins: [hunter2]'),
      /logins\[0\]: is a text where a login was expected/,
    ],
    [
      'an unknown set of rights',
      one('password: x\n    may: read-olny'),
      /may: names no set of rights; did you mean read-only\?/,
    ],
    [
      'an unknown right',
      one('password: x\n    may: [list, write]'),
      /may: has "write", which is no right; known: list, read/,
    ],
    [
      'rights that are no words',
      one('password: x\n    may: [5]'),
      /may\[0\]: is a number, not a right/,
    ],
    [
      'rights as a number',
      one('password: x\n    may: 5'),
      /may: is a number; write a word such as/,
    ],
    [
      'replacing without creating',
      one('password: x\n    may: [replace]'),
      /may: has "replace" without "create"; add create/,
    ],
    [
      'an end that is no day',
      one('password: x\n    logins: [{name: a, password: x, until: 2030-02-30}]'),
      /logins\[0\]\.until: is not a date; write one as in 2027-01-31/,
    ],
    [
      'an end as a number',
      one('password: x\n    logins: [{name: a, password: x, until: 20300201}]'),
      /until: is a number, not a date; write one as in 2027-01-31/,
    ],
    [
      'an end that is empty',
      one('password: x\n    logins: [{name: a, password: x, until: }]'),
      /until: is empty, not a date; write one as in 2027-01-31, .*or leave the field out for no end/,
    ],
    [
      'rights that are a list again',
      one('password: x\n    may: [[list]]'),
      /may\[0\]: is a list, not a right; known: list, read/,
    ],
    [
      'an end of the customer itself',
      one('password: x\n    until: 2030-02-01'),
      /customers\[0\]: has a field that is not known/,
    ],
    ['a field twice', one('name: b\n    password: x'), /:3: the field occurs twice .*; keep one/],
    [
      'an open quote',
      'customers:\n  - name: "a\n    password: hunter2\n',
      /closing quote.* is missing/,
    ],
    ['a tab', 'customers:\n\t- name: a\n', /:2: the line is indented with a tab; use spaces/],
    ['an indentation that does not fit', 'customers:\n  - name: a\n   password: hunter2\n', /:3: /],
    [
      'two colons',
      one('password: a: hunter2'),
      /:3: there is a second ": " on the line; put the value in quotes/,
    ],
    [
      'an unknown alias',
      one('password: *hunter2'),
      /:3: a value that begins with "\*".*; put the value in quotes/,
    ],
    [
      'an unknown tag',
      one('password: !hunter2 x'),
      /:3: a value that begins with "!".*; put the value in quotes/,
    ],
    ['binary data', one('password: !!binary aHVudGVyMg=='), /:3: /],
    ['an unknown escape', one('password: "hunter\\q2"'), /:3: a backslash in double quotes/],
    [
      'a reserved character',
      one('password: @hunter2'),
      /:3: a value cannot begin with this character; put it in quotes/,
    ],
    ['an unknown directive', `%${secret}\n---\ncustomers: []\n`, /:1: a line that begins with "%"/],
    [
      'two documents',
      'customers: []\n---\ncustomers: []\n',
      /:2: a second document begins here; remove/,
    ],
    [
      'fields that are named by fields, without end',
      `customers:\n${'? '.repeat(400)}`,
      /a field name has to be text/,
    ],
    ['nesting without end', `customers: ${'['.repeat(50_000)}`, /nested too deeply/],
    ['broken JSON', '{"customers": [{"name": "a", "password": "hunter2"}', /:1: /],
  ]
  for (const [what, text, message] of refused) {
    it(`refuses ${what}: says where and what to do, without the secret`, () => {
      const { message: found } = refusal(text)
      expect(found).to.match(message)
      expect(found).to.not.include(secret)
    })
  }

  it('refuses aliases that expand to millions, at once', () => {
    const level = (n: number) =>
      `l${n}: &l${n} [${Array(10)
        .fill(`*l${n - 1}`)
        .join(', ')}]\n`
    const bomb = `l0: &l0 x\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(level).join('')}customers: *l9\n`
    expect(refusal(bomb).message).to.include('expand to too much; write the values out')
  })
})
