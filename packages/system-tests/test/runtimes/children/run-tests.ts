/** Runs the test files that the arguments name with Mocha, on whatever runtime runs this; ends with a line of JSON. */
import Mocha from 'mocha'

const mocha = new Mocha({ timeout: 120_000, reporter: 'dot' })
for (const file of process.argv.slice(2)) mocha.addFile(file)
await mocha.loadFilesAsync()
const { stats } = mocha.run((failures) => {
  console.log(JSON.stringify({ passes: stats?.passes, failures }))
  process.exit(failures === 0 ? 0 : 1)
})
