/** The texts for people that this package uses, for programs that do not read a customers file. */
export { headerProblem, describeDenial, programName } from './describe-denial.ts'
