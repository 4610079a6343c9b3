// Calls, errors and latency of the last day, by hour, from the request log.

import { pageUrl } from '../address.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { seriesColor } from '../ui/bars.tsx'
import { Chart, type ChartPoint, HEIGHT, Swatch, WIDTH } from '../ui/chart.tsx'
import { axisSteps } from '../ui/chart-scale.ts'
import { compactText, groupedText, hourText, timeText } from '../ui/format.ts'
import { QueryView, Reserved } from '../ui/parts.tsx'
import { stackedBars, sumOf } from '../ui/stacked-bars.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { useAccountQuery } from './account-data.dom.ts'
import { latencyPath, middleOf } from './last-day.ts'
import { DAY } from './last-day-strings.ts'

type Day = Responses['ownLogHours']
type Hour = Day['hours'][number]

const LAST_DAY_HEIGHT = 320
const OUTCOMES = ['ok', 'refused', 'failed'] as const
const QUANTILES = ['p50_ms', 'p99_ms'] as const
const QUANTILE_NAMES = { p50_ms: DAY.p50, p99_ms: DAY.p99 } as const
/** The second and the fifth color: those of a warning and of an error. */
const OUTCOME_COLORS = { ok: seriesColor(0), refused: seriesColor(1), failed: seriesColor(4) } as const
const QUANTILE_COLORS = { p50_ms: seriesColor(0), p99_ms: seriesColor(2) } as const

export function LastDay() {
  const day = useAccountQuery<Day>(() => '/platform/logs/hours')
  return (
    <section class="card">
      <div class="title">
        <h2>{DAY.title}</h2>
        <Link to={pageUrl('logs')}>{DAY.logs}</Link>
      </div>
      {day.value.value === null && day.error.value === null ? (
        <Reserved height={LAST_DAY_HEIGHT} isLoading />
      ) : (
        <QueryView query={day}>{(value) => <Hours day={value} />}</QueryView>
      )}
    </section>
  )
}

const numberText = (count: number) => groupedText(String(count))
const total = (hours: readonly Hour[], name: 'ok' | 'refused' | 'failed' | 'left_out') =>
  hours.reduce((sum, hour) => sum + hour[name], 0)

function Hours({ day: { hours, latency, since, kept_hours: keptHours } }: { readonly day: Day }) {
  const [ok, refused, failed] = OUTCOMES.map((name) => total(hours, name))
  const leftOut = total(hours, 'left_out')
  const first = hours[0]
  if (keptHours === 0) return <p class="soft">{DAY.off}</p>
  if (first === undefined || !(ok || refused || failed || leftOut)) return <p class="soft">{DAY.none}</p>
  return (
    <>
      <p>
        {DAY.totals(numberText(ok ?? 0), numberText(refused ?? 0), numberText(failed ?? 0))}
        {latency && DAY.latency(numberText(latency.p50_ms), numberText(latency.p99_ms))}
        {leftOut > 0 && DAY.sampled(numberText(leftOut))}
        {since > first.at && DAY.since(timeText(since))}
      </p>
      <div class="cards">
        <div>
          <h3>{DAY.calls}</h3>
          <CallsChart hours={hours} from={hourText(first.at)} />
        </div>
        <div>
          <h3>{DAY.durations}</h3>
          <LatencyChart hours={hours} from={hourText(first.at)} />
        </div>
      </div>
      <details>
        <summary>{DAY.show}</summary>
        <Table caption={DAY.table} columns={COLUMNS} rows={[...hours].reverse()} csv="calls-by-hour" empty="" />
      </details>
    </>
  )
}

interface ChartProps {
  readonly hours: readonly Hour[]
  readonly from: string
}

/** `21:00`, every fourth hour. */
const marksOf = (hours: readonly Hour[]) =>
  hours.flatMap(({ at }, i) =>
    i % 4 === 0 ? [{ at: middleOf(i, hours.length), text: timeText(at).slice(11, 16) }] : [],
  )

const pointsOf = (hours: readonly Hour[], rowsOf: (hour: Hour) => ChartPoint['rows']): ChartPoint[] =>
  hours.map((hour, i) => ({ at: middleOf(i, hours.length), title: hourText(hour.at), rows: rowsOf(hour) }))

function CallsChart({ hours, from }: ChartProps) {
  const columns = hours.map(({ at, ok, refused, failed }) => ({ name: String(at), parts: { ok, refused, failed } }))
  const steps = axisSteps(Math.max(...columns.map((column) => sumOf(column, OUTCOMES))))
  const width = WIDTH / hours.length
  return (
    <Chart
      label={DAY.callsChart(from)}
      steps={steps}
      stepText={compactText}
      marks={marksOf(hours)}
      points={pointsOf(hours, (hour) => [
        ...OUTCOMES.map((name) => ({
          name: DAY.outcomes[name],
          text: numberText(hour[name]),
          color: OUTCOME_COLORS[name],
        })),
        ...(hour.left_out > 0 ? [{ name: DAY.left, text: numberText(hour.left_out) }] : []),
      ])}
      legend={<Legend of={OUTCOMES.map((name) => [DAY.outcomes[name], OUTCOME_COLORS[name]])} />}
    >
      {stackedBars(columns, OUTCOMES, HEIGHT, steps.at(-1)).map(({ column, part, y, height }) => (
        <rect
          key={`${column} ${part}`}
          fill={OUTCOME_COLORS[part as (typeof OUTCOMES)[number]]}
          x={column * width + 2}
          y={y}
          width={width - 4}
          height={height}
        />
      ))}
    </Chart>
  )
}

function LatencyChart({ hours, from }: ChartProps) {
  const steps = axisSteps(Math.max(...hours.map(({ latency }) => latency?.p99_ms ?? 0)))
  const plane = { width: WIDTH, height: HEIGHT, top: steps.at(-1) ?? 1 }
  return (
    <Chart
      label={DAY.latencyChart(from)}
      steps={steps}
      stepText={compactText}
      marks={marksOf(hours)}
      points={pointsOf(hours, ({ latency }) =>
        latency === null
          ? [{ name: DAY.noCalls, text: '' }]
          : QUANTILES.map((name) => ({
              name: QUANTILE_NAMES[name],
              text: DAY.milliseconds(numberText(latency[name])),
              color: QUANTILE_COLORS[name],
            })),
      )}
      legend={<Legend of={QUANTILES.map((name) => [QUANTILE_NAMES[name], QUANTILE_COLORS[name]])} />}
    >
      {QUANTILES.map((name) => (
        <path key={name} class="line" style={{ stroke: QUANTILE_COLORS[name] }} d={latencyPath(hours, name, plane)} />
      ))}
    </Chart>
  )
}

const Legend = ({ of }: { readonly of: readonly (readonly [name: string, color: string])[] }) => (
  <ul class="legend">
    {of.map(([name, color]) => (
      <li key={name}>
        <Swatch color={color} />
        {name}
      </li>
    ))}
  </ul>
)

const COLUMNS: readonly Column<Hour>[] = [
  { name: DAY.hour, text: ({ at }) => timeText(at).slice(0, 16) },
  ...OUTCOMES.map((name) => amountColumn<Hour>(DAY.outcomes[name], (hour) => hour[name])),
  amountColumn(DAY.left, ({ left_out: leftOut }) => leftOut),
  ...QUANTILES.map((name) =>
    amountColumn<Hour>(DAY.milliseconds(QUANTILE_NAMES[name]), ({ latency }) => latency?.[name] ?? ''),
  ),
]
