/** What the customers file has people told, for programs that do not read it. */
export { headerProblem, describeDenial, programName } from './describe-denial.ts'
