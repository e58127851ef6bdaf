import type { HelpEntry, HelpPage, HelpSection } from './parse-help.ts'
import { bold, roff } from './roff.ts'

/** What the manual page is made from: the help of the program, and of each command. */
export interface Manual {
  readonly version: string
  readonly program: HelpPage
  readonly commands: readonly CommandHelp[]
}

/** A command, below the heading that the program's help has for it. */
export interface CommandHelp {
  /** Such as `Server`. */
  readonly group: string
  readonly page: HelpPage
}

/** The manual page in roff, section 1, with the macros of `man`. The same input gives the same text. */
export function renderManual({ version, program, commands }: Manual): string {
  const [, about = ''] = [program.usage, ...program.description]
  const groups = [...new Set(commands.map(({ group }) => group))]
  const firstOf = (group: string) => commands.find((command) => command.group === group)?.page
  return [
    `.TH HOLDFAST 1 "" "holdfast ${version}" "User Commands"`,
    '.SH NAME',
    `holdfast \\- ${roff(about.replace(/^An? /, '').replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    ...usageLines('holdfast <command> [option ...]'),
    '.SH DESCRIPTION',
    roff(about),
    ...groups.flatMap((group) => [
      `.SH "${group.toUpperCase()}"`,
      ...commands
        .filter((command) => command.group === group)
        .flatMap(({ page }) =>
          commandLines(page, page === firstOf(group) ? undefined : firstOf(group)),
        ),
    ]),
    '.SH OPTIONS',
    ...program.sections.filter(({ heading }) => heading === 'Options').flatMap(sectionLines),
    '.SH EXAMPLES',
    ...program.sections.filter(isExamples).flatMap(exampleLines).slice(1),
    ...program.epilog.flatMap(chapterLines),
    '',
  ].join('\n')
}

/** `common` is the first command of the group, whose options are not explained again. */
function commandLines(page: HelpPage, common: HelpPage | undefined): readonly string[] {
  const known = new Set(common?.sections.flatMap(({ entries }) => entries).map(keyOf))
  const isRepeated = (entry: HelpEntry) => known.has(keyOf(entry))
  const options = page.sections
    .filter((section) => !isExamples(section))
    .map(({ heading, entries }) => ({ heading, entries: entries.filter(isOwn) }))
  const repeated = options.flatMap(({ entries }) => entries.filter(isRepeated))
  return [
    `.SS "${roff(page.usage.split('\n')[0] ?? '')}"`,
    ...paragraphs(page.description).slice(1),
    ...options
      .map(({ heading, entries }) => ({
        heading,
        entries: entries.filter((entry) => !isRepeated(entry)),
      }))
      .filter(({ entries }) => entries.length > 0)
      .flatMap(sectionLines),
    ...(repeated.length > 0
      ? [
          '.PP',
          `Of ${bold((common?.usage ?? '').split('\n')[0] ?? '')} it also takes`,
          `${repeated.map(({ term }) => bold(term)).join(', ')}.`,
        ]
      : []),
    ...paragraphs(page.epilog),
    ...page.sections.filter(isExamples).flatMap(exampleLines),
  ]
}

const keyOf = ({ term, text }: HelpEntry) => `${term}  ${text}`

const isExamples = ({ heading }: HelpSection) => heading === 'Examples'

/** Every command has these; they are explained once. */
function isOwn({ term }: HelpEntry): boolean {
  return !/--(help|version)$/.test(term)
}

function sectionLines({ heading, entries }: HelpSection): readonly string[] {
  const hasHeading = !['Options', 'Arguments', 'Commands'].includes(heading)
  return [
    ...(hasHeading ? ['.PP', `${roff(heading)}:`] : []),
    ...entries.flatMap(({ term, text }) => ['.TP', bold(term), roff(text)]),
  ]
}

function exampleLines({ entries }: HelpSection): readonly string[] {
  return entries.flatMap(({ term, text }) => [
    '.PP',
    ...(text === '' ? [] : [`${roff(text)}:`]),
    '.RS',
    '.EX',
    roff(term),
    '.EE',
    '.RE',
  ])
}

function usageLines(usage: string): readonly string[] {
  const [program = '', ...rest] = usage.split(' ')
  return [bold(program), roff(rest.join(' '))]
}

function paragraphs(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => ['.PP', ...text.split('\n').map((line) => roff(line))])
}

/** A paragraph that begins with a heading of its own, such as `Exit codes: 0 …`, becomes a chapter. */
function chapterLines(text: string): readonly string[] {
  const [, heading, rest = ''] = /^([A-Z][a-z ]+):\s+([^]*)$/.exec(text) ?? []
  return heading === undefined
    ? paragraphs([text])
    : [`.SH "${heading.toUpperCase()}"`, ...paragraphs([rest]).slice(1)]
}
