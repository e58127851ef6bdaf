export { holdfastProgram, packagedProgram } from './holdfast-program.ts'
