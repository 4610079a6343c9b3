// The range of an export, which the address names.

import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useParam } from '../address.dom.ts'
import { dateText, timeText } from '../ui/format.ts'
import { type ExportRange, exportRange } from './data-coverage.ts'
import { dataRangeHour } from './data-strings.ts'

interface AddressRange {
  readonly from: ReadonlySignal<string>
  readonly to: ReadonlySignal<string>
  readonly hour: ReadonlySignal<string>
  readonly bounds: () => ExportRange
}

export function useExportRange(): AddressRange {
  const day = useParam('day')
  const fromParam = useParam('from')
  const toParam = useParam('to')
  const hour = useParam('hour')
  const from = useComputed(() => fromParam.value || day.value)
  const to = useComputed(() => toParam.value || day.value)
  const bounds = () => exportRange({ from: from.value, to: to.value, hour: hour.value }, Date.now())
  return { from, to, hour, bounds }
}

/** An hour: `20 Nov 2026, 14:00 to 15:00 UTC`. */
export const rangeText = ({ fromMs, toMs }: ExportRange): string =>
  dataRangeHour(dateText(fromMs), timeText(fromMs).slice(11, 16), timeText(toMs + 1).slice(11, 16))
