/** The texts for people that this package uses, and the terms of a webhook, for programs that do not read a customers file. */
export { headerProblem, describeDenial, programName } from './describe-denial.ts'
export { parseReceiver, parseWebhookSecrets, type CustomerWebhook } from './webhook-terms.ts'
