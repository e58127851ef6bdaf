import { expect } from 'chai'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { mergeMetrics } from '../../src/metrics/server-metrics.ts'

/** The metrics of a process with a count of `count`. */
function metricsOf(process: string, count: number) {
  const register = new Registry()
  register.setDefaultLabels({ process })
  const registers = [register]
  new Counter({ name: 'seen_total', help: 'Seen.', labelNames: ['what'], registers })
    .labels('a')
    .inc(count)
  new Gauge({ name: 'start', help: 'Start.', aggregator: 'omit', registers }).set(count)
  new Histogram({ name: 'time', help: 'Time.', buckets: [1, 2], registers }).observe(count)
  return register.getMetricsAsJSON()
}

describe('mergeMetrics', () => {
  it('has the metrics of each process apart, under one heading', async () => {
    const all = [await metricsOf('0', 1), await metricsOf('1', 2)]
    const text = await mergeMetrics(JSON.parse(JSON.stringify(all)) as typeof all)
    expect(text.split('\n')).to.deep.equal([
      '# HELP seen_total Seen.',
      '# TYPE seen_total counter',
      'seen_total{what="a",process="0"} 1',
      'seen_total{what="a",process="1"} 2',
      '',
      '# HELP start Start.',
      '# TYPE start gauge',
      'start{process="0"} 1',
      'start{process="1"} 2',
      '',
      '# HELP time Time.',
      '# TYPE time histogram',
      'time_bucket{le="1",process="0"} 1',
      'time_bucket{le="2",process="0"} 1',
      'time_bucket{le="+Inf",process="0"} 1',
      'time_sum{process="0"} 1',
      'time_count{process="0"} 1',
      'time_bucket{le="1",process="1"} 0',
      'time_bucket{le="2",process="1"} 1',
      'time_bucket{le="+Inf",process="1"} 1',
      'time_sum{process="1"} 2',
      'time_count{process="1"} 1',
      '',
    ])
  })
})
