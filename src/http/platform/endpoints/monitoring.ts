// Operator endpoints for the metrics of `/metrics` as JSON, and for alerts and their history.

import * as z from 'zod'
import type { Failure } from '../../../core/failure.ts'
import { err } from '../../../core/result.ts'
import { ALERT_DELIVERIES, ALERT_UNITS, ALERTS, AlertEvent } from '../../../monitor/alerts.ts'
import { metricFamilies } from '../../../monitor/metric-families.ts'
import { HISTORY_STEP_MS, reportedMetric } from '../../../monitor/metric-report.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'

const Quantile = z.number().nullable().optional()
const MetricValue = z.object({
  labels: z.record(z.string(), z.string().describe('Value of a label')).describe('Labels'),
  value: z.number().describe('Value; of durations: the number of requests'),
  p50: Quantile.describe('Upper bound of the median in seconds, of durations; null: above the longest bound'),
  p99: Quantile.describe('Upper bound of the 99th percentile in seconds, of durations; null: above the longest bound'),
})

const Metric = z.object({
  name: z.string().describe('Name as in `/metrics`'),
  type: z.enum(['counter', 'gauge', 'histogram']).describe('Type'),
  help: z.string().describe('Help text'),
  unit: z.enum(['seconds', 'credits', 'blocks', 'rows']).nullable().describe('Unit; null: a number of things'),
  figure: z
    .number()
    .nullable()
    .describe('Sum of a counter, number of durations, highest value of a gauge; null: no value'),
  values: z.array(MetricValue).describe('Values by labels'),
})

const METRIC_EXAMPLE = {
  name: 'weir_requests_total',
  type: 'counter',
  help: 'Requests, by surface and HTTP status; 101 is a socket.',
  unit: null,
  figure: 3,
  values: [{ labels: { surface: 'info', status: '200' }, value: 3 }],
}

const listMetrics = defineEndpoint({
  id: 'listMetrics',
  route: 'GET /admin/metrics',
  summary: 'Show the metrics of `/metrics` as JSON',
  description:
    'Gateway isolates report their counters if `METRICS_TOKEN` is set or Analytics Engine is bound: every 20 s while somebody reads them, otherwise every 5 minutes.',
  responses: okResponse(
    'The metrics',
    z.object({
      at: z.int().describe('Time of the values, Unix milliseconds'),
      counted: z.boolean().describe('Whether gateway isolates report their counters'),
      metrics: z.array(Metric).describe('Metrics in the order of `/metrics`'),
    }),
    { counted: true, metrics: [METRIC_EXAMPLE] },
  ),
  handle: async (_, { monitor, sources, isCounted }) => {
    const [scrape, others] = await Promise.all([monitor().scrape(), sources()])
    const metrics = metricFamilies(scrape, others).map(reportedMetric)
    return reply(200, {
      at: scrape.nowMs,
      counted: isCounted,
      metrics: metrics.map(({ values, ...metric }) => ({ ...metric, values: [...values] })),
    })
  },
})

const metricHistory = defineEndpoint({
  id: 'metricHistory',
  route: 'GET /admin/metrics/history',
  summary: 'Show the figures of the metrics in the last 24 hours',
  description: `One figure every ${HISTORY_STEP_MS / 60_000} minutes. Metrics of sources have none.`,
  responses: okResponse(
    'The history',
    z.object({
      at: z.array(z.int().describe('Unix milliseconds')).describe('Times of the figures, oldest first'),
      figures: z
        .record(z.string(), z.array(z.number().nullable().describe('Figure; null: no value at this time')))
        .describe('Figures of each metric at these times, by its name'),
    }),
    { at: [Date.UTC(2026, 10, 21)], figures: { weir_requests_total: [3] } },
  ),
  handle: async (_, { monitor }) => {
    const points = await monitor().figures()
    const names = [...new Set(points.flatMap(({ figures }) => Object.keys(figures)))]
    const figuresOf = (name: string) => points.map(({ figures }) => figures[name] ?? null)
    return reply(200, {
      at: points.map(({ at }) => at),
      figures: Object.fromEntries(names.map((name) => [name, figuresOf(name)])),
    })
  },
})

