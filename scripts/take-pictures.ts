/**
 * Takes the pictures of the page, and the recording of a terminal, anew, into docs/pictures or the folder that is named. With `--states` and
 * a folder it takes pictures of every state of the page there instead, in three windows, light and dark, and sheets of them, and of
 * terminals of all kinds, to be looked at after a change; with names of states or terminals after the folder, of these only. Needs
 * Chromium, script(1) of util-linux, and the build.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { recordTerminals, terminalNames } from './pictures/record-terminals.ts'
import { recordTerminal } from './pictures/record-terminal.ts'
import { takePictures } from './pictures/take-pictures.ts'
import { stateNames, takeStates } from './pictures/take-states.ts'

const { values, positionals } = parseArgs({
  options: { states: { type: 'string' } },
  allowPositionals: true,
})

if (values.states === undefined) {
  const [folder = join(import.meta.dirname, '../docs/pictures')] = positionals
  for (const path of await takePictures(resolve(folder))) console.log(path)
  console.log(await recordTerminal(resolve(folder)))
} else {
  const known = [...stateNames, ...terminalNames]
  const problems = positionals
    .filter((name) => !known.includes(name))
    .map((name) => `There is no "${name}"; there are ${known.join(', ')}`)
  const chosen = (names: readonly string[]) =>
    positionals.length === 0 ? names : names.filter((name) => positionals.includes(name))
  const folder = resolve(values.states)
  const report = (problem: string) => void problems.push(problem)
  const [states, terminals] = [chosen(stateNames), chosen(terminalNames)]
  const paths = [
    ...(states.length > 0 ? await takeStates(folder, report, states) : []),
    ...(terminals.length > 0 ? await recordTerminals(folder, terminals) : []),
  ]
  for (const path of paths) console.log(path)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
