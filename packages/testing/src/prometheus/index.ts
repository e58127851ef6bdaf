export { dashboardPanels, printReadings, readDashboard, type Reading } from './read-dashboard.ts'
export {
  promtool,
  scrapeSeconds,
  startPrometheus,
  type RunningPrometheus,
} from './start-prometheus.ts'
