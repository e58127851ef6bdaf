// Runs the contract on a server that has to be built or installed first.
import { describeContractOn } from './describe-contract-on.ts'

describeContractOn('rclone')
