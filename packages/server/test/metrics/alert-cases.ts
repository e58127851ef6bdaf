/** When an alert has to fire, and a case near it in which it must not. */
export interface AlertCase {
  /** Series that make it fire, each with a value a minute, in the notation of promtool. */
  readonly fires: Series
  readonly silent: Series
  /** After how many minutes it is looked at. */
  readonly minutes: number
}

type Series = Readonly<Record<string, string>>

const server = 'job="holdfast", instance="a:1"'
const other = 'job="holdfast", instance="a:2"'
const requests = (outcome: string) =>
  `holdfast_http_requests_total{${server}, route="put", outcome="${outcome}"}`
const failures = (code: string) =>
  `holdfast_store_errors_total{${server}, operation="put", code="${code}"}`
const bucket = (operation: string, le: string) =>
  `holdfast_store_operation_duration_seconds_bucket{${server}, operation="${operation}", le="${le}"}`
const inPieces = (event: string) => `holdfast_uploads_in_pieces_total{${server}, event="${event}"}`
const logins = (outcome: string) => `holdfast_logins_total{${server}, outcome="${outcome}"}`
const problems = (code: string) => `holdfast_http_problems_total{${server}, code="${code}"}`
const lines = (level: string) => `holdfast_log_lines_total{${server}, level="${level}"}`
const droppedLines = `holdfast_log_lines_dropped_total{${server}}`
const refusedConnections = `holdfast_http_connections_refused_total{${server}}`
const lag = `nodejs_eventloop_lag_p99_seconds{${server}, process="0"}`
const free = `holdfast_store_free_bytes{${server}}`
const refused = `holdfast_reload_refused{${server}, what="customers"}`
const delay = `holdfast_webhook_delay_seconds{${server}}`
const failedCustomers = `holdfast_webhook_failed_customers{${server}}`
const expiry = `holdfast_certificate_expiry_timestamp_seconds{${server}}`

/** Time begins at 0 for promtool. */
const days = (count: number) => `${count * 86_400}x30`