const AlertNow = z.object({
  alert: z.enum(ALERTS).describe('Name'),
  since: z.int().nullable().describe('Time when it began, Unix milliseconds; null: it is not active'),
  message: z.string().nullable().describe('The fault of now; null: none'),
  value: z.number().nullable().describe('Value of now; null: not known, or the alert has no number'),
  threshold: z.number().nullable().describe('Value above which a check finds a fault'),
  unit: z.enum(['milliseconds', 'percent']).nullable().describe('Unit of both'),
})

const HistoryEntry = z.object({
  number: z.int().describe('Number'),
  at: z.int().describe('Time, Unix milliseconds'),
  type: AlertEvent.shape.type.describe('Event'),
  alert: AlertEvent.shape.alert,
  started: AlertEvent.shape.started,
  message: AlertEvent.shape.message,
  delivery: z
    .enum(ALERT_DELIVERIES)
    .describe('Delivery of its message; `none`: there was no receiver; `due`: it is retried'),
  attempts: z.int().describe('Attempts to deliver it'),
  answer: z.string().nullable().describe('HTTP status or error of the last attempt'),
})

const HISTORY_EXAMPLE = {
  number: 31,
  type: 'alert.started',
  alert: 'archive_late',
  started: Date.UTC(2026, 10, 21),
  message: 'The archive is 12 minutes behind.',
  delivery: 'delivered',
  attempts: 1,
}

const listAlerts = defineEndpoint({
  id: 'listAlerts',
  route: 'GET /admin/alerts',
  summary: 'Show the state of alerts, and their last 200 events',
  responses: okResponse(
    'The alerts',
    z.object({
      receiver: z.string().nullable().describe('Host of `ALERT_URL`; null: no receiver'),
      signed: z.boolean().describe('Whether `ALERT_SECRET` is set, without which nothing is sent'),
      at: z.int().describe('Time of the values, Unix milliseconds'),
      alerts: z.array(AlertNow).describe('Every alert'),
      history: z.array(HistoryEntry).describe('Events, newest first'),
    }),
    {
      receiver: 'hooks.example.com',
      signed: true,
      alerts: [
        { alert: 'archive_late', since: null, message: null, value: 4_000, threshold: 600_000, unit: 'milliseconds' },
      ],
      history: [HISTORY_EXAMPLE],
    },
  ),
  handle: async (_, { monitor }) => {
    const { receiver, isSigned, nowMs, alerts, history } = await monitor().alerts()
    return reply(200, {
      receiver,
      signed: isSigned,
      at: nowMs,
      alerts: alerts.map(({ alert, sinceMs: since, fault: message, value, threshold }) => {
        return { alert, since, message, value, threshold, unit: ALERT_UNITS[alert] }
      }),
      history: [...history],
    })
  },
})

const NO_RECEIVER: Failure = { kind: 'not_found', what: 'A receiver of alerts', hint: 'Set ALERT_URL and deploy.' }
const NO_SECRET: Failure = { kind: 'not_found', what: 'The secret of alerts', hint: 'Set ALERT_SECRET.' }

const testAlert = defineEndpoint({
  id: 'testAlert',
  route: 'POST /admin/alerts/test',
  summary: 'Send a test message to the receiver of alerts',
  description: 'One attempt, signed like an alert. The history shows it.',
  responses: okResponse(
    'The result',
    z.object({
      delivered: z.boolean().describe('Whether the receiver answered with a 2xx status'),
      answer: z.string().describe('HTTP status or error'),
    }),
    { delivered: true, answer: '204' },
  ),
  refusals: [404],
  handle: async (_, { monitor }) => {
    const result = await monitor().testAlert()
    if (result === 'no_receiver') return err(NO_RECEIVER)
    return result === 'no_secret' ? err(NO_SECRET) : reply(200, result)
  },
})

export const MONITORING = [listMetrics, metricHistory, listAlerts, testAlert]
