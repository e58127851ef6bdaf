export {
  operationsOf,
  readDescription,
  type Description,
  type Operation,
  type Response,
  createJudge,
  type GivenAnswer,
  type Judge,
} from './judge.ts'
export { watchAnswers, type WatchedAnswers } from './watch-answers.ts'
