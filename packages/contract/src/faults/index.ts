export {
  createFaults,
  type Fault,
  type FaultMoment,
  type Faults,
  type FaultStep,
} from './faults.ts'
export { forEveryFault, type EveryFaultOptions } from './for-every-fault.ts'
export { injectFaults } from './inject-faults.ts'
