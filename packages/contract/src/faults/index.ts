export {
  createFaults,
  type Fault,
  type FaultMoment,
  type Faults,
  type FaultStep,
} from './faults.ts'
export { forEveryFault, type EveryFaultOptions, injectFaults } from './inject-faults.ts'
