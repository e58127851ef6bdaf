import { expect } from 'chai'
import { readSimpleForm } from '../../src/uploads/form.ts'

const head = 'Content-Disposition: form-data; name="file"; filename="a.txt"'
const simple = (lines = head, content = 'content', end = '--') =>
  `--B\r\n${lines}\r\n\r\n${content}\r\n--B${end}`

function read(form: string) {
  const found = readSimpleForm(Buffer.from(form, 'latin1'), 'B')
  return found && [found.filename, found.content.toString('latin1')]
}

describe('readSimpleForm', () => {
  for (const [title, form, content] of [
    ['a file alone', simple(), 'content'],
    ['a type', simple(`${head}\r\nContent-Type: image/svg+xml`), 'content'],
    ['headers in lower case', simple(head.replace('Content-D', 'content-d')), 'content'],
    ['a line break behind the end', simple(head, 'content', '--\r\n'), 'content'],
    ['an empty file', simple(head, ''), ''],
    ['content that is nearly a boundary', simple(head, '\r\n--\r\n-B--B'), '\r\n--\r\n-B--B'],
    ['content that begins with line breaks', simple(head, '\r\n\r\n'), '\r\n\r\n'],
    ['bytes of all kinds', simple(head, '\0\xff\x80'), '\0\xff\x80'],
  ] as const) {
    it(`takes ${title}`, () => {
      expect(read(form)).to.deep.equal(['a.txt', content])
    })
  }

  for (const [title, form] of [
    ['nothing', ''],
    ['no end', simple().slice(0, -2)],
    ['half an end', simple().slice(0, -1)],
    ['no boundary behind the content', simple().slice(0, -5)],
    ['anything behind the end', `${simple()}x`],
    ['an epilogue', `${simple()}\r\nx`],
    ['two line breaks behind the end', `${simple()}\r\n\r\n`],
    ['a preamble', `x\r\n${simple()}`],
    ['a line break before', `\r\n${simple()}`],
    ['another boundary', simple().replaceAll('--B', '--C')],
    ['a longer boundary', simple().replaceAll('--B', '--BB')],
    ['a second part', simple() + simple()],
    ['a boundary in the content', simple(head, 'x\r\n--Bx')],
    ['a boundary where the content begins', simple(head, '--B').replace('\r\n--B--', '--B--')],
    ['content without a line break before its boundary', `--B\r\n${head}\r\n\r\n--B--`],
    ['another name', simple(head.replace('"file"', '"File"'))],
    ['another field', simple(head.replace('"file"', '"sha256"'))],
    ['no file name', simple('Content-Disposition: form-data; name="file"')],
    ['an empty file name', simple(head.replace('a.txt', ''))],
    ['a path', simple(head.replace('a.txt', 'a/b'))],
    ['a space in the name', simple(head.replace('a.txt', 'a b'))],
    ['an escape in the name', simple(head.replace('a.txt', '%22'))],
    ['bytes beyond ASCII in the name', simple(head.replace('a.txt', '\xc3\xa9'))],
    ['a second form of the name', simple(`${head}; filename*=UTF-8''b`)],
    ['parameters in another order', simple(head.replace(/(name=.*); (.*)/, '$2; $1'))],
    ['a type with a parameter', simple(`${head}\r\nContent-Type: text/plain; charset=utf-8`)],
    ['a further header', simple(`${head}\r\nX-Note: yes`)],
    ['a folded header', simple(`${head}\r\n x`)],
    ['a header that is too long to look at', simple(head.replace('a.txt', 'a'.repeat(512)))],
    ['line feeds alone', simple().replaceAll('\r\n', '\n')],
  ] as const) {
    it(`leaves ${title} to the parser`, () => {
      expect(read(form)).to.equal(undefined)
    })
  }
})
