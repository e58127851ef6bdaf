import { expect } from 'chai'
import { parseHelp } from '../parse-help.ts'
import { renderManual } from '../render-manual.ts'

const program = `holdfast <command>

A file storage service.

Commands:
  holdfast serve         Run the server

Options:
  -h, --help     Show help  [boolean]

Examples:
  holdfast serve --data ./data  run the server

Exit codes: 0 if all is done.
`
const serve = `holdfast serve

Run the server

Server:
  --port  Port to listen on; 'auto'  [default: 3000]
  --data  .hidden \\ directory

Options:
  -h, --help  Show help  [boolean]

Examples:
  holdfast serve  here

One paragraph.

Another.
`
const doctor = `holdfast doctor

Find out

Server:
  --port  Port to listen on; 'auto'  [default: 3000]

Options:
  --json  In JSON  [boolean] [default: no]
`

describe('parseHelp', () => {
  it('finds the parts of a help text', () => {
    expect(parseHelp(serve)).to.deep.equal({
      usage: 'holdfast serve',
      description: ['Run the server'],
      sections: [
        {
          heading: 'Server',
          entries: [
            { term: '--port', text: "Port to listen on; 'auto' [default: 3000]" },
            { term: '--data', text: '.hidden \\ directory' },
          ],
        },
        { heading: 'Options', entries: [{ term: '-h, --help', text: 'Show help' }] },
        { heading: 'Examples', entries: [{ term: 'holdfast serve', text: 'here' }] },
      ],
      epilog: ['One paragraph.', 'Another.'],
    })
  })
})

describe('renderManual', () => {
  const text = renderManual({
    version: '1.2.3',
    program: parseHelp(program),
    commands: [
      { group: 'Server', page: parseHelp(serve) },
      { group: 'Server', page: parseHelp(doctor) },
    ],
  })
  const lines = text.split('\n')

  it('begins with what man and apropos want', () => {
    expect(lines.slice(0, 3)).to.deep.equal([
      '.TH HOLDFAST 1 "" "holdfast 1.2.3" "User Commands"',
      '.SH NAME',
      'holdfast \\- file storage service',
    ])
  })

  it('has each command with its options', () => {
    const begin = lines.indexOf('.SS "holdfast serve"')
    expect(lines[begin - 1]).to.equal('.SH "SERVER"')
    expect(lines.slice(begin, begin + 4)).to.deep.equal([
      '.SS "holdfast serve"',
      'Run the server',
      '.PP',
      'Server:',
    ])
    expect(text).to.include('.TP\n\\fB\\-\\-port\\fR\n')
  })

  it('keeps text from being read as a request', () => {
    expect(text).to.include('\n\\&.hidden \\e directory\n')
  })

  it('explains an option of several commands once', () => {
    expect(text.split('Port to listen on')).to.have.length(2)
    expect(text).to.include('Of \\fBholdfast serve\\fR it also takes\n\\fB\\-\\-port\\fR.')
  })

  it('makes a chapter of a paragraph with a heading', () => {
    expect(text).to.include('.SH "EXIT CODES"\n0 if all is done.\n')
  })
})
