/** What the customers file has people told, for programs that do not read it. */
export { headerProblem } from './header-problem.ts'
export { describeDenial } from './describe-denial.ts'
export { programName } from './program-name.ts'
