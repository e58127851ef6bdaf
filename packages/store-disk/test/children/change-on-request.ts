// For each line on standard input moves a file of that name into the directory argv[2], as a put does, or removes it if the
// name comes after a minus sign; then prints the line.
import { renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [, , directory = ''] = process.argv

console.log('ready')
for await (const line of createInterface(process.stdin)) {
  if (line.startsWith('-')) unlinkSync(join(directory, line.slice(1)))
  else {
    writeFileSync(`${directory}.child`, '')
    renameSync(`${directory}.child`, join(directory, line))
  }
  console.log(line)
}