/** Of each alert of docs/deploy/alerts.yml. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  HoldfastDown: {
    fires: { [`up{${server}}`]: '1 0x9' },
    silent: { [`up{${server}}`]: '1 0 1x8', 'up{job="other", instance="a:1"}': '0x9' },
    minutes: 5,
  },
  HoldfastNotReady: {
    fires: { [`holdfast_ready{${server}}`]: '1 0x9' },
    silent: { [`holdfast_ready{${server}}`]: '1 1 0 1x7' },
    minutes: 5,
  },
  HoldfastRequestsFail: {
    fires: { [requests('ok')]: '0+90x30', [requests('failed')]: '0+10x30' },
    silent: {
      [requests('ok')]: '0+97x30',
      [requests('failed')]: '0+3x30',
      [requests('refused')]: '0+50x30',
      [requests('aborted')]: '0+50x30',
    },
    minutes: 15,
  },
  HoldfastStoreFull: {
    fires: { [failures('insufficient-storage')]: '0 0 1x8' },
    silent: { [failures('insufficient-storage')]: '7x10', [failures('unexpected')]: '0+1x10' },
    minutes: 4,
  },
  HoldfastDiskNearlyFull: {
    // Of 100 GB one is used up each minute.
    fires: { [free]: '100000000000-1000000000x60' },
    silent: { [free]: '100000000000-1000000x60' },
    minutes: 60,
  },
  HoldfastStoreFails: {
    fires: { [failures('unexpected')]: '0 0 1x8' },
    silent: { [failures('unexpected')]: '7x10' },
    minutes: 5,
  },
  HoldfastStoreSlow: {
    fires: {
      [bucket('put', '1')]: '0+90x30',
      [bucket('put', '10')]: '0+100x30',
      [bucket('put', '+Inf')]: '0+100x30',
    },
    silent: {
      [bucket('put', '1')]: '0+100x30',
      [bucket('put', '+Inf')]: '0+100x30',
      // To count all files takes as long as it takes.
      [bucket('usage', '1')]: '0x30',
      [bucket('usage', '+Inf')]: '0+100x30',
    },
    minutes: 20,
  },
  HoldfastUploadsExpire: {
    fires: { [inPieces('expired')]: '0 0 200x8' },
    silent: { [inPieces('expired')]: '0 0 50x8', [inPieces('begun')]: '0 0 200x8' },
    minutes: 8,
  },
  HoldfastReloadRefused: {
    fires: { [refused]: '0 1x9' },
    silent: { [refused]: '0 1 0x8' },
    minutes: 5,
  },
  HoldfastCertificateExpires: {
    fires: { [expiry]: days(13) },
    silent: { [expiry]: days(15) },
    minutes: 1,
  },
  HoldfastLoginsFail: {
    fires: { [logins('refused')]: '0+50x30', [logins('braked')]: '0+50x30' },
    silent: {
      [logins('refused')]: '0+20x30',
      [logins('accepted')]: '0+6000x30',
      [logins('missing')]: '0+6000x30',
    },
    minutes: 15,
  },
  HoldfastOverloaded: {
    fires: { [problems('overloaded')]: '0+60x30' },
    silent: { [problems('overloaded')]: '0 1x30', [problems('not-found')]: '0+60x30' },
    minutes: 15,
  },
  HoldfastEventLoopLags: {
    fires: { [lag]: '0.4x10' },
    silent: { [lag]: '0.01 0.4 0.4 0.4 0.01x6' },
    minutes: 8,
  },
  HoldfastLogsErrors: {
    fires: { [lines('error')]: '0 0 1x8' },
    silent: { [lines('error')]: '5x10', [lines('warn')]: '0+1x10' },
    minutes: 5,
  },
  HoldfastLogLost: {
    fires: { [droppedLines]: '0 0 1x8' },
    silent: { [droppedLines]: '5x10', [lines('warn')]: '0+1x10' },
    minutes: 5,
  },
  HoldfastEventsLate: {
    fires: { [delay]: '0+60x30' },
    silent: { [delay]: '0+60x16 0x14' },
    minutes: 25,
  },
  HoldfastEventsMissing: {
    fires: { [failedCustomers]: '1x9' },
    silent: { [failedCustomers]: '0 0 1x8' },
    minutes: 6,
  },
  HoldfastConnectionsRefused: {
    fires: { [refusedConnections]: '0 0 1x8' },
    silent: { [refusedConnections]: '5x10' },
    minutes: 5,
  },
  HoldfastWorkersDie: {
    fires: { [`holdfast_worker_deaths_total{${server}}`]: '0+1x20' },
    silent: { [`holdfast_worker_deaths_total{${server}}`]: '0x5 1x15' },
    minutes: 15,
  },
  HoldfastWorkerSilent: {
    fires: { [`holdfast_workers_silent{${server}}`]: '1x10' },
    silent: { [`holdfast_workers_silent{${server}}`]: '1 0 1 0 1x6' },
    minutes: 8,
  },
  HoldfastCountsAlone: {
    fires: { [`holdfast_shared_up{${server}}`]: '1 0x9' },
    silent: { [`holdfast_shared_up{${server}}`]: '1 0x3 1 0x3 1' },
    minutes: 8,
  },
  HoldfastServersApart: {
    // The second server does not count together, and has no figures of it.
    fires: {
      [`holdfast_ready{${server}}`]: '1x10',
      [`holdfast_ready{${other}, process="primary"}`]: '1x10',
      [`holdfast_shared_up{${server}}`]: '1x10',
      [`holdfast_shared_servers{${server}}`]: '1x10',
    },
    // One that is killed is counted by the other for a minute.
    silent: {
      [`holdfast_ready{${server}}`]: '1x10',
      [`holdfast_ready{${other}, process="primary"}`]: '1x4 stale',
      [`holdfast_shared_up{${server}}`]: '1x10',
      [`holdfast_shared_up{${other}, process="primary"}`]: '1x4 stale',
      [`holdfast_shared_servers{${server}}`]: '2x5 1x4',
      [`holdfast_shared_servers{${other}, process="primary"}`]: '2x4 stale',
      'holdfast_ready{job="single", instance="b:1"}': '1x10',
    },
    minutes: 8,
  },
}
